// When requests that touch the session were sent on one connection, and by when they were answered. A server touches a
// session for each request and ping that it lets through, whatever the answer (ZooKeeperServer.submitRequestNow). It does not
// for credentials and SASL, which it answers by itself (processPacket). SessionMachine.transmit counts. A lease is counted
// from a touch.
import type { Timestamp } from '../../timestamp.ts'

interface Answered {
  readonly sent: Timestamp
  /** The time by which it, and all before it, were answered. */
  readonly by: number
}

/** Of touches closer together than this part of T only the first two are kept. */
const SPACING = 1 / 32

export class TouchLog {
  /** When the ConnectRequest was sent. */
  readonly handshake: Timestamp
  readonly #T: number
  /** The oldest first, as below. */
  #open: Timestamp[] = []
  #answered: Answered[] = []
  /** When the last two were sent. */
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

  /** Records requests and pings that were sent at that time. */
  sent(moment: Timestamp, count = 1): void {
    for (let kept = Math.min(count, 2); kept > 0; kept--) {
      this.#lastButOne = this.#last
      this.#last = moment.now
      this.#open.push(moment)
    }
  }

  /** Records that at `now` everything is answered that was sent before `before`. */
  answered(before: number, now: number): void {
    if (this.#open.length === 0 || this.#open[0]!.now >= before) return
    const still = this.#open.findIndex((sent) => sent.now >= before)
    const count = still === -1 ? this.#open.length : still
    for (const sent of this.#open.splice(0, count)) this.#answered.push({ sent, by: now })
    // Callers need touches that were answered some part of T ago. Of older ones the last two are enough.
    const old = this.#answered.findLastIndex(({ by }) => by <= now - this.#T)
    if (old > 1) this.#answered.splice(0, old - 1)
  }

  /**
   * The earlier of the last two touches that were answered by `now`; the handshake if there were not two. There must be two,
   * since a follower may lose one: it may put it into the table of touches while it sends that table to the leader
   * (LearnerSessionTracker.touchSession). The leader itself receives the handshake.
   */
  answeredBy(now: number): Timestamp {
    const last = this.#answered.findLastIndex(({ by }) => by <= now)
    return this.#answered[last - 1]?.sent ?? this.handshake
  }
}
