// When requests that touch the session were sent on one connection, and by when they had been answered. A server touches a
// session for each request and ping that it lets through, whatever the answer (ZooKeeperServer.submitRequestNow), but not for
// credentials and SASL, which it answers by itself (processPacket): SessionMachine.transmit counts. A lease is reckoned from a touch.
import type { Timestamp } from '../../timestamp.ts'

interface Answered {
  readonly sent: Timestamp
  /** By then it had been answered, as all before it had. */
  readonly by: number
}

/** Touches closer together than this part of T are not all kept: only the first two are. */
const SPACING = 1 / 32

export class TouchLog {
  /** When the ConnectRequest was sent. */
  readonly handshake: Timestamp
  readonly #T: number
  /** Oldest first, as are those below. */
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

  /** So many requests and pings were sent then. */
  sent(moment: Timestamp, count = 1): void {
    for (let kept = Math.min(count, 2); kept > 0; kept--) {
      this.#lastButOne = this.#last
      this.#last = moment.now
      this.#open.push(moment)
    }
  }

  /** At `now` all is answered that was sent before `before`. */
  answered(before: number, now: number): void {
    if (this.#open.length === 0 || this.#open[0]!.now >= before) return
    const still = this.#open.findIndex((sent) => sent.now >= before)
    const count = still === -1 ? this.#open.length : still
    for (const sent of this.#open.splice(0, count)) this.#answered.push({ sent, by: now })
    // Callers need what was answered some part of T ago. The last two of what is older are enough.
    const old = this.#answered.findLastIndex(({ by }) => by <= now - this.#T)
    if (old > 1) this.#answered.splice(0, old - 1)
  }

  /**
   * The earlier of the last two touches that had been answered by `now`; the handshake where there were not two. Two, because
   * a follower may lose one: it may put it into the table of touches that it is sending to the leader at that moment
   * (LearnerSessionTracker.touchSession). The handshake is taken in by the leader itself.
   */
  answeredBy(now: number): Timestamp {
    const last = this.#answered.findLastIndex(({ by }) => by <= now)
    return this.#answered[last - 1]?.sent ?? this.handshake
  }
}
