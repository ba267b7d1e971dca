// Measures a time, and how much of it a busy machine took away. An upper limit must not count that: a machine may run nothing
// for a second.

/** In ms. */
const TICK = 20
/** A tick that is later than this, in ms, shows a pause. */
const LATE = 30

let tickedAt = performance.now()
/** All pauses before the last tick. */
let paused = 0

setInterval(() => {
  const now = performance.now()
  paused = pausedUntil(now)
  tickedAt = now
}, TICK).unref()

function pausedUntil(now: number): number {
  const late = now - tickedAt - TICK
  return paused + (late > LATE ? late : 0)
}

export class Stopwatch {
  readonly #startedAt = performance.now()
  readonly #pausedBefore = pausedUntil(this.#startedAt)

  /** The time since the start, in ms: for lower limits. */
  get elapsed(): number {
    return performance.now() - this.#startedAt
  }

  /** The part of it in which this process did not run: it was paused, or its own code blocked its event loop. */
  get paused(): number {
    return pausedUntil(performance.now()) - this.#pausedBefore
  }

  /** The rest: for upper limits. */
  get running(): number {
    return this.elapsed - this.paused
  }
}
