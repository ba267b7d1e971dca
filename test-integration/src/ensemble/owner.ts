import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'

/** The sweeper finds our containers by these labels, and distinguishes dead owners from living ones. */
const OWNER_PID = 'zk-test.owner-pid'
/** Process ids are unique on one host only, and several hosts (or containers) may share an engine. */
const OWNER_HOST = 'zk-test.owner-host'
/** The ensemble that a container or network is part of. */
export const ENSEMBLE = 'zk-test.ensemble'

/** The labels of every container and network of an ensemble. */
export function labelsOf(ensembleId: string): Record<string, string> {
  return { [OWNER_PID]: String(process.pid), [OWNER_HOST]: hostname(), [ENSEMBLE]: ensembleId }
}

/** However this process ends, everything that it has labelled is removed. Also removes what earlier owners left. */
export function startSweeper(): void {
  if (started) return
  started = true
  // The same path from `src/ensemble` and from `dist/ensemble`.
  const script = fileURLToPath(new URL('../../sweeper.mjs', import.meta.url))
  const args = [script, String(process.pid), OWNER_PID, OWNER_HOST]
  spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref()
}

/** One sweeper serves all ensembles of a process. */
let started = false
