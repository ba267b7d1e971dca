// A lease, and the formulas for its length and its renewal, with their reasons. T is the session timeout. All times are in ms.
// docs/lease.md explains why a lease is safe.
import { type Runtime } from '@zk/client'
import { elapsedBetween, elapsedSince, type Timestamp } from '@zk/client/internal'

/** A time during which the session cannot have expired, and so no other contender can have received a grant. */
export class Lease {
  readonly #runtime: Runtime
  #from: Timestamp
  #length: () => number

  /** `length` is called at each use, because a reconnection may give the session a shorter timeout. */
  constructor(runtime: Runtime, from: Timestamp, length: () => number) {
    this.#runtime = runtime
    this.#from = from
    this.#length = length
  }

  /** How many ms are left now, by the clock that shows fewer (steady or wall); 0 or less if the lease has ended. */
  get remaining(): number {
    return this.#length() - elapsedSince(this.#runtime, this.#from)
  }

  /** How many ms are left at this time. */
  remainingAt(present: Timestamp): number {
    return this.#length() - elapsedBetween(this.#from, present)
  }

  /** Makes the lease begin at `from`, unless it already lasts longer. A lease that has ended is not renewed. */
  renew(from: Timestamp, length: () => number): void {
    const { remaining } = this
    if (remaining <= 0 || length() - elapsedSince(this.#runtime, from) <= remaining) return
    this.#from = from
    this.#length = length
  }
}

export const leaseTimes = {
  /**
   * The length of a lease from p, a touch that the leader has certainly received. The leader counts a full T from then. The
   * lease is 2 % shorter, to allow for clocks that run differently (1 % at most), and another 50 ms shorter, for the time
   * between a call to `isHeld` and the action after it.
   */
  proven: (T: number) => Math.floor(T * 0.98) - 50,

  /**
   * How much of a lease must be left so that a grant needs no sync. With the default follower relay delay, a sync gives more than
   * that: p is then at most 2/3 T old, so at least 0.31 T - 50 is left.
   */
  recent: (T: number) => T / 4,

  /** How long a round may take. If less than this is left of a lease, it ends before it can be renewed. */
  round: (T: number) => T / 8,

  /**
   * The default follower relay delay: this long after a follower has answered a touch, it has relayed the touch. Leaders ask
   * for touches every half tick. By default T is at least two ticks, so T/3 is at least 4/3 of the time between two questions.
   */
  relay: (T: number) => T / 3,

  /**
   * The usual pause after a round was answered, before the next one. If the follower relay delay D is above T/3, the pause is
   * D/2. The touches of a round are then at least D old at the second round after it, and serve as its p.
   */
  pause: (T: number, followerRelayDelay: number) => (followerRelayDelay <= T / 3 ? T / 3 : followerRelayDelay / 2),

  /**
   * The pause before the next round is `usual`. If the lease would end before that round is answered, it is half of
   * `remaining`. This happens after a grant with an old p. After some such rounds 0.49 T is left, which is enough for the
   * usual pause. (With two thirds of `remaining`, 0.42 T would be left, and there would always be 3.6 rounds in T.)
   */
  next: (T: number, usual: number, remaining: number) =>
    remaining < usual + leaseTimes.round(T) ? remaining / 2 : usual,

  /** The longest follower relay delay D. When a round begins, p is 1.5 D old: with a longer D too little of a lease is left. */
  longestRelay: (T: number) => T / 2,

  /** The pause after a failed round, and before a request for which the servers were too busy is sent again. */
  retry: (T: number) => T / 16,

  /** The shortest pause after a grant or a round, before the next round. */
  shortestPause: (T: number) => Math.min(50, T / 16),
} as const
