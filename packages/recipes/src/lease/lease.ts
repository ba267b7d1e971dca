// A lease, and how long it is, and when it is renewed: formulas and reasons. T is the session timeout, all in milliseconds. The
// argument for them stands in ARCHITECTURE.md, "The lease".
import { type Runtime } from '@zk/client'
import { elapsedSince, type Timestamp } from '@zk/client/internal'

/** A time during which the ensemble cannot have given away what is held. */
export class Lease {
  readonly #runtime: Runtime
  #from: Timestamp
  #length: () => number

  /** `length` is asked again and again: a reconnection may give the session a smaller timeout. */
  constructor(runtime: Runtime, from: Timestamp, length: () => number) {
    this.#runtime = runtime
    this.#from = from
    this.#length = length
  }

  /** ms that are left, now: compared by both clocks whenever it is asked for. Not above 0 when it is over. */
  get remaining(): number {
    return this.#length() - elapsedSince(this.#runtime, this.#from)
  }

  /** From then, for so many ms, unless it lasts longer already. One that is over stays over. */
  renew(from: Timestamp, length: () => number): void {
    const { remaining } = this
    if (remaining <= 0 || length() - elapsedSince(this.#runtime, from) <= remaining) return
    this.#from = from
    this.#length = length
  }
}

export const leaseTimes = {
  /**
   * From the moment the session was touched for certain: no leader counts less than T from then. What is taken off is for
   * clocks that run 1 % apart, and for what passes between asking `isHeld` and acting on it.
   */
  proven: (T: number) => Math.floor(T * 0.98) - 50,

  /**
   * What is left at the least of a lease that something is granted with at once; else a sync comes first. A session is touched
   * twice in each T/3, and the relay takes T/3 more: a sync gives 0.31 T - 50 at the least.
   */
  recent: (T: number) => T / 4,

  /** What a round may take: a lease with less left than that is over before it can be renewed. */
  round: (T: number) => T / 8,

  /**
   * So long after an answer the follower has relayed the touch. Leaders ask for touches every half tick, and T is two ticks
   * at least: T/3 is 4/3 of the time between two such questions.
   */
  relay: (T: number) => T / 3,

  /**
   * From the answer of one round of confirmation to the next. Half of a long follower relay delay: what a round asked has then
   * been answered for as long as that two rounds later, to the ms.
   */
  pause: (T: number, followerRelayDelay: number) => (followerRelayDelay <= T / 3 ? T / 3 : followerRelayDelay / 2),

  /**
   * The pause from one round to the next: `usual`, unless the lease would end before that round is over; then half of what remains.
   * This happens after a grant whose last touch may be T/3 older than the follower relay delay. Rounds that follow each other after
   * half of what remains soon leave 0.49 T, which is enough for the usual pause. After two thirds they would leave 0.42 T and stay at
   * 3.6 rounds in T.
   */
  next: (T: number, usual: number, remaining: number) =>
    remaining < usual + leaseTimes.round(T) ? remaining / 2 : usual,

  /** With a longer one, rounds prove what is over soon: it is 1.5 delays old when the next round comes. */
  longestRelay: (T: number) => T / 2,

  /** From a round that failed to the next, or until servers that were too busy for a part of one are asked for it again. */
  retry: (T: number) => T / 16,

  /** At the least from a grant, or from one round, to the next. */
  shortestPause: (T: number) => Math.min(50, T / 16),
} as const
