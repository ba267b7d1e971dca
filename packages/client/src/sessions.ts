import { formatServer, type ServerAddress } from '@zk/wire'
import { type ConnectAttempt, ConnectError, KeeperError } from './errors.ts'
import { Insight } from './insight.ts'
import type { ClientOptions } from './options.ts'
import type { Runtime } from './runtime/runtime.ts'
import type { Credential } from './session/auths.ts'
import { backoff, deadlines } from './session/deadlines.ts'
import { Session } from './session/session.ts'
import { endCode, type EndReason } from './session/states.ts'
import type { ClientStats } from './stats.ts'

/** The sessions of a client, one after the other: an expired one is followed by the next. */
export class Sessions {
  readonly runtime: Runtime
  readonly insight: Insight
  readonly #servers: readonly ServerAddress[]
  readonly #options: ClientOptions
  /** Grows with addAuth; every connection of every session starts with all of them. */
  readonly #credentials: Credential[] = []
  readonly #openedAt: number
  #current: Session
  #settleFirst: { resolve: () => void; reject: (error: unknown) => void } | undefined
  /** Whether any session ever stood: before, it is `connect` that fails. */
  #stood = false
  /** New sessions in a row that a server called expired in answer to their first handshake. */
  #stillborn = 0

  constructor(servers: readonly ServerAddress[], options: ClientOptions) {
    this.runtime = options.runtime
    this.insight = new Insight(options.logger, options.traceFrames)
    this.#servers = servers
    this.#options = options
    this.#openedAt = this.runtime.now()
    this.#current = this.#open(this.#openedAt, this.#openedAt + options.connectTimeout)
  }

  get current(): Session {
    return this.#current
  }

  stats(): ClientStats {
    return this.insight.stats(this.#current.flow, this.runtime.now())
  }

  /** Resolves when the first session stands. An abort of the signal ends the search. */
  first(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        reject(signal?.reason)
        void this.#current.close()
      }
      const done = () => signal?.removeEventListener('abort', onAbort)
      this.#settleFirst = {
        resolve: () => (done(), resolve()),
        reject: (error) => (done(), reject(error)),
      }
      if (signal?.aborted) onAbort()
      else signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #open(startAt: number, connectBy: number): Session {
    const { sessionTimeout, localExpiry, maxRequestSize, maxResponseSize, tls, sasl } = this.#options
    const { maxWaiting, maxWaitingBytes, maxInFlight, maxInFlightBytes } = this.#options
    const config = {
      servers: this.#servers,
      credentials: this.#credentials,
      seed: Math.floor(this.runtime.random() * 2 ** 32),
      sessionTimeout,
      localExpiry,
      maxRequestSize,
      maxResponseSize,
      limits: { maxWaiting, maxWaitingBytes, maxInFlight, maxInFlightBytes },
      startAt,
      connectBy,
      tls,
      sasl,
    }
    return new Session(config, this.runtime, {
      connected: () => {
        this.#stood = true
        this.#stillborn = 0
        this.#settleFirst?.resolve()
      },
      ended: (reason) => this.#ended(reason),
      insight: this.insight,
    })
  }

  #ended(reason: EndReason): void {
    const ended = this.#current
    this.#settleFirst?.reject(this.#failure(reason))
    if (reason !== 'SessionExpired' || !this.#stood || !this.#options.renewSession) return this.insight.over()
    this.insight.renewing()
    const times = { T: ended.timeout, servers: this.#servers.length }
    if (ended.id === 0n) this.#stillborn++
    const longest = this.#stillborn === 0 ? deadlines.renew(times) : backoff(this.#stillborn, times)
    this.#current = this.#open(this.runtime.now() + this.runtime.random() * longest, Infinity)
  }

  #failure(reason: EndReason): Error {
    if (reason !== 'Unreachable') return new KeeperError(endCode[reason], { op: 'connect' })
    return new ConnectError([...this.#current.attempts, ...this.#untried()], this.runtime.now() - this.#openedAt)
  }

  #untried(): ConnectAttempt[] {
    const tried = new Set(this.#current.attempts.map(({ server }) => server))
    const untried = this.#servers.map(formatServer).filter((server) => !tried.has(server))
    return untried.map((server) => ({ server, attempts: 0, error: new Error('its turn did not come') }))
  }
}
