// How late something may be that is due at a time by a client's clock.
import type { Story } from './story.ts'

/** Timers are late by their rounding, and look at the clock once more before they act: in ms. */
const ROUNDING = 5
const SLOWEST_CLOCK = 0.99
const FASTEST_CLOCK = 1.01

/** The latest true time of what a client does `after` ms from then: while its process stands still it does nothing. */
export function latest({ stood }: Story, client: number, from: number, after: number, looked: number): number {
  return from + after / SLOWEST_CLOCK + ROUNDING + stood(client, from, looked)
}

/** The earliest true time. */
export function earliest(from: number, after: number): number {
  return from + after / FASTEST_CLOCK - ROUNDING
}
