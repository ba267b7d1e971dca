// Searches scopes on several cores, with a thread for each.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { ScopeJob, ScopeOutcome, ScopeReport } from './scope-job.ts'
import type { Scope } from './scope.ts'
import type { Counts } from './search.ts'

export interface ScopesOptions {
  /** The program of the worker threads: `scope-worker.ts`, built or bundled. */
  readonly program: URL
  readonly scopes: readonly Scope[]
  /** The time limit of each search, in ms. @default none */
  readonly limit?: number
  /** @default all cores */
  readonly workers?: number
  readonly onProgress?: (progress: Progress) => void
}

/** The progress of all searches together. */
export interface Progress {
  readonly done: number
  readonly histories: number
  readonly events: number
}

/** Searches every scope, also after one with a failure. The outcomes are in the order of the scopes. */
export async function searchScopes({
  program,
  scopes,
  limit = Infinity,
  workers = availableParallelism(),
  onProgress = () => {},
}: ScopesOptions): Promise<ScopeOutcome[]> {
  const counted: Counts[] = []
  const outcomes: ScopeOutcome[] = []
  const left = scopes.entries()
  const work = async () => {
    const worker = new Worker(program)
    try {
      // All threads take from one iterator.
      for (const [index, scope] of left) {
        const count = (counts: Counts) => {
          counted[index] = counts
          onProgress(progressOf(counted, outcomes))
        }
        outcomes[index] = await ask(worker, { scope, limit }, count)
        count(outcomes[index])
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, scopes.length) }, work))
  return outcomes
}

function progressOf(counted: readonly Counts[], outcomes: readonly ScopeOutcome[]): Progress {
  let histories = 0
  let events = 0
  for (const index of counted.keys()) {
    histories += counted[index]?.histories ?? 0
    events += counted[index]?.events ?? 0
  }
  return { done: Object.keys(outcomes).length, histories, events }
}

function ask(worker: Worker, job: ScopeJob, onProgress: (counts: Counts) => void): Promise<ScopeOutcome> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      worker.off('message', said)
      worker.off('error', failed)
      worker.off('exit', ended)
      act()
    }
    const said = (report: ScopeReport) => {
      if (report.type === 'progress') onProgress(report.counts)
      else settle(() => resolve(report.outcome))
    }
    const failed = (error: Error) => settle(() => reject(error))
    const ended = (code: number) => failed(new Error(`a worker ended with ${code} in ${job.scope.name}`))
    worker.on('message', said)
    worker.on('error', failed)
    worker.on('exit', ended)
    worker.postMessage(job)
  })
}
