// Plays seeds on all cores.
import { availableParallelism } from 'node:os'
import type { DrawOptions } from '../scenario/draw.ts'
import type { Failure, Job, JobReport } from './job.ts'
import { EndlessSeed, SeedWorker } from './worker.ts'

export interface PoolOptions {
  /** The program of the worker threads: `seed-worker.ts`, built or bundled. */
  readonly program: URL
  readonly seeds: { readonly from: number; readonly count: number }
  readonly options: Omit<DrawOptions, 'seed'>
  /** Whether it goes on after a seed that failed. @default false */
  readonly goesOn?: boolean
  /** @default all cores */
  readonly workers?: number
  /** How long one seed may take before it counts as endless, in ms. @default 30,000, a thousand times what one takes */
  readonly longest?: number
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly histories: number
  readonly events: number
  readonly grants: number
  /** The failures, by seed. */
  readonly failures: readonly Failure[]
  /** The time since the start, in ms. */
  readonly elapsed: number
}

/** How many seeds a job has: enough to make its messages cheap, few enough to stop soon. */
const CHUNK = 40

/**
 * Runs seeds until all are done, or one has failed. Then the lowest failed seed of those that were begun is reported. A seed
 * that does not end has failed: its worker is ended, and another one goes on after it. Rejects when a worker fails.
 */
export async function runSeeds({
  program,
  seeds,
  options,
  goesOn = false,
  workers = availableParallelism(),
  longest = 30_000,
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
  const newWorker = () => new SeedWorker(program, longest)
  await Promise.all(Array.from({ length: workers }, () => runJobs(newWorker, nextJob, report)))
  return { ...total, elapsed: performance.now() - start }
}

async function runJobs(
  newWorker: () => SeedWorker,
  nextJob: () => Job | undefined,
  report: (done: JobReport) => void,
): Promise<void> {
  let worker = newWorker()
  /** Returns the rest of the job when a seed did not end. */
  const runJob = async (job: Job): Promise<Job | undefined> => {
    try {
      report(await worker.run(job))
      return undefined
    } catch (error) {
      if (!(error instanceof EndlessSeed)) throw error
      report(endless(error, job))
      await worker.end()
      worker = newWorker()
      return behind(error.seed, job)
    }
  }
  try {
    for (let job = nextJob(); job !== undefined;) job = (await runJob(job)) ?? nextJob()
  } finally {
    await worker.end()
  }
}

/** The rest of a job after a seed that failed. */
function behind(seed: number, job: Job): Job | undefined {
  const count = job.from + job.count - (seed + 1)
  return job.goesOn && count > 0 ? { ...job, from: seed + 1, count } : undefined
}

/** The worker's results of this job are lost with it. */
function endless({ seed, message }: EndlessSeed, { from }: Job): JobReport {
  const violation = { invariant: 'I12', at: undefined, what: message } as const
  return {
    histories: seed + 1 - from,
    events: 0,
    grants: 0,
    failures: [{ seed, violations: [violation], isEndless: true }],
  }
}
