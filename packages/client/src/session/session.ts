// Drives a SessionMachine: owns its socket and its one timer, and does what it says.
import { onAbort } from '../aborts.ts'
import { reportOddity } from '../diagnostics.ts'
import { type ConnectAttempt, KeeperError } from '../errors.ts'
import { type Moment, momentOf } from '../moment.ts'
import type { Connection as Socket, Runtime } from '../runtime/runtime.ts'
import type { Credential } from './auths.ts'
import type { SessionConfig } from './config.ts'
import { type Connection, newConnection, type OwnConnection } from './connection.ts'
import { deadlines } from './deadlines.ts'
import { SessionMachine } from './machine.ts'
import type { Output } from './output.ts'
import type { PersistentWatcher } from './persistent.ts'
import { Request, type RequestInit, tooLarge } from './request.ts'
import { endCode, type EndReason } from './states.ts'
import { Touches } from './touches.ts'
import type { Watching } from './watching.ts'

/** What the session does beyond its own calls; the client listens. */
export interface SessionListener {
  connected(): void
  ended(reason: EndReason): void
}

/** How a call waits. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined
  /** ms from now. */
  readonly timeout?: number | undefined
}

type Asked = Omit<RequestInit, 'resolve' | 'reject' | 'expiresAt'>

/**
 * What ZooKeeper calls a session: it outlives connections, owns ephemeral nodes and watches, and ends once. After its
 * end the client has another.
 */
export class Session {
  readonly #machine: SessionMachine
  readonly #runtime: Runtime
  readonly #listener: SessionListener
  readonly #maxRequestSize: number
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
  #writable = true
  #flushing = false
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  /** @internal */
  constructor(config: SessionConfig & { maxRequestSize: number }, runtime: Runtime, listener: SessionListener) {
    this.#machine = new SessionMachine(config)
    this.#maxRequestSize = config.maxRequestSize
    this.#runtime = runtime
    this.#listener = listener
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
      this.#run(this.#machine.close(this.#runtime.now()))
      // Whoever relies on the session hears of it now: servers act on a close before its answer is here, if it ever is.
      this.#ended.abort(new KeeperError('Closed', { sessionId: this.id }))
    })
  }

  #promise(asked: Asked, waiting: Waiting, submit: (request: Request) => Output[]): Promise<unknown> {
    const { signal, timeout = deadlines.request({ T: this.timeout, servers: 1 }) } = waiting
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const expiresAt = this.#runtime.now() + timeout
      const request = new Request({ ...asked, resolve, reject, expiresAt })
      if (request.size > this.#maxRequestSize) return reject(tooLarge(request, this.#maxRequestSize))
      if (signal !== undefined) {
        const abandon = (reason: unknown) => this.#abandon(request, reason)
        this.#unlisten.set(request, onAbort(signal, abandon))
      }
      this.#run(submit(request))
    })
  }

  #abandon(request: Request, reason: unknown): void {
    this.#unlisten.delete(request)
    if (this.#machine.abandon(request)) request.reject(reason)
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
        return output.request.resolve(output.value)
      case 'reject':
        this.#forgetSignal(output.request)
        return output.request.reject(output.error)
      case 'notify':
        return output.watcher.notify(output.outcome)
      case 'tell':
        return output.watcher.notify(output.outcome)
      case 'throttled':
        return
      case 'dial':
        return this.#dial(output.server)
      case 'hangUp':
        this.#socket?.close()
        this.#socket = undefined
        return
      case 'connected':
        this.#shortestTimeout = this.shortestTimeout
        this.#connection = newConnection(output.server, new Touches(this.#handshake, this.timeout))
        return this.#listener.connected()
      case 'disconnected': {
        const connection = this.#connection
        this.#connection = undefined
        return connection?.lose(output.error)
      }
      case 'ended':
        return this.#end(output.reason)
      case 'oddity':
        this.#oddities++
        return reportOddity(output.what, this.#connection?.server, this.id)
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
      return this.#machine.lost(error, this.#runtime.now())
    }
    this.#writable = true
    try {
      socket = this.#runtime.dial(server, {
        opened: () => mine(() => this.#machine.opened()),
        received: (bytes) => mine(() => this.#received(bytes, this.#runtime.now())),
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

  #received(bytes: Uint8Array, now: number): Output[] {
    const outputs = this.#machine.received(bytes, now)
    this.#connection?.touches.answered(this.#machine.answeredBefore, now)
    return outputs
  }

  #end(reason: EndReason): void {
    this.#timer?.cancel()
    this.#timer = undefined
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
      const now = this.#runtime.now()
      const bytes = this.#machine.transmit(now)
      if (bytes === undefined) return
      this.#noteSending(now)
      this.#writable = this.#socket.write(bytes)
    }
  }

  #noteSending(now: number): void {
    const touches = this.#connection?.touches
    if (touches === undefined) this.#handshake = { now, wallNow: this.#runtime.wallNow() }
    else if (touches.wants(now)) touches.sent({ now, wallNow: this.#runtime.wallNow() })
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
    this.#timer = { at: -Infinity, cancel: this.#runtime.setTimer(0, () => this.#elapse()) }
  }

  #elapse(): void {
    this.#timer = undefined
    this.#run(this.#machine.elapse(this.#runtime.now()))
  }
}
