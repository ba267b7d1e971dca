// How late an action of a client may be.
import type { Story } from './story.ts'

/** How late timers may be, in ms: they are rounded up, and check the clock once more before they act. */
const ROUNDING = 5
const SLOWEST_CLOCK = 0.99
const FASTEST_CLOCK = 1.01

/** The latest true time of an action that is due `after` ms from then: while its process stands still it does nothing. */
export function latest({ stood }: Story, client: number, from: number, after: number, looked: number): number {
  return from + after / SLOWEST_CLOCK + ROUNDING + stood(client, from, looked)
}

/** The earliest true time of such an action. */
export function earliest(from: number, after: number): number {
  return from + after / FASTEST_CLOCK - ROUNDING
}
