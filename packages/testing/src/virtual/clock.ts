/** When the world begins, by every clock on a wall that is right: 2024-01-01T00:00:00Z, in ms since the epoch. */
export const WALL_START = 1_704_067_200_000

/** The clocks of one process: they run at a rate of their own, and the one on the wall may be set. */
export class Clock {
  /** How far the clock on the wall has been set, in ms. */
  wallOffset = 0
  readonly #rate: number

  /** Of rate 1.01, in 100 ms of true time 101 pass. */
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
