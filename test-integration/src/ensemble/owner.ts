import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'

/** By these labels the sweeper finds our containers, and sees whether their owners still run. */
const OWNER_PID = 'zk-test.owner-pid'
/** A process id is unique only on one host, and several hosts (or containers) may share an engine. */
const OWNER_HOST = 'zk-test.owner-host'
/** The ensemble to which a container or network belongs. */
export const ENSEMBLE = 'zk-test.ensemble'

/** The labels of every container and network of an ensemble. */
export function labelsOf(ensembleId: string): Record<string, string> {
  return { [OWNER_PID]: String(process.pid), [OWNER_HOST]: hostname(), [ENSEMBLE]: ensembleId }
}

/** Removes everything with our labels when this process ends, however it ends, and what earlier owners have left. */
export function startSweeper(): void {
  if (started) return
  started = true
  // This path is right both in `src/ensemble` and in `dist/ensemble`.
  const script = fileURLToPath(new URL('../../sweeper.mjs', import.meta.url))
  const args = [script, String(process.pid), OWNER_PID, OWNER_HOST]
  spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref()
}

/** One sweeper serves all ensembles of a process. */
let started = false
