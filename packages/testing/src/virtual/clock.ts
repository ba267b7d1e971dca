/** The time of day at which the world begins: 2024-01-01T00:00:00Z, in ms since the epoch. */
export const WALL_START = 1_704_067_200_000

/** The clocks of one process. They run at a rate of their own. The wall clock may be set. */
export class Clock {
  /** How far the wall clock has been set, in ms. */
  wallOffset = 0
  readonly #rate: number

  /** With the rate 1.01 the clock shows 101 ms after 100 ms of true time. */
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
