// Starts worker processes. They run built code, because Node 20 does not read TypeScript.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { WorkerSettings } from './settings.ts'

export type WorkerProgram = 'candidate' | 'chaos' | 'staller'

export interface Worker {
  readonly name: string
  readonly process: ChildProcess
  /** Resolves with the exit code, or null if a signal ended the process. Its stderr goes to ours. */
  readonly exited: Promise<number | null>
}

export function startWorker(program: WorkerProgram, settings: WorkerSettings): Worker {
  const file = fileURLToPath(new URL(`../../dist/workers/${program}.js`, import.meta.url))
  // Without the conditions of the test runner, which would lead to TypeScript.
  const child = fork(file, [JSON.stringify(settings)], { execArgv: [] })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
  return { name: settings.name, process: child, exited }
}
