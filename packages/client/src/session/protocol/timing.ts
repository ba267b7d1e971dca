// Applies the formulas of deadlines.ts to the times at which messages were sent and received: when the session must act next,
// when the next heartbeat is due, and when a connection or the session is over.
import type { SessionConfig } from './config.ts'
import { deadlines, type Times } from './deadlines.ts'
import type { RequestPipeline } from '../requests/request-pipeline.ts'
import type { ServerPicker } from '../servers/server-picker.ts'
import type { Identity } from './identity.ts'
import type { Phase, State } from './states.ts'

/** With this many bytes of replies, a slow link counts as making progress. */
const PROGRESS = 64 * 1024

export interface TimingSources {
  readonly config: SessionConfig
  readonly identity: Identity
  readonly servers: ServerPicker
  readonly pipeline: RequestPipeline
}

export class Timing {
  readonly #of: TimingSources
  /** When the last valid frame came, or `progressed` noted progress, on any connection; Infinity before the first frame. */
  #receivedAt = Infinity
  #connectedAt = 0
  #lastTouchAt = 0
  #lastTouchButOneAt = 0
  /** When each unanswered ping was sent, oldest first. */
  #pings: number[] = []
  /** The bytes of replies since `#progressAt`. */
  #arrived = 0
  #progressAt = -Infinity
  /** When to give up finding a first server; Infinity once the session was connected. */
  #giveUpAt: number

  constructor(sources: TimingSources) {
    this.#of = sources
    this.#giveUpAt = sources.config.connectBy
  }

  get times(): Times {
    return { T: this.#of.identity.timeout, servers: this.#of.servers.size }
  }

  // --- what happened --------------------------------------------------------------------------------------------

  /** A valid frame came. */
  received(now: number): void {
    this.#receivedAt = now
  }

  /**
   * This many bytes of replies have arrived. On a slow link a long reply, or many replies, may take longer than all deadlines. The
   * next connection would be as slow, so this connection stays while replies arrive.
   */
  progressed(bytes: number, now: number): void {
    this.#arrived += bytes
    if (this.#arrived < PROGRESS) return
    this.#arrived = 0
    this.#progressAt = now
    this.received(now)
  }

  /** Whether any server has answered the session. */
  get wasHeard(): boolean {
    return this.#receivedAt < Infinity
  }

  /** The ConnectRequest was sent. It counts as two touches, since the leader itself receives it (REVALIDATE). */
  handshake(now: number): void {
    this.touched(now, 2)
  }

  /** A connection is established. No ping is unanswered on it. */
  connected(now: number): void {
    this.#giveUpAt = Infinity
    this.#connectedAt = now
    this.#pings = []
    this.#arrived = 0
    this.#progressAt = -Infinity
  }

  /** `count` requests or pings were sent. (Credentials and SASL packets do not touch the session.) */
  touched(now: number, count: number): void {
    this.#lastTouchButOneAt = count > 1 ? now : this.#lastTouchAt
    this.#lastTouchAt = now
  }

  /** `count` pings were sent. */
  pinged(now: number, count: number): void {
    for (let sent = 0; sent < count; sent++) this.#pings.push(now)
  }

  ponged(): void {
    this.#pings.shift()
  }

  // --- deadlines ------------------------------------------------------------------------------------------------

  /** When `elapse` must be called at the latest. */
  next(state: State, phase: Phase): number {
    if (state.name === 'ended') return Infinity
    const { nextTimeout } = this.#of.pipeline
    return Math.min(this.ofState(state), nextTimeout, this.expiresAt, this.closeBy(phase), this.#giveUpAt)
  }

  ofState(state: State): number {
    switch (state.name) {
      case 'waiting':
        return state.until
      case 'resolving':
      case 'dialing':
      case 'handshaking':
      case 'authenticating':
        return state.by
      case 'connected':
        return Math.min(this.brokenAt, this.pingAt, state.search?.deadline ?? Infinity)
      case 'leaving':
        return Math.min(this.brokenAt, this.pingAt)
      case 'ended':
        return Infinity
    }
  }

  /** Whether a ping is unanswered. */
  get isPinging(): boolean {
    return this.#pings.length > 0
  }

  get pingAt(): number {
    const { identity } = this.#of
    const pingedAt = this.#pings.at(-1)
    // The shortest timeout is used: a touch of an earlier connection may reach the leader late and restore a shorter timeout
    // (ExpiryQueue.update can also shorten the session).
    const T = identity.shortestTimeout === 0 ? identity.timeout : identity.shortestTimeout
    const interval = deadlines.ping({ T, servers: 1 })
    // The answers to these pings may come after a long reply. The server must hear from the client meanwhile.
    if (pingedAt !== undefined) return this.#progressAt > pingedAt ? pingedAt + interval : Infinity
    // The last received frame counts, too: if requests are sent but not answered, pings must still leave time for a reply.
    return Math.min(this.#lastTouchButOneAt, this.#receivedAt) + interval
  }

  /** When an established connection counts as dead. */
  get brokenAt(): number {
    return Math.min(this.#silentAt, Math.max(this.openSince, this.#progressAt) + deadlines.answer(this.times))
  }

  whyBroken(now: number): Error {
    const what = now >= this.#silentAt ? 'nothing received' : 'no answer'
    return new Error(`${what} for 2/3 of the session timeout`)
  }

  get #silentAt(): number {
    // The time before `#connectedAt` does not count: our own SASL mechanism may have been slow.
    return Math.max(this.#receivedAt, this.#connectedAt) + deadlines.silence(this.times)
  }

  /** When the oldest unanswered request or ping was sent. */
  get openSince(): number {
    return Math.min(this.#of.pipeline.oldestSentAt ?? Infinity, this.#pings[0] ?? Infinity)
  }

  /** When the client treats the session as expired (local expiry). */
  get expiresAt(): number {
    return this.#receivedAt + deadlines.localExpiry(this.times, this.#of.config.localExpiry)
  }

  /** By when a session that is being closed or left is over. */
  closeBy(phase: Phase): number {
    return phase.name === 'closing' ? phase.by : Infinity
  }

  get giveUpAt(): number {
    return this.#giveUpAt
  }

  /** The deadline of an attempt that began at `began`, with a look-up, and dials now. */
  connectBy(began: number, now: number): number {
    const time = deadlines.connect(this.#attemptTimes, this.#of.servers.slowRounds)
    // The look-up may have found several addresses. Each of them then has less time than the attempt had before.
    return Math.max(began + time, now + time / 2)
  }

  /** The time until which an attempt that begins now waits for its look-up. */
  lookUpBy(now: number): number {
    return now + deadlines.lookUp(this.#attemptTimes, this.#of.servers.slowRounds)
  }

  /** Before the first connection every server should be tried before connect() gives up. */
  get #attemptTimes(): Times {
    const T = Math.min(this.times.T, this.#giveUpAt - this.#of.config.startAt)
    return { ...this.times, T }
  }
}
