// What was sent and heard when, and what follows from it: when to ping, and when silence is too long.
import { deadlines, type Times } from './deadlines.ts'

export class Pulse {
  readonly #times: () => Times
  /** When the last valid frame came, on any connection; Infinity until the session exists. */
  heardAt = Infinity
  #connectedAt = 0
  #sentAt = 0
  /** When the ping was sent that is not answered yet; Infinity when there is none. */
  #pingedAt = Infinity

  constructor(times: () => Times) {
    this.#times = times
  }

  /** Whether any server has answered the session. */
  get wasHeard(): boolean {
    return this.heardAt < Infinity
  }

  /** A connection stands: nothing on it is unanswered. */
  connected(now: number): void {
    this.#connectedAt = now
    this.#sentAt = now
    this.#pingedAt = Infinity
  }

  sent(now: number): void {
    this.#sentAt = now
  }

  pinged(now: number): void {
    this.#pingedAt = now
  }

  ponged(): void {
    this.#pingedAt = Infinity
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
    // From the last frame heard too: requests that are not answered must not leave the ping without time for its reply.
    return this.#pingedAt < Infinity ? Infinity : Math.min(this.#sentAt, this.heardAt) + deadlines.ping(this.#times())
  }
}
