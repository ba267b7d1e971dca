/** The time of day at which the world begins: 2024-01-01T00:00:00Z, in ms since the epoch. */
export const WALL_START = 1_704_067_200_000

/** The clocks of one process. They have a rate of their own, and the wall clock can be set. */
export class Clock {
  /** The sum of all changes of the wall clock, in ms. */
  wallOffset = 0
  readonly #rate: number

  /** `rate` is the speed of the clocks: with 1.01 they show 101 ms after 100 ms of true time. */
  constructor(rate: number) {
    this.#rate = rate
  }

  now(trueTime: number): number {
    return trueTime * this.#rate
  }

  wallNow(trueTime: number): number {
    return Math.floor(WALL_START + trueTime * this.#rate + this.wallOffset)
  }

  /** The true time that passes while this clock shows `delay` ms. */
  toTrue(delay: number): number {
    return delay / this.#rate
  }
}
