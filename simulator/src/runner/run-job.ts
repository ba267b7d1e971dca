import { simulate } from '../simulate.ts'
import type { Violation } from '../checks/check.ts'
import type { Failure, Job, JobReport } from './job.ts'

export interface JobWatcher {
  /** Called before a seed is played. */
  readonly begins: (seed: number) => void
  /** The rejections that were not handled since the last call. */
  readonly unhandled: () => Promise<readonly string[]>
}

/** Runs the seeds in this thread. */
export async function runJob(
  { from, count, options, goesOn }: Job,
  { begins, unhandled }: JobWatcher,
): Promise<JobReport> {
  let histories = 0
  let events = 0
  let grants = 0
  const failures: Failure[] = []
  for (let seed = from; seed < from + count; seed++) {
    begins(seed)
    const violations = await runSeed()
    histories++
    if (violations.length === 0) continue
    failures.push({ seed, violations, isEndless: false })
    if (!goesOn) break

    async function runSeed(): Promise<Violation[]> {
      try {
        const { violations, played, stage } = await simulate({ ...options, seed })
        events += stage.world.events
        for (const { type } of played.history)
          if (type === 'granted' || type === 'settled' || type === 'joined') grants++
        return [...violations, ...(await unhandled()).map(crash)]
      } catch (error) {
        return [crash(error instanceof Error ? (error.stack ?? error.message) : String(error))]
      }
    }
  }
  return { histories, events, grants, failures }
}

/** A history that could not be played to its end, or an error that no code handled. */
function crash(what: string): Violation {
  return { invariant: 'I12', at: undefined, what: `unhandled: ${what}` }
}
