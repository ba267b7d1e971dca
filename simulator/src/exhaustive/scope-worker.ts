// The program of a worker thread: searches the scopes that it is sent.
import { parentPort } from 'node:worker_threads'
import type { ScopeJob, ScopeOutcome, ScopeReport } from './scope-job.ts'
import { type Counts, search } from './search.ts'

/** The time between two reports of progress, in ms. */
const PROGRESS = 500

// Millions of errors are made here whose stack is not needed.
Error.stackTraceLimit = 0

const rejections: string[] = []
process.on('unhandledRejection', (reason) => rejections.push(String(reason)))

/** Node reports unhandled rejections when a macrotask ends. */
async function unhandled(): Promise<readonly string[]> {
  await new Promise((resolve) => setImmediate(resolve))
  return rejections.splice(0)
}

function tell(report: ScopeReport): void {
  parentPort?.postMessage(report)
}

async function run({ scope, limit }: ScopeJob): Promise<ScopeOutcome> {
  const start = performance.now()
  let told = start
  const isOver = (counts: Counts) => {
    const now = performance.now()
    if (now - told > PROGRESS) {
      told = now
      tell({ type: 'progress', counts: { ...counts } })
    }
    return now - start > limit
  }
  const result = await search({ scope, isOver, unhandled })
  return { ...result, scope, elapsed: performance.now() - start }
}

parentPort?.on('message', (job: ScopeJob) => {
  run(job).then(
    (outcome) => tell({ type: 'done', outcome }),
    // Thrown outside of the promise, so that the worker ends with the error.
    (error: unknown) => {
      setImmediate(() => {
        throw error
      })
    },
  )
})
