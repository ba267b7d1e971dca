import type { Runtime } from './runtime/runtime.ts'

/** A time, by both clocks of a runtime. */
export interface Timestamp {
  /** By the clock that never goes back, in ms. */
  readonly now: number
  /** By the wall clock, in ms since the epoch. */
  readonly wallNow: number
}

/** The present time. `now` is for a caller that has already read the steady clock. */
export function timestamp(runtime: Runtime, now = runtime.now()): Timestamp {
  return { now, wallNow: runtime.wallNow() }
}

/**
 * How many ms ago that was, by the clock that shows more. The steady clock stands still while the machine sleeps. The wall
 * clock may have been set back.
 */
export function elapsedSince(runtime: Runtime, since: Timestamp): number {
  return elapsedBetween(since, timestamp(runtime))
}

/** How many ms passed between them, by the clock that shows more: see `elapsedSince`. */
export function elapsedBetween(since: Timestamp, until: Timestamp): number {
  return Math.max(until.now - since.now, until.wallNow - since.wallNow)
}
