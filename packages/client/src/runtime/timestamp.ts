import type { Runtime } from './runtime.ts'

/** A time, by the steady clock and the wall clock of a runtime. */
export interface Timestamp {
  /** By the steady clock, which never goes back, in ms. */
  readonly now: number
  /** By the wall clock, in ms since the epoch. */
  readonly wallNow: number
}

/** The current time. Pass `now` if you have already read the steady clock. */
export function timestamp(runtime: Runtime, now = runtime.now()): Timestamp {
  return { now, wallNow: runtime.wallNow() }
}

/**
 * How many ms have passed since then, by the clock that shows more. The steady clock stops while the machine sleeps. The wall
 * clock may have been set back.
 */
export function elapsedSince(runtime: Runtime, since: Timestamp): number {
  return elapsedBetween(since, timestamp(runtime))
}

/** How many ms have passed between both times, by the clock that shows more: see `elapsedSince`. */
export function elapsedBetween(since: Timestamp, until: Timestamp): number {
  return Math.max(until.now - since.now, until.wallNow - since.wallNow)
}
