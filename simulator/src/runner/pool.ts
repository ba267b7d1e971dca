// Seeds on all cores.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { DrawOptions } from '../scenario/draw.ts'
import type { Failure, Job, JobReport } from './job.ts'

export interface PoolOptions {
  /** The program of the worker threads: `seed-worker.ts`, built or bundled. */
  readonly program: URL
  readonly seeds: { readonly from: number; readonly count: number }
  readonly options: Omit<DrawOptions, 'seed'>
  /** Whether it goes on behind a seed that went wrong. @default false */
  readonly goesOn?: boolean
  /** @default all cores */
  readonly workers?: number
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly histories: number
  readonly events: number
  readonly grants: number
  /** By seed. */
  readonly failures: readonly Failure[]
  /** Since the start, in ms. */
  readonly elapsed: number
}

/** Seeds of one job: enough to make its messages cheap, few enough to stop soon. */
const CHUNK = 40

/** Runs seeds until all are done, or one went wrong: then that of the lowest number among those begun is reported. */
export async function runSeeds({
  program,
  seeds,
  options,
  goesOn = false,
  workers = availableParallelism(),
  onProgress = () => {},
}: PoolOptions): Promise<Progress> {
  const start = performance.now()
  const end = seeds.from + seeds.count
  let next = seeds.from
  let total: Omit<Progress, 'elapsed'> = { histories: 0, events: 0, grants: 0, failures: [] }
  const nextJob = (): Job | undefined => {
    const isOver = next >= end || (total.failures.length > 0 && !goesOn)
    if (isOver) return undefined
    const from = next
    next = Math.min(from + CHUNK, end)
    return { from, count: next - from, options, goesOn }
  }
  const report = (done: JobReport) => {
    const failures = [...total.failures, ...done.failures].sort((one, other) => one.seed - other.seed)
    total = {
      histories: total.histories + done.histories,
      events: total.events + done.events,
      grants: total.grants + done.grants,
      failures,
    }
    onProgress({ ...total, elapsed: performance.now() - start })
  }
  await Promise.all(Array.from({ length: workers }, () => runWorker(program, nextJob, report)))
  return { ...total, elapsed: performance.now() - start }
}

async function runWorker(program: URL, nextJob: () => Job | undefined, report: (done: JobReport) => void): Promise<void> {
  const worker = new Worker(program)
  try {
    for (let job = nextJob(); job !== undefined; job = nextJob()) report(await ask(worker, job))
  } finally {
    await worker.terminate()
  }
}

function ask(worker: Worker, job: Job): Promise<JobReport> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      worker.off('message', answered)
      worker.off('error', failed)
      worker.off('exit', ended)
      act()
    }
    const answered = (report: JobReport) => settle(() => resolve(report))
    const failed = (error: Error) => settle(() => reject(error))
    const ended = (code: number) => failed(new Error(`a worker ended with ${code} at seeds from ${job.from}`))
    worker.on('message', answered)
    worker.on('error', failed)
    worker.on('exit', ended)
    worker.postMessage(job)
  })
}
