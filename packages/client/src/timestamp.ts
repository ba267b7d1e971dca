import type { Runtime } from './runtime/runtime.ts'

/** One moment, by both clocks of a runtime. */
export interface Timestamp {
  /** By the clock that never goes back, in ms. */
  readonly now: number
  /** By the clock on the wall, in ms since the epoch. */
  readonly wallNow: number
}

/** The moment that it is now. `now` is for a caller that has read the steady clock already. */
export function timestamp(runtime: Runtime, now = runtime.now()): Timestamp {
  return { now, wallNow: runtime.wallNow() }
}

/**
 * How many ms ago that was, by the clock that says more: the one stands still while the machine sleeps, the other may have
 * been set back.
 */
export function elapsedSince(runtime: Runtime, { now, wallNow }: Timestamp): number {
  return Math.max(runtime.now() - now, runtime.wallNow() - wallNow)
}
