// The touches of one connection: when they were sent, and when they were answered. A lease is counted from a touch. A server
// touches a session for each request and ping that it accepts for processing, even if the answer is an error
// (ZooKeeperServer.submitRequestNow). Credentials and SASL packets do not touch the session: the server answers them by itself
// (processPacket). SessionMachine.transmit counts the touches that are sent.
import type { Timestamp } from '../../runtime/timestamp.ts'

interface Answered {
  readonly sent: Timestamp
  /** The time by which this touch, and all before it, were answered. */
  readonly by: number
}

/** Only two touches are kept in each period of this part of T: the first two. */
const SPACING = 1 / 32

export class TouchLog {
  /** When the ConnectRequest was sent. */
  readonly handshake: Timestamp
  readonly #T: number
  /** The unanswered touches, oldest first. */
  #open: Timestamp[] = []
  /** The answered touches, oldest first. */
  #answered: Answered[] = []
  /** When the last two touches that are kept were sent. */
  #last = -Infinity
  #lastButOne = -Infinity

  constructor(handshake: Timestamp, T: number) {
    this.handshake = handshake
    this.#T = T
  }

  /** Whether another touch at `now` would be kept. */
  wants(now: number): boolean {
    return now >= this.#lastButOne + this.#T * SPACING
  }

  /** Records that `count` requests or pings were sent at that time. */
  sent(moment: Timestamp, count = 1): void {
    for (let kept = Math.min(count, 2); kept > 0; kept--) {
      this.#lastButOne = this.#last
      this.#last = moment.now
      this.#open.push(moment)
    }
  }

  /** Records that at `now` all touches are answered that were sent before `before`. */
  answered(before: number, now: number): void {
    if (this.#open.length === 0 || this.#open[0]!.now >= before) return
    const still = this.#open.findIndex((sent) => sent.now >= before)
    const count = still === -1 ? this.#open.length : still
    for (const sent of this.#open.splice(0, count)) this.#answered.push({ sent, by: now })
    // Callers ask for a time at most T ago. So the last two of all touches that were answered before that are enough.
    const old = this.#answered.findLastIndex(({ by }) => by <= now - this.#T)
    if (old > 1) this.#answered.splice(0, old - 1)
  }

  /**
   * The earlier of the last two touches that were answered by `now`; the handshake if there were not two. There must be two,
   * because a follower may lose a touch that it adds to its touch table while it sends that table to the leader
   * (LearnerSessionTracker.touchSession). The handshake cannot be lost: the leader itself receives it.
   */
  answeredBy(now: number): Timestamp {
    const last = this.#answered.findLastIndex(({ by }) => by <= now)
    return this.#answered[last - 1]?.sent ?? this.handshake
  }
}
