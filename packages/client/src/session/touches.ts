// When servers heard of the session on one connection, as far as answers prove it: what a lease is reckoned from.
import type { Moment } from '../moment.ts'

interface Answered {
  readonly sent: Moment
  /** By which all that was sent until then had been answered. */
  readonly by: number
}

/** Moments closer together than this are one, the earlier. As a part of T. */
const SPACING = 1 / 32

export class Touches {
  /** When the ConnectRequest was sent. */
  readonly handshake: Moment
  readonly #T: number
  /** Oldest first, as are those below. */
  #open: Moment[] = []
  #answered: Answered[] = []
  #latest: number

  constructor(handshake: Moment, T: number) {
    this.handshake = handshake
    this.#T = T
    this.#latest = handshake.now
  }

  /** Whether another moment at `now` would be kept. */
  wants(now: number): boolean {
    return now >= this.#latest + this.#T * SPACING
  }

  /** Requests or a ping were sent then. */
  sent(moment: Moment): void {
    this.#latest = moment.now
    this.#open.push(moment)
  }

  /** At `now` all is answered that was sent before `before`. */
  answered(before: number, now: number): void {
    if (this.#open.length === 0 || this.#open[0]!.now >= before) return
    const still = this.#open.findIndex((sent) => sent.now >= before)
    const count = still === -1 ? this.#open.length : still
    for (const sent of this.#open.splice(0, count)) this.#answered.push({ sent, by: now })
    // Who asks wants to know what was answered some part of T ago. The latest of what is older is enough.
    const old = this.#answered.findLastIndex(({ by }) => by <= now - this.#T)
    if (old > 0) this.#answered.splice(0, old)
  }

  /** When the latest of the requests was sent that had been answered by `now`; the handshake counts as one. */
  answeredBy(now: number): Moment {
    return this.#answered.findLast(({ by }) => by <= now)?.sent ?? this.handshake
  }
}
