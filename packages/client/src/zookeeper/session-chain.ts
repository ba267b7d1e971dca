import { formatServer, type ServerAddress } from '@zk/wire'
import { onAbort } from '../base/aborts.ts'
import { throwIfAborted } from '../base/signals.ts'
import { type ConnectAttempt, ConnectError, KeeperError } from '../base/errors.ts'
import { checkHostProvider, type ClientOptions } from './options.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Credential } from '../operations/add-auth.ts'
import { backoff, deadlines } from '../session/protocol/deadlines.ts'
import type { DetachedSession, SessionCredentials } from '../session/protocol/detached-session.ts'
import { lastRequest } from '../session/requests/internal-requests.ts'
import { Names } from '../session/servers/names.ts'
import { type ListSource, ServerLists } from '../session/servers/server-lists.ts'
import type { HostProvider } from '../session/servers/static-host-provider.ts'
import { LookUps } from '../session/driver/look-ups.ts'
import { SessionDriver } from '../session/driver/session-driver.ts'
import { ClientEvents } from '../session/client-event.ts'
import { endCode, type EndReason } from '../session/protocol/states.ts'
import { Channels } from '../telemetry/channels.ts'
import { Log } from '../telemetry/log.ts'
import { logFunctionOf } from '../telemetry/logger.ts'
import { States } from '../telemetry/states.ts'
import { type ClientStats, Counters } from '../telemetry/stats.ts'

/** An event without its session. */
type Unplaced =
  | { readonly type: 'renewing' | 'over' | 'serversChanged' }
  | { readonly type: 'serversIgnored'; readonly why: string }
  | { readonly type: 'anomaly'; readonly what: string }

/** The sessions of a client, one after the other: when one has expired, the next one is opened. */
export class SessionChain {
  /** The name of the client, on its channels. */
  readonly name: string
  readonly runtime: Runtime
  readonly states: States
  readonly log: Log
  readonly #counters = new Counters()
  readonly #events: ClientEvents
  readonly #servers: ServerLists
  readonly #names = new Names()
  readonly #lookUps: LookUps
  readonly #hostProvider: HostProvider | undefined
  readonly #options: ClientOptions
  /** All credentials, including those of addAuth. Every connection of every session begins with all of them. */
  readonly #credentials: Credential[] = []
  readonly #openedAt: number
  /** The session that `connect` was to resume. */
  readonly #resumedId: bigint | undefined
  #current: SessionDriver
  /** Settles the promise of `first`; undefined once the first session is established. */
  #settleFirst: { resolve: () => void; reject: (error: unknown) => void } | undefined
  /** Whether any session was ever established. Before that, `connect` rejects with the failure. */
  #wasEstablished = false
  /** How many sessions in a row were reported as expired in the answer to their first handshake. */
  #expiredAtHandshake = 0

  constructor(name: string, servers: readonly ServerAddress[], options: ClientOptions) {
    this.name = name
    this.runtime = options.runtime
    const { runtime, logger, sessionTimeout, traceFrames } = options
    this.states = new States(runtime)
    this.log = new Log(logger && logFunctionOf(logger), sessionTimeout, runtime.now())
    this.#events = new ClientEvents([this.#counters, new Channels(this.name, traceFrames), this.states, this.log])
    this.#servers = new ServerLists(servers)
    this.#lookUps = new LookUps(this.runtime, {
      found: (host, addresses) => this.#current.resolved(host, addresses),
      failed: (host, error) => this.#current.unresolved(host, error),
    })
    this.#hostProvider =
      options.hostProvider && checkHostProvider(options.hostProvider(servers, () => this.runtime.random()))
    this.#options = options
    this.#resumedId = options.session?.id
    this.#openedAt = this.runtime.now()
    this.#current = this.#open(this.#openedAt, this.#openedAt + options.connectTimeout, options.session)
  }

  /** Whether the client uses TLS. */
  get isSecure(): boolean {
    return this.#options.tls !== undefined
  }

  get current(): SessionDriver {
    return this.#current
  }

  stats(): ClientStats {
    const { flow, sinceReceived } = this.#current
    return this.#counters.snapshot(flow, sinceReceived, this.runtime.now())
  }

  /** Resolves when the first session is established. Rejects and gives up if the signal aborts. */
  first(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        reject(reason)
        void this.giveUp()
      }
      const unlisten = signal === undefined ? () => {} : onAbort(signal, giveUp)
      this.#settleFirst = {
        resolve: () => (unlisten(), resolve()),
        reject: (error) => (unlisten(), reject(error)),
      }
    })
  }

  /** Ends the client because `connect` has failed. A session that `connect` was to resume is left, not ended. */
  giveUp(): Promise<void> {
    const isResumed = this.#current.id === this.#resumedId
    return this.#current.close(isResumed ? lastRequest() : undefined)
  }

  /** Leaves the session, which lives on, and ends the client. */
  async detach(): Promise<DetachedSession> {
    const session = this.#current
    const { id: sessionId } = session
    // A subscriber may be notified of the end of the session before the signal aborts.
    if (session.isOver) await Promise.resolve()
    throwIfAborted(session.signal)
    throwIfAborted(session.detaching)
    // No other server knows the session of a read-only server. A session that no server has given cannot be resumed either.
    const reason = sessionId === 0n ? 'ConnectionLoss' : 'NotReadOnly'
    if (session.detached === undefined) throw new KeeperError(reason, { op: 'detach' })
    await session.detach()
    const { detached } = session
    if (detached === undefined) throw new KeeperError('SessionExpired', { op: 'detach', sessionId })
    return detached
  }

  /** Ends the session, and the client. */
  async close(): Promise<void> {
    // A listener of the end of a session may close the client before the next session exists.
    for (let closed: SessionDriver | undefined; closed !== this.#current;) {
      closed = this.#current
      await closed.close()
    }
  }

  /** Uses this list from now on, in this session and those that follow. */
  updateServers(servers: readonly ServerAddress[], source: ListSource): void {
    this.#current.updateServers(servers, source)
    // By now no attempt at a server of the old list is under way.
    this.report({ type: 'serversChanged' })
  }

  /** Reports what happens outside of the session. */
  report(event: Unplaced): void {
    this.#events.emit(Object.assign({ session: this.#current }, event))
  }

  #open(startAt: number, connectBy: number, resume?: SessionCredentials): SessionDriver {
    const { runtime } = this
    const { readOnly, sessionTimeout, localExpiry, maxResponseSize, tls, sasl } = this.#options
    // Not a spread of the options: V8 then gives each object a hidden class of its own, and a short session takes 5 % more.
    const config = {
      servers: this.#servers,
      names: this.#names,
      hostProvider: this.#hostProvider,
      resume,
      readOnly,
      sessionTimeout,
      localExpiry,
      maxResponseSize,
      limits: this.#options,
      credentials: this.#credentials,
      usesSasl: sasl !== undefined,
      isLast: !this.#options.renewSession,
      looksUpNames: runtime.resolve !== undefined,
      seed: Math.floor(runtime.random() * 2 ** 32),
      startAt,
      connectBy,
      tls,
      sasl,
    }
    return new SessionDriver(config, runtime, {
      connected: () => {
        this.#wasEstablished = true
        this.#expiredAtHandshake = 0
        this.#settleFirst?.resolve()
        this.#settleFirst = undefined
      },
      lookUp: (host) => this.#lookUps.begin(host),
      ended: (reason) => this.#ended(reason),
      events: this.#events,
    })
  }

  #ended(reason: EndReason): void {
    const ended = this.#current
    // The session has expired before SASL was complete. `connect` continues with a new session, until its time is over.
    const isFirst = !this.#wasEstablished && ended.id !== 0n && this.#options.session === undefined
    if (reason === 'SessionExpired' && isFirst) {
      this.report({ type: 'renewing' })
      this.#current = this.#open(this.runtime.now(), this.#openedAt + this.#options.connectTimeout)
      return
    }
    this.#settleFirst?.reject(this.#failure(reason))
    const mayRenew = this.#wasEstablished && this.#options.renewSession
    const isRenewed = reason === 'SessionExpired' && mayRenew && !ended.detaching.aborted
    if (!isRenewed) return this.report({ type: 'over' })
    this.report({ type: 'renewing' })
    const times = { T: ended.timeout, servers: this.#servers.present.length }
    if (ended.id === 0n) this.#expiredAtHandshake++
    const longest = this.#expiredAtHandshake === 0 ? deadlines.renew(times) : backoff(this.#expiredAtHandshake, times)
    this.#current = this.#open(this.runtime.now() + this.runtime.random() * longest, Infinity)
  }

  #failure(reason: EndReason): Error {
    if (reason !== 'Unreachable') return new KeeperError(endCode[reason], { op: 'connect' })
    return new ConnectError([...this.#current.attempts, ...this.#untried()], this.runtime.now() - this.#openedAt)
  }

  #untried(): ConnectAttempt[] {
    const tried = new Set(this.#current.attempts.map(({ server }) => server))
    const untried = this.#servers.present.map(formatServer).filter((server) => !tried.has(server))
    return untried.map((server) => ({ server, attempts: 0, error: new Error('it was not tried in time') }))
  }
}
