// What was sent and heard when, and what follows from it: when to ping, and when silence is too long.
import { deadlines, type Times } from './deadlines.ts'

export class Heartbeat {
  readonly #times: () => Times
  readonly #shortestTimeout: () => number
  /** When the last valid frame came, on any connection; Infinity until the session exists. */
  heardAt = Infinity
  #connectedAt = 0
  /** When the session was touched last, and since when twice. */
  #touchedAt = 0
  #touchedTwiceAt = 0
  /** When the pings were sent of which some are not answered yet; Infinity when there are none. */
  #pingedAt = Infinity
  #unansweredPings = 0

  constructor(times: () => Times, shortestTimeout: () => number) {
    this.#times = times
    this.#shortestTimeout = shortestTimeout
  }

  /** Whether any server has answered the session. */
  get wasHeard(): boolean {
    return this.heardAt < Infinity
  }

  /** A connection stands: nothing on it is unanswered. */
  connected(now: number): void {
    this.#connectedAt = now
    this.#unansweredPings = 0
    this.#pingedAt = Infinity
  }

  /** The ConnectRequest was sent: the leader itself touches the session for it (Leader REVALIDATE), once is enough. */
  handshake(now: number): void {
    this.touched(now, 2)
  }

  /** So many requests and pings were sent. Credentials and SASL do not touch the session. */
  touched(now: number, count: number): void {
    this.#touchedTwiceAt = count > 1 ? now : this.#touchedAt
    this.#touchedAt = now
  }

  /** So many pings were sent. */
  pinged(now: number, count: number): void {
    this.#pingedAt = now
    this.#unansweredPings = count
  }

  ponged(): void {
    if (this.#unansweredPings > 0) this.#unansweredPings--
    if (this.#unansweredPings === 0) this.#pingedAt = Infinity
  }

  /** Of the requests, the oldest without an answer was sent then: so of all that is to be answered the oldest. */
  openSince(oldestRequest: number | undefined): number {
    return Math.min(oldestRequest ?? Infinity, this.#pingedAt)
  }

  get silentAt(): number {
    // SASL may have taken its time at our side.
    return Math.max(this.heardAt, this.#connectedAt) + deadlines.silence(this.#times())
  }

  get pingAt(): number {
    if (this.#pingedAt < Infinity) return Infinity
    // From the last frame heard too: requests that are not answered must not leave the pings without time for their replies.
    // By the shortest timeout: a touch of a connection before may reach the leader late, and have it count that one
    // (ExpiryQueue.update moves an expiry back, too).
    const times = { ...this.#times(), T: this.#shortestTimeout() }
    return Math.min(this.#touchedTwiceAt, this.heardAt) + deadlines.ping(times)
  }
}
