// How exactly a check knows times, in ms.
import type { Played } from '../history/played.ts'

/** The true time of a commit is known in whole ms, by the leader's clock. */
export const COMMIT_ROUNDING = 1

/** A timer may be late by its rounding; a clock by one percent. */
const TIMER_ROUNDING = 3
const SLOWEST_CLOCK = 0.99

/**
 * The latest true time at which something settles that is made at `at`, and has `within` ms for it. It may be late by the
 * time that processes stood still.
 */
export function latestEnd({ scenario }: Played, at: number, within: number): number {
  const stalls = scenario.faults.reduce((sum, { fault }) => sum + (fault.type === 'stall' ? fault.for : 0), 0)
  return at + within / SLOWEST_CLOCK + TIMER_ROUNDING + stalls
}
