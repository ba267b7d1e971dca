import type { Runtime } from './runtime/runtime.ts'

/** One moment, by both clocks of a runtime. */
export interface Moment {
  /** By the clock that never goes back, in ms. */
  readonly now: number
  /** By the clock on the wall, in ms since the epoch. */
  readonly wallNow: number
}

export function momentOf(runtime: Runtime, now = runtime.now()): Moment {
  return { now, wallNow: runtime.wallNow() }
}

/**
 * How many ms ago that was, by the clock that says more: the one stands still while the machine sleeps, the other may have
 * been set back.
 */
export function elapsedSince(runtime: Runtime, { now, wallNow }: Moment): number {
  return Math.max(runtime.now() - now, runtime.wallNow() - wallNow)
}
