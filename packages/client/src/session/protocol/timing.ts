// Until when what a session waits for must have happened: the formulas of deadlines.ts, with what the session knows.
import type { SessionConfig } from './config.ts'
import { deadlines, type Times } from './deadlines.ts'
import type { RequestPipeline } from '../requests/request-pipeline.ts'
import type { ServerPicker } from '../servers/server-picker.ts'
import type { Identity } from './identity.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Phase, State } from './states.ts'

export interface TimingSources {
  readonly config: SessionConfig
  readonly identity: Identity
  readonly heartbeat: Heartbeat
  readonly servers: ServerPicker
  readonly pipeline: RequestPipeline
}

export class Timing {
  /** When to give up; never once it was connected. */
  #giveUpAt: number
  readonly #of: TimingSources

  constructor(sources: TimingSources) {
    this.#of = sources
    this.#giveUpAt = sources.config.connectBy
  }

  get times(): Times {
    return { T: this.#of.identity.timeout, servers: this.#of.servers.size }
  }

  /** When `elapse` must be called at the latest. */
  next(state: State, phase: Phase): number {
    if (state.name === 'ended') return Infinity
    const { nextTimeout } = this.#of.pipeline
    return Math.min(this.ofState(state), nextTimeout, this.expiresAt, this.closeBy(phase), this.#giveUpAt)
  }

  /** When a session that is being closed, or left, ends in any case. */
  closeBy(phase: Phase): number {
    return phase.name === 'closing' ? phase.by : Infinity
  }

  ofState(state: State): number {
    switch (state.name) {
      case 'waiting':
        return state.until
      case 'dialing':
      case 'handshaking':
      case 'authenticating':
        return state.by
      case 'connected':
        return Math.min(this.brokenAt, this.#of.heartbeat.pingAt, state.search?.deadline ?? Infinity)
      case 'leaving':
        return Math.min(this.brokenAt, this.#of.heartbeat.pingAt)
      case 'ended':
        return Infinity
    }
  }

  /** When a connection that stands is taken for dead. */
  get brokenAt(): number {
    return Math.min(this.#of.heartbeat.silentAt, this.openSince + deadlines.answer(this.times))
  }

  whyBroken(now: number): Error {
    const what = now >= this.#of.heartbeat.silentAt ? 'nothing heard' : 'no answer'
    return new Error(`${what} for 2/3 of the session timeout`)
  }

  /** Of all that is to be answered the oldest was sent then. */
  get openSince(): number {
    return this.#of.heartbeat.openSince(this.#of.pipeline.oldestSentAt)
  }

  /** Local expiry. */
  get expiresAt(): number {
    const { heartbeat, config, identity } = this.#of
    return heartbeat.heardAt + config.localExpiry * identity.timeout
  }

  get giveUpAt(): number {
    return this.#giveUpAt
  }

  connected(): void {
    this.#giveUpAt = Infinity
  }

  /** Of an attempt that begins now. */
  connectBy(now: number): number {
    // While it was never connected, every server is to have its turn before connect() gives up.
    const T = Math.min(this.times.T, this.#giveUpAt - this.#of.config.startAt)
    return now + deadlines.connect({ ...this.times, T })
  }
}
