// Drives a SessionMachine: owns its socket and its one timer, and does what it says.
import { formatServer, type ServerAddress } from '@zk/wire'
import { onAbort } from '../aborts.ts'
import { type ConnectAttempt, KeeperError } from '../errors.ts'
import type { Insight } from '../insight.ts'
import { type Moment, momentOf } from '../moment.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Alarm } from './alarm.ts'
import type { Credential } from './auths.ts'
import type { DriverConfig, SessionListener, Waiting } from './client-side.ts'
import type { SessionConfig } from './config.ts'
import { type Connection, newConnection, type OwnConnection } from './connection.ts'
import { deadlines } from './deadlines.ts'
import type { DetachedSession } from './detached-session.ts'
import type { Flow } from './flow.ts'
import type { Target } from './hosts.ts'
import { InOrder } from './in-order.ts'
import { SessionMachine } from './machine.ts'
import type { Output } from './output.ts'
import { lastRequest } from './own-requests.ts'
import type { PersistentWatcher } from './persistent.ts'
import { Prover, type Proving } from './prover.ts'
import { type Asked, Request, tooLarge } from './request.ts'
import { endCode, type EndReason } from './states.ts'
import { TouchLog } from './touch-log.ts'
import { Unfinished } from './unfinished.ts'
import { Uplink } from './uplink.ts'
import type { Watching } from './watching.ts'

/**
 * What ZooKeeper calls a session: it outlives connections, owns ephemeral nodes and watches, and ends once. After its
 * end the client has another.
 */
export class Session {
  readonly #machine: SessionMachine
  readonly #runtime: Runtime
  readonly #listener: SessionListener
  /** @internal */ readonly insight: Insight
  readonly #maxRequestSize: number
  readonly #uplink: Uplink
  readonly #alarm: Alarm
  readonly #prover: Prover | undefined
  readonly #ended = new AbortController()
  readonly #detaching = new AbortController()
  readonly #unfinished = new Unfinished()
  /** Those who wait for the end. */
  readonly #closing: (() => void)[] = []
  /** Of the requests that came with a signal: how to listen to it no more. */
  readonly #unlisten = new Map<Request, () => void>()
  #connection: OwnConnection | undefined
  #wasConnected = false
  /** When the last ConnectRequest was sent. */
  #handshake: Moment
  #oddities = 0
  /** By the last look at the clock. */
  #time = 0
  #flushing = false
  readonly #outputs = new InOrder<Output>((output) => this.#perform(output))

  /** @internal */
  constructor(config: SessionConfig & DriverConfig, runtime: Runtime, listener: SessionListener) {
    this.#machine = new SessionMachine({ ...config, usesSasl: config.sasl !== undefined })
    this.#prover = config.sasl && new Prover(config.sasl, runtime)
    this.#maxRequestSize = config.limits.maxRequestSize
    this.#uplink = new Uplink(runtime, config.tls)
    this.#runtime = runtime
    this.#listener = listener
    this.insight = listener.insight
    this.#handshake = momentOf(runtime)
    this.#alarm = new Alarm(
      runtime,
      () => this.#run(this.#machine.elapse(this.#now())),
      (ms) => this.insight.late(ms),
    )
    this.#setAlarm()
  }

  /**
   * The id ZooKeeper gave it; 0 until then. It is the `ephemeralOwner` of its ephemeral nodes. One that began at a
   * read-only server has another at each connection, until a server that takes writes has given it one for good.
   */
  get id(): bigint {
    return this.#machine.identity.id
  }

  /** The negotiated session timeout in ms; the one asked for until there is one. */
  get timeout(): number {
    return this.#machine.identity.timeout
  }

  /**
   * The smallest timeout it ever had, in ms: a server that it reconnects to may give it another, and a new leader goes back to
   * the first (SessionTrackerImpl takes it from the transaction that created the session). 0 where it is not known: the
   * session was resumed with credentials that do not say it.
   */
  get shortestTimeout(): number {
    return this.#machine.identity.shortestTimeout
  }

  /** Aborts when the session ends or is closed; its reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Aborts when the session is about to be left, by `detach`; its reason is a `KeeperError` `Closed`. Who listens may still make
   * calls, and says with `waitUntil` for how long.
   */
  get detaching(): AbortSignal {
    return this.#detaching.signal
  }

  /**
   * A `detach` waits until this has settled, for half a session timeout at most: for work of several calls, such as a create
   * whose node is to be deleted again. `close` does not wait: it ends the session, and all that belongs to it.
   */
  waitUntil(work: Promise<unknown>): void {
    this.#unfinished.add(work)
  }

  /** @internal There is nothing more to come of it. */
  get isOver(): boolean {
    return this.#machine.state.name === 'ended'
  }

  /** The connection it has now; undefined while it is looking for a server, and after its end. */
  get connection(): Connection | undefined {
    return this.#connection
  }

  /**
   * How many things the protocol does not foresee were survived: events of unknown type, events nobody waits for. The
   * diagnostics channel `zk:oddity` says what they were.
   */
  get oddities(): number {
    return this.#oddities
  }

  /** @internal */
  get attempts(): readonly ConnectAttempt[] {
    return this.#machine.hosts.attempts
  }

  /** @internal What waits and flies now. */
  get flow(): Flow {
    return this.#machine.exchange.flow
  }

  /** @internal Queues a request, before it returns. */
  call(asked: Asked, waiting: Waiting): Promise<unknown> {
    return this.#promise(asked, waiting, (request) => this.#machine.submit(request))
  }

  /** @internal Sends a credential now, and first on every later connection. */
  authenticate(credential: Credential, asked: Asked, waiting: Waiting): Promise<unknown> {
    return this.#promise(asked, waiting, (request) => this.#machine.authenticate(credential, request))
  }

  /** @internal Who waits for what to happen at the nodes. */
  get watching(): Watching {
    return this.#machine.exchange.watching
  }

  /** @internal This watcher is not to be told any more; the server hears of it. */
  unsubscribe(watcher: PersistentWatcher): void {
    this.#machine.exchange.watching.unsubscribe(watcher)
    this.#run([])
  }

  /** @internal */
  updateServers(servers: readonly ServerAddress[]): void {
    this.#run(this.#machine.updateServers(servers, this.#now()))
  }

  /** @internal */
  get detached(): DetachedSession | undefined {
    const { identity, exchange } = this.#machine
    return identity.detached(exchange.lastZxid, exchange.lastXid)
  }

  /** @internal Resolves when the session is left: at the latest after T/2. Rejects when it has ended before. */
  async detach(): Promise<void> {
    const longest = deadlines.close({ T: this.timeout, servers: 1 })
    const by = this.#now() + longest
    this.#detaching.abort(new KeeperError('Closed', { sessionId: this.id }))
    if (!this.#unfinished.isEmpty) await this.#unfinished.settled(this.#runtime, longest)
    this.signal.throwIfAborted()
    await this.close(lastRequest(), by)
  }

  /** @internal Resolves when the session has ended or, with another `last` request, is left: at the latest `by`, or after T/2. */
  close(last?: Request, by?: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#machine.state.name === 'ended') return resolve()
      this.#closing.push(resolve)
      this.#run(this.#machine.close(this.#now(), last, by))
      // Whoever relies on the session hears of it now: servers act on a close before its answer is here, if it ever is.
      this.#ended.abort(new KeeperError('Closed', { sessionId: this.id }))
    })
  }

  #promise(asked: Asked, waiting: Waiting, submit: (request: Request) => Output[]): Promise<unknown> {
    const { signal, timeout = deadlines.request({ T: this.timeout, servers: 1 }), repeatThrottled } = waiting
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const calledAt = this.#now()
      const request = new Request(asked, { resolve, reject, calledAt, expiresAt: calledAt + timeout, repeatThrottled })
      if (request.size > this.#maxRequestSize) return reject(tooLarge(request, this.#maxRequestSize))
      const abandon = (reason: unknown) => this.#abandon(request, reason)
      if (signal !== undefined) this.#unlisten.set(request, onAbort(signal, abandon))
      this.insight.called(request, this)
      // Who was told of it may have aborted it.
      if (request.phase.name === 'unsent') this.#run(submit(request))
    })
  }

  #abandon(request: Request, reason: unknown): void {
    this.#unlisten.delete(request)
    if (this.#machine.abandon(request)) {
      this.insight.aborted(request, this, this.#now(), reason)
      request.reject(reason)
    }
    // What it leaves behind, a watch at the server for one, may call for a request of ours.
    this.#run([])
  }

  // --- doing what the machine says ------------------------------------------------------------------------------

  #run(outputs: readonly Output[]): void {
    // Who is told of something may call for more.
    if (!this.#outputs.do(outputs)) return
    this.#flushSoon()
    this.#setAlarm()
  }

  #perform(output: Output): void {
    switch (output.type) {
      case 'resolve':
        this.#forgetSignal(output.request)
        this.insight.resolved(output.request, this, this.#time)
        return output.request.resolve(output.value)
      case 'reject':
        this.#forgetSignal(output.request)
        this.insight.rejected(output.request, this, this.#time, output.error)
        return output.request.reject(output.error)
      case 'notify':
        this.insight.notified(output.watcher, output.outcome, this)
        return output.watcher.notify(output.outcome)
      case 'tell':
        this.insight.notified(output.watcher, output.outcome, this)
        return output.watcher.notify(output.outcome)
      case 'throttled':
        return this.insight.throttled(output.request, this)
      case 'unreached':
        return this.insight.unreached(output, this, this.#time)
      case 'lookUp':
        return this.#lookUp(output.server)
      case 'dial':
        return this.#dial(output.target)
      case 'saslStart':
      case 'saslChallenge':
        return void this.#prove(this.#prover!, output)
      case 'hangUp':
        return this.#uplink.hangUp()
      case 'connected': {
        const isFirst = !this.#wasConnected
        this.#wasConnected = true
        this.#connection = newConnection(output, new TouchLog(this.#handshake, this.timeout))
        this.insight.connected(this.#connection, this, this.#time, isFirst)
        return this.#listener.connected()
      }
      case 'disconnected': {
        const connection = this.#connection
        this.#connection = undefined
        this.#uplink.endProbe()
        this.insight.lost(output.error, connection?.server, this, this.#time)
        return connection?.lose(output.error)
      }
      case 'probe':
        return this.#uplink.probe(output.server, output.lot, (answer, asked) =>
          this.#run(this.#machine.probed(answer, asked, this.#now())),
        )
      case 'endProbe':
        return this.#uplink.endProbe()
      case 'ended':
        return this.#end(output.reason)
      case 'oddity':
        this.#oddities++
        return this.insight.oddity(output.what, this)
    }
  }

  #lookUp(server: ServerAddress): void {
    if (this.#runtime.resolve === undefined) return this.#dial(server)
    this.insight.lookingUp(this.#time)
    this.#uplink.lookUp(server, {
      found: (addresses) => this.#run(this.#machine.resolved(addresses, this.#now())),
      failed: (error) => this.#run(this.#machine.lost(error, this.#now())),
    })
  }

  #dial(target: Target): void {
    this.insight.dialing(formatServer(target), this, this.#time)
    // Who was told of it may have ended the attempt.
    if (this.#machine.state.name !== 'dialing') return
    this.#uplink.dial(target, {
      opened: () => this.#run(this.#machine.opened()),
      received: (bytes) => this.#run(this.#received(bytes, this.#now())),
      drained: () => this.#run([]),
      lost: (error) => this.#run(this.#machine.lost(error, this.#now())),
    })
  }

  async #prove(prover: Prover, output: Proving): Promise<void> {
    const { connection } = this.#uplink
    let tell: (now: number) => Output[]
    try {
      const token = await prover.token(output)
      tell = (now) => this.#machine.prove(token, now)
    } catch (error) {
      tell = (now) => this.#machine.unproved(prover.failure(error), now)
    }
    // It may have taken so long that this is another connection.
    if (this.#uplink.connection === connection) this.#run(tell(this.#now()))
  }

  #received(bytes: Uint8Array, now: number): Output[] {
    this.insight.received(bytes, this, now)
    const outputs = this.#machine.received(bytes, now)
    this.#connection?.touches.answered(this.#machine.answeredBefore, now)
    return outputs
  }

  #end(reason: EndReason): void {
    this.#alarm.stop()
    this.insight.ended(reason, this)
    // First the client, so that whoever is told finds its next session.
    this.#listener.ended(reason)
    this.#ended.abort(new KeeperError(endCode[reason], { sessionId: this.id }))
    for (const resolve of this.#closing) resolve()
  }

  #forgetSignal(request: Request): void {
    this.#unlisten.get(request)?.()
    this.#unlisten.delete(request)
  }

  /** Once a microtask, so that all requests of one turn leave in one segment. */
  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      this.#flush()
      this.#setAlarm()
    })
  }

  #flush(): void {
    while (this.#uplink.isWritable) {
      const now = this.#now()
      const before = this.#machine.touchesSent
      const bytes = this.#machine.transmit(now)
      if (bytes === undefined) return
      this.#noteSending(now, this.#machine.touchesSent - before)
      // First the socket: who is told of it may end the connection.
      this.#uplink.write(bytes)
      this.insight.sent(bytes, this)
    }
  }

  #noteSending(now: number, touches: number): void {
    const log = this.#connection?.touches
    if (this.#machine.state.name === 'handshaking') this.#handshake = momentOf(this.#runtime, now)
    else if (touches > 0 && log?.wants(now) === true) log.sent(momentOf(this.#runtime, now), touches)
  }

  #setAlarm(): void {
    this.#alarm.set(this.#machine.deadline())
  }

  #now(): number {
    this.#time = this.#runtime.now()
    return this.#time
  }
}
