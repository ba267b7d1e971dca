// Drives a SessionMachine: owns its socket and its one timer, and does what it says.
import { formatServer } from '@zk/wire'
import { onAbort } from '../aborts.ts'
import { type ConnectAttempt, KeeperError } from '../errors.ts'
import type { Insight } from '../insight.ts'
import { type Moment, momentOf } from '../moment.ts'
import type { Connection as Socket, Runtime } from '../runtime/runtime.ts'
import type { TlsSource } from '../tls.ts'
import type { Credential } from './auths.ts'
import type { DriverConfig, SessionListener, Waiting } from './client-side.ts'
import type { SessionConfig } from './config.ts'
import { type Connection, newConnection, type OwnConnection } from './connection.ts'
import { deadlines } from './deadlines.ts'
import { dialWith } from './dialer.ts'
import type { Flow } from './flow.ts'
import { SessionMachine } from './machine.ts'
import type { Output } from './output.ts'
import type { PersistentWatcher } from './persistent.ts'
import { Prover, type Proving } from './prover.ts'
import { type Call, Request, type RequestInit, tooLarge } from './request.ts'
import { endCode, type EndReason } from './states.ts'
import { Touches } from './touches.ts'
import type { Watching } from './watching.ts'

type Asked = Omit<RequestInit, keyof Call>

/**
 * What ZooKeeper calls a session: it outlives connections, owns ephemeral nodes and watches, and ends once. After its
 * end the client has another.
 */
export class Session {
  readonly #machine: SessionMachine
  readonly #runtime: Runtime
  readonly #listener: SessionListener
  readonly #insight: Insight
  readonly #maxRequestSize: number
  readonly #tls: TlsSource | undefined
  readonly #prover: Prover | undefined
  readonly #ended = new AbortController()
  /** Those who wait for the end. */
  readonly #closing: (() => void)[] = []
  /** Of the requests that came with a signal: how to listen to it no more. */
  readonly #unlisten = new Map<Request, () => void>()
  #connection: OwnConnection | undefined
  #shortestTimeout = Infinity
  /** When the last ConnectRequest was sent. */
  #handshake: Moment
  #socket: Socket | undefined
  #oddities = 0
  /** By the last look at the clock. */
  #time = 0
  #writable = true
  #flushing = false
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  /** @internal */
  constructor(config: SessionConfig & DriverConfig, runtime: Runtime, listener: SessionListener) {
    const { sasl } = config
    this.#machine = new SessionMachine({ ...config, usesSasl: sasl !== undefined })
    this.#prover = sasl && new Prover(sasl, runtime)
    this.#maxRequestSize = config.maxRequestSize
    this.#tls = config.tls
    this.#runtime = runtime
    this.#listener = listener
    this.#insight = listener.insight
    this.#handshake = momentOf(runtime)
    this.#arm()
  }

  /** The id ZooKeeper gave it; 0 until then. It is the `ephemeralOwner` of its ephemeral nodes. */
  get id(): bigint {
    return this.#machine.id
  }

  /** The negotiated session timeout in ms; the one asked for until there is one. */
  get timeout(): number {
    return this.#machine.timeout
  }

  /** The smallest timeout it ever had, in ms: a server that it reconnects to may give it another. */
  get shortestTimeout(): number {
    return Math.min(this.#shortestTimeout, this.timeout)
  }

  /** Aborts when the session ends or is closed; its reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  get signal(): AbortSignal {
    return this.#ended.signal
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
    return this.#machine.attempts
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

  /** @internal Resolves when the session has ended: at the latest after T/2. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#machine.state.name === 'ended') return resolve()
      this.#closing.push(resolve)
      this.#run(this.#machine.close(this.#now()))
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
      if (signal !== undefined) {
        const abandon = (reason: unknown) => this.#abandon(request, reason)
        this.#unlisten.set(request, onAbort(signal, abandon))
      }
      this.#insight.called(request, this)
      this.#run(submit(request))
    })
  }

  #abandon(request: Request, reason: unknown): void {
    this.#unlisten.delete(request)
    if (this.#machine.abandon(request)) {
      this.#insight.aborted(request, this, this.#now(), reason)
      request.reject(reason)
    }
    // What it leaves behind, a watch at the server for one, may call for a request of ours.
    this.#run([])
  }

  // --- doing what the machine says ------------------------------------------------------------------------------

  #run(outputs: readonly Output[]): void {
    for (const output of outputs) this.#perform(output)
    this.#flushSoon()
    this.#arm()
  }

  #perform(output: Output): void {
    switch (output.type) {
      case 'resolve':
        this.#forgetSignal(output.request)
        this.#insight.resolved(output.request, this, this.#time)
        return output.request.resolve(output.value)
      case 'reject':
        this.#forgetSignal(output.request)
        this.#insight.rejected(output.request, this, this.#time, output.error)
        return output.request.reject(output.error)
      case 'notify':
        this.#insight.notified(output, this)
        return output.watcher.notify(output.outcome)
      case 'tell':
        this.#insight.notified(output, this)
        return output.watcher.notify(output.outcome)
      case 'throttled':
        return this.#insight.throttled(output.request, this)
      case 'unreached':
        return this.#insight.unreached(output, this, this.#time)
      case 'dial':
        return this.#dial(output.server)
      case 'saslStart':
      case 'saslChallenge':
        return void this.#prove(this.#prover!, output)
      case 'hangUp':
        this.#socket?.close()
        this.#socket = undefined
        return
      case 'connected': {
        const isFirst = this.#shortestTimeout === Infinity
        this.#shortestTimeout = this.shortestTimeout
        this.#connection = newConnection(output.server, new Touches(this.#handshake, this.timeout))
        this.#insight.connected(output.server, this, this.#time, isFirst)
        return this.#listener.connected()
      }
      case 'disconnected': {
        const connection = this.#connection
        this.#connection = undefined
        this.#insight.lost(output.error, connection?.server, this, this.#time)
        return connection?.lose(output.error)
      }
      case 'ended':
        return this.#end(output.reason)
      case 'oddity':
        this.#oddities++
        return this.#insight.oddity(output.what, this)
    }
  }

  #dial(server: { host: string; port: number }): void {
    let socket: Socket | undefined
    const mine = (tell: () => Output[]) => {
      // A socket that was hung up may still have had something to say.
      if (this.#socket === socket) this.#run(tell())
    }
    const lost = (error: Error) => {
      this.#socket = undefined
      return this.#machine.lost(error, this.#now())
    }
    this.#writable = true
    this.#insight.dialing(formatServer(server), this, this.#time)
    try {
      socket = dialWith(this.#runtime, this.#tls, server, {
        opened: () => mine(() => this.#machine.opened()),
        received: (bytes) => mine(() => this.#received(bytes, this.#now())),
        drained: () =>
          mine(() => {
            this.#writable = true
            return []
          }),
        lost: (error) => mine(() => lost(error)),
      })
      this.#socket = socket
    } catch (error) {
      // A runtime that cannot even try has failed as one that tried.
      this.#run(lost(error as Error))
    }
  }

  async #prove(prover: Prover, output: Proving): Promise<void> {
    const socket = this.#socket
    let tell: (now: number) => Output[]
    try {
      const token = await prover.token(output)
      tell = (now) => this.#machine.prove(token, now)
    } catch (error) {
      tell = (now) => this.#machine.unproved(prover.failure(error), now)
    }
    // It may have taken so long that this is another connection.
    if (this.#socket === socket) this.#run(tell(this.#now()))
  }

  #received(bytes: Uint8Array, now: number): Output[] {
    this.#insight.received(bytes, this, now)
    const outputs = this.#machine.received(bytes, now)
    this.#connection?.touches.answered(this.#machine.answeredBefore, now)
    return outputs
  }

  #end(reason: EndReason): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#insight.ended(reason, this)
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
      this.#arm()
    })
  }

  #flush(): void {
    while (this.#writable && this.#socket !== undefined) {
      const now = this.#now()
      const isHandshake = this.#machine.state.name === 'handshaking'
      const bytes = this.#machine.transmit(now)
      if (bytes === undefined) return
      this.#noteSending(now, isHandshake)
      this.#insight.sent(bytes, this)
      this.#writable = this.#socket.write(bytes)
    }
  }

  #noteSending(now: number, isHandshake: boolean): void {
    const touches = this.#connection?.touches
    if (isHandshake) this.#handshake = { now, wallNow: this.#runtime.wallNow() }
    else if (touches?.wants(now)) touches.sent({ now, wallNow: this.#runtime.wallNow() })
  }

  /** Sees to it that a timer is set for the deadline, or for an earlier moment: then it looks again. */
  #arm(): void {
    const at = this.#machine.deadline()
    if (this.#timer !== undefined && this.#timer.at <= at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Infinity) return
    this.#timer = { at, cancel: this.#runtime.setTimer(at - this.#runtime.now(), () => this.#awake()) }
  }

  /** After a stall timers fire before sockets are read: what has arrived is heard before time is held against it. */
  #awake(): void {
    if (this.#timer !== undefined) this.#insight.late(this.#now() - this.#timer.at)
    this.#timer = { at: -Infinity, cancel: this.#runtime.setTimer(0, () => this.#elapse()) }
  }

  #elapse(): void {
    this.#timer = undefined
    this.#run(this.#machine.elapse(this.#now()))
  }

  #now(): number {
    this.#time = this.#runtime.now()
    return this.#time
  }
}
