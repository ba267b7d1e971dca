// A lease: how long it is, and when it is renewed, as formulas with their reasons. T is the session timeout. All times are in
// ms. The argument is in ARCHITECTURE.md, "The lease".
import { type Runtime } from '@zk/client'
import { elapsedBetween, elapsedSince, type Timestamp } from '@zk/client/internal'

/** A time during which the ensemble cannot have given away the hold. */
export class Lease {
  readonly #runtime: Runtime
  #from: Timestamp
  #length: () => number

  /** `length` is called each time: a reconnection may give the session a smaller timeout. */
  constructor(runtime: Runtime, from: Timestamp, length: () => number) {
    this.#runtime = runtime
    this.#from = from
    this.#length = length
  }

  /** The ms that are left now, by both clocks, compared at the call. Not above 0 when it is over. */
  get remaining(): number {
    return this.#length() - elapsedSince(this.#runtime, this.#from)
  }

  /** The ms that are left at this time. */
  remainingAt(present: Timestamp): number {
    return this.#length() - elapsedBetween(this.#from, present)
  }

  /** Renews it from that time on, unless it already lasts longer. A lease that is over stays over. */
  renew(from: Timestamp, length: () => number): void {
    const { remaining } = this
    if (remaining <= 0 || length() - elapsedSince(this.#runtime, from) <= remaining) return
    this.#from = from
    this.#length = length
  }
}

export const leaseTimes = {
  /**
   * The length, from a touch that the leader has certainly received: no leader counts less than T from then. It is shorter
   * than T for clocks that run 1 % apart, and for the time between a call of `isHeld` and the action after it.
   */
  proven: (T: number) => Math.floor(T * 0.98) - 50,

  /**
   * How much of a lease must be left for a grant at once. Otherwise a sync comes first. A session is touched twice in each
   * T/3, and the relay takes T/3 more, so a sync gives 0.31 T - 50 at least.
   */
  recent: (T: number) => T / 4,

  /** How long a round may take. A lease with less left is over before it can be renewed. */
  round: (T: number) => T / 8,

  /**
   * The follower relay delay: so long after its answer the follower has relayed the touch. Leaders ask for touches every half
   * tick, and T is two ticks at least. So T/3 is 4/3 of the time between two such questions.
   */
  relay: (T: number) => T / 3,

  /**
   * The pause from the answer of one round to the next. It is half of a long follower relay delay: then the answers of a
   * round are exactly as old as the delay two rounds later.
   */
  pause: (T: number, followerRelayDelay: number) => (followerRelayDelay <= T / 3 ? T / 3 : followerRelayDelay / 2),

  /**
   * The pause from one round to the next: `usual`, unless the lease would end before that round is over; then half of what
   * remains. This happens after a grant whose last touch may be T/3 older than the follower relay delay. Rounds that follow
   * each other after half of what remains soon leave 0.49 T, which is enough for the usual pause. After two thirds they would
   * leave 0.42 T and stay at 3.6 rounds in T.
   */
  next: (T: number, usual: number, remaining: number) =>
    remaining < usual + leaseTimes.round(T) ? remaining / 2 : usual,

  /** The longest follower relay delay. With a longer one a proof would be too old: it is 1.5 delays old at the next round. */
  longestRelay: (T: number) => T / 2,

  /** The pause after a failed round, and before a part of a round is repeated that servers were too busy for. */
  retry: (T: number) => T / 16,

  /** The shortest pause from a grant, or from a round, to the next round. */
  shortestPause: (T: number) => Math.min(50, T / 16),
} as const
