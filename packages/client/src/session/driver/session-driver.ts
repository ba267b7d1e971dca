// Drives a SessionMachine: owns its connection and its one timer, and performs its outputs.
import { formatServer, type ServerAddress, type WatcherType, Writer } from '@zk/wire'
import { LazyAbortController, onAbort } from '../../base/aborts.ts'
import { expectedBy } from '../../operations/call-options.ts'
import { type ConnectAttempt, KeeperError, type KeeperErrorCode, type KeeperErrorDetails } from '../../base/errors.ts'
import { hex } from '../../base/hex.ts'
import { inspected } from '../../base/inspected.ts'
import type { Chroot } from '../../base/chroot.ts'
import type { ErrorReply } from '../../operations/error-reply.ts'
import { type ErrorContext, type Operation, type WireOperation, wireOf } from '../../operations/operation.ts'
import { type Timestamp, timestamp } from '../../runtime/timestamp.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type Fired, Timer } from './timer.ts'
import type { CallOutcome, ClientEvent, ClientEvents } from '../client-event.ts'
import type { DriverConfig, SessionListener, CallLimits } from './session-listener.ts'
import type { SessionConfig } from '../protocol/config.ts'
import type { Session } from '../../operations/session.ts'
import { reasonOf, throwIfAborted } from '../../base/signals.ts'
import type { SessionInternals } from '../session-internals.ts'
import { newConnection, type OwnConnection } from './connection.ts'
import { deadlines } from '../protocol/deadlines.ts'
import type { DetachedSession } from '../protocol/detached-session.ts'
import { type Flow, SEGMENT_SIZE } from '../requests/flow.ts'
import type { ListSource } from '../servers/server-lists.ts'
import type { Target } from '../servers/server-picker.ts'
import { SerialExecutor } from './serial-executor.ts'
import { SessionMachine } from '../protocol/session-machine.ts'
import type { Output } from '../protocol/output.ts'
import { lastRequest } from '../requests/internal-requests.ts'
import type { OneShotWatcher, PersistentWatcher } from '../watches/watchers.ts'
import { SaslClient, type SaslStep } from './sasl-client.ts'
import { type Effect, NO_EFFECT, Request, settlementOf, tooLarge } from '../requests/request.ts'
import { endCode } from '../protocol/states.ts'
import { TouchLog } from '../protocol/touch-log.ts'
import { PendingWork } from './pending-work.ts'
import { ServerLink } from './server-link.ts'

/** Frames share pieces of memory of this size, in bytes. A piece is freed when the last request in it is answered. */
const FRAME_MEMORY = 16 * 1024
/** The first piece grows: a short session sends little. */
const FIRST_FRAME_MEMORY = 1024

/**
 * If a timer is late, or the wall clock jumps, by this fraction of the session timeout, leases are in danger: a lease lasts only
 * a few times as long.
 */
const STALLED = 1 / 10
/**
 * The shortest session timeout that servers grant by default, in ms: two ticks of 2 s (minSessionTimeout). The requested one
 * may be much shorter.
 */
const SHORTEST_GRANT = 4_000

const SUCCEEDED: CallOutcome = { code: 'Ok', failure: undefined }

export class SessionDriver implements SessionInternals {
  readonly #machine: SessionMachine
  readonly #runtime: Runtime
  readonly #listener: SessionListener
  readonly #events: ClientEvents
  readonly #maxRequestSize: number
  readonly #isLast: boolean | undefined
  readonly #link: ServerLink
  readonly #timer: Timer
  readonly #saslClient: SaslClient | undefined
  readonly #ended = new LazyAbortController()
  readonly #detaching = new LazyAbortController()
  readonly #pendingWork = new PendingWork()
  /** Resolve the calls of `close` that wait for the end of the session. */
  readonly #closeCalls: (() => void)[] = []
  /** Calls that wait until everything sent by a time is answered. */
  #touching: readonly { readonly sent: number; readonly resolve: () => void }[] = []
  /** New requests write their frames here. */
  #frames = new Writer(FIRST_FRAME_MEMORY)
  /** The bytes of all earlier pieces of memory. */
  #frameBytesTaken = 0
  #connection: OwnConnection | undefined
  /** The session timeout on the last connection; undefined before the first one. */
  #granted: number | undefined
  /** When the current attempt, or connection, began. */
  #since = 0
  /** When a server last sent something. */
  #receivedAt: number | undefined
  #wasEndedByServer = false
  /** When the last ConnectRequest was sent. */
  #handshakeSentAt: Timestamp
  #anomalies = 0
  /** The time at the last read of the clock. */
  #time = 0
  #flushing = false
  readonly #outputs = new SerialExecutor<Output>((output) => this.#perform(output))

  constructor(config: SessionConfig & DriverConfig, runtime: Runtime, listener: SessionListener) {
    this.#machine = new SessionMachine(config)
    this.#saslClient = config.sasl && new SaslClient(config.sasl, runtime)
    this.#maxRequestSize = config.limits.maxRequestSize
    this.#isLast = config.isLast
    this.#link = new ServerLink(runtime, config.tls)
    this.#runtime = runtime
    this.#listener = listener
    this.#events = listener.events
    this.#handshakeSentAt = timestamp(runtime)
    this.#timer = new Timer(
      runtime,
      () => this.#run(this.#machine.elapse(this.#now())),
      (fired) => this.#timerFired(fired),
    )
    // The first attempt does not wait for a timer, which would take longer than the handshake with a nearby server.
    if (config.startAt <= runtime.now()) queueMicrotask(() => this.#run(this.#machine.elapse(this.#now())))
    else this.#setTimer()
  }

  /** The text for `util.inspect` and `console.log`. It has no secrets. */
  [inspected](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `Session ${inspect(this.toJSON(), options)}`
  }

  /** For logs. */
  toJSON(): object {
    const { timeout, connection } = this
    return { id: hex(this.id), timeout, server: connection?.server }
  }

  get id(): bigint {
    return this.#machine.identity.id
  }

  get timeout(): number {
    return this.#machine.identity.timeout
  }

  get shortestTimeout(): number {
    return this.#machine.identity.shortestTimeout
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  get detaching(): AbortSignal {
    return this.#detaching.signal
  }

  waitUntil(work: Promise<unknown>): void {
    this.#pendingWork.add(work)
  }

  /** The same object in all sessions of a client. */
  get client(): object {
    return this.#events
  }

  /** Whether the session has ended although no server has said so. */
  get mayLiveOn(): boolean {
    return this.isOver && !this.#wasEndedByServer
  }

  /** Whether the session has ended. */
  get isOver(): boolean {
    return this.#machine.state.name === 'ended'
  }

  get connection(): OwnConnection | undefined {
    return this.#connection
  }

  /**
   * Touches the session twice, by a heartbeat that is sent as soon as all earlier requests are answered. Resolves when the server
   * has answered it, or when the connection is lost. A lease can be counted from then.
   */
  async touch(): Promise<void> {
    await this.#allAnswered()
    this.#run(this.#machine.touch(this.#now()))
    await this.#allAnswered()
  }

  /** The fields of an error that is made here. */
  get errorContext(): ErrorContext {
    return this.#machine.errorContext
  }

  get anomalies(): number {
    return this.#anomalies
  }

  /** ms since a server last sent something; undefined if none has. */
  get sinceReceived(): number | undefined {
    return this.#receivedAt === undefined ? undefined : this.#runtime.now() - this.#receivedAt
  }

  get attempts(): readonly ConnectAttempt[] {
    return this.#machine.servers.attempts
  }

  /** How much is queued and in flight now. */
  get flow(): Flow {
    return this.#machine.pipeline.flow
  }

  /** Makes a request, and queues it at once. Settles with the result of the request. Throws for invalid arguments. */
  call<Args extends readonly unknown[], W extends WireOperation, Result>(
    operation: Operation<Args, W, Result>,
    chroot: Chroot,
    args: Args,
    waiting: CallLimits,
    effect: Effect = NO_EFFECT,
  ): Promise<Exclude<Result, ErrorReply>> {
    const { signal, timeout = deadlines.request({ T: this.timeout, servers: 1 }) } = waiting
    const record = operation.encode(chroot, ...args)
    if (signal?.aborted) return Promise.reject(reasonOf(signal))
    const request = new Request(operation, wireOf(operation, args), record, this.#writer())
    const [path] = args
    if (typeof path === 'string') request.path = path
    request.chroot = chroot
    request.effect = effect
    request.expected = expectedBy(waiting)
    request.repeatThrottled = waiting.repeatThrottled ?? true
    request.isOwn = waiting.isOwn ?? false
    const calledAt = this.#now()
    request.calledAt = calledAt
    request.expiresAt = calledAt + timeout
    if (request.size > this.#maxRequestSize) return Promise.reject(tooLarge(request, this.#maxRequestSize))
    const settled = settlementOf(request) as Promise<Exclude<Result, ErrorReply>>
    if (signal !== undefined) this.#abandonOnAbort(request, signal)
    const outputs = this.#machine.submit(request)
    // The request is already queued, so calls that diagnostics subscribers make come after it.
    this.#events.called(request, this)
    this.#run(outputs)
    return settled
  }

  /**
   * Removes a one-shot watcher. Returns what removeWatches must remove from the server, if anything. `notifyTaken` must follow.
   */
  unwatch(watcher: OneShotWatcher): WatcherType | undefined {
    return this.#machine.pipeline.watches.unwatch(watcher)
  }

  /**
   * Removes the watchers of a path (the server's path) whose watches are of this type. False if there were none. `notifyTaken`
   * must follow.
   */
  takeWatchers(path: string, type: WatcherType): boolean {
    return this.#machine.pipeline.watches.take(path, type)
  }

  /** Notifies the watchers that `unwatch` and `takeWatchers` have removed. */
  notifyTaken(): void {
    this.#run(this.#machine.takeOutputs())
  }

  /** What removeWatches must remove from the server after the watchers of a path were removed; undefined for nothing. */
  removal(path: string, type: WatcherType): WatcherType | undefined {
    return this.#machine.pipeline.watches.removal(path, type)
  }

  /** Stops notifying this watcher. Removes the watch from the server unless another watcher needs it. */
  unsubscribe(watcher: PersistentWatcher): void {
    this.#machine.pipeline.watches.unsubscribe(watcher)
    this.#run(this.#machine.takeOutputs())
  }

  updateServers(servers: readonly ServerAddress[], source: ListSource): void {
    this.#run(this.#machine.updateServers(servers, source, this.#now()))
  }

  /** A look-up has found these addresses. */
  resolved(host: string, addresses: readonly string[]): void {
    this.#run(this.#machine.resolved(host, addresses, this.#now()))
  }

  /** A look-up has failed. */
  unresolved(host: string, error: Error): void {
    this.#run(this.#machine.unresolved(host, error, this.#now()))
  }

  get detached(): DetachedSession | undefined {
    const { identity, pipeline } = this.#machine
    return identity.detached(pipeline.lastZxid, pipeline.lastXid)
  }

  /** Leaves the session, which lives on. Resolves after T/2 at the latest. Rejects if the session has ended before. */
  async detach(): Promise<void> {
    const now = this.#now()
    const by = this.#machine.detach(now)
    this.#detaching.abort(() => new KeeperError('Closed', { sessionId: this.id }))
    if (!this.#pendingWork.isEmpty) await this.#pendingWork.settled(this.#runtime, by - now)
    throwIfAborted(this.signal)
    await this.close(lastRequest())
  }

  /**
   * Ends the session. Resolves after T/2 at the latest. `last` is the last request, closeSession by default. With any other
   * request the client only leaves the session, which lives on.
   */
  close(last?: Request): Promise<void> {
    return new Promise((resolve) => {
      if (this.#machine.state.name === 'ended') return resolve()
      this.#closeCalls.push(resolve)
      this.#run(this.#machine.close(this.#now(), last))
      // Code that relies on the session must stop now: servers execute a close before its answer arrives.
      this.#abort('Closed')
    })
  }

  #abandonOnAbort(request: Request, signal: AbortSignal): void {
    request.unlisten = onAbort(signal, (reason) => this.#abandon(request, reason))
  }

  #abandon(request: Request, reason: unknown): void {
    request.unlisten = undefined
    if (this.#machine.abandon(request)) {
      this.#now()
      this.#settled(request, { code: 'Aborted', failure: { error: reason } })
      request.reject(reason)
    }
    // `#run` also sends what is due now, such as the removal of the request's watch.
    this.#run([])
  }

  // --- performing the outputs of the machine --------------------------------------------------------------------

  #run(outputs: readonly Output[]): void {
    // Code that is called for an output may call this method again. Then the outer call performs these outputs, too.
    if (outputs.length > 0 && !this.#outputs.do(outputs)) return
    this.#flushSoon()
  }

  #perform(output: Output): void {
    switch (output.type) {
      case 'resolve':
        this.#forgetSignal(output.request)
        this.#settled(output.request, SUCCEEDED)
        return output.request.resolve(output.value)
      case 'reject':
        this.#forgetSignal(output.request)
        this.#rejected(output.request, output.error)
        return output.request.reject(output.error)
      case 'notify':
        this.#events.notified({ type: 'notified', session: this, watcher: output.watcher, outcome: output.outcome })
        return output.watcher.notify(output.outcome)
      case 'throttled':
        return this.#emit({ type: 'throttled', session: this, request: output.request })
      case 'unreached': {
        const isReconnecting = this.#granted !== undefined
        return this.#emit({ ...output, ...this.#interval(), session: this, isReconnecting })
      }
      case 'lookUp':
        if (this.#machine.state.name === 'resolving') this.#since = this.#time
        return this.#listener.lookUp(output.host)
      case 'dial':
        return this.#dial(output.target)
      case 'saslStart':
      case 'saslChallenge':
        return void this.#prove(this.#saslClient!, output)
      case 'hangUp':
        return this.#link.hangUp()
      case 'farewell':
        this.#link.part(output.bytes, deadlines.farewell())
        return this.#emit({ type: 'sent', session: this, bytes: output.bytes })
      case 'connected': {
        const { server, readOnly } = output
        const before = this.#granted
        this.#granted = this.timeout
        this.#since = this.#time
        // Leases use the shortest timeout. It is 0 if it is not known: then no lease is possible.
        const T = this.shortestTimeout === 0 ? this.timeout : this.shortestTimeout
        this.#connection = newConnection(output, new TouchLog(this.#handshakeSentAt, T))
        this.#emit({ type: 'connected', session: this, server, readOnly, before, at: this.#time })
        return this.#listener.connected()
      }
      case 'disconnected': {
        const connection = this.#connection
        this.#connection = undefined
        this.#settleTouching(Infinity)
        this.#link.endProbe()
        const reason = () => output.error ?? (this.signal.reason as Error)
        const { at, duration } = this.#interval()
        this.#emit({ type: 'lost', session: this, server: connection?.server, reason, duration, at })
        return connection?.lose(reason)
      }
      case 'probe':
        return this.#link.probe(output.target, output.question, (failure) =>
          this.#run(this.#machine.probed(failure, output.target, this.#now())),
        )
      case 'unproven':
        return this.#emit({ ...output, session: this })
      case 'endProbe':
        return this.#link.endProbe()
      case 'ended':
        return this.#end(output)
      case 'anomaly':
        this.#anomalies++
        return this.#emit({ ...output, session: this })
    }
  }

  // --- events ---------------------------------------------------------------------------------------------------

  #emit(event: ClientEvent): void {
    this.#events.emit(event)
  }

  #rejected(request: Request, error: Error): void {
    const code = KeeperError.is(error) ? error.code : 'Other'
    const isExpected = code !== 'Other' && request.expected?.includes(code) === true
    this.#settled(request, { code, failure: isExpected ? undefined : { error } })
  }

  #settled(request: Request, outcome: CallOutcome): void {
    const { calledAt } = request
    // Requests of the session itself have no caller.
    if (calledAt !== undefined) this.#events.settled(request, this, outcome, this.#time - calledAt)
  }

  #emitEnd({ reason, byServer, server, cause }: Extract<Output, { type: 'ended' }>): void {
    const sessionId = this.id === 0n ? undefined : this.id
    const error = reason === 'AuthFailed' ? new KeeperError('AuthFailed', { server, sessionId, cause }) : cause
    const { sinceReceived } = this
    this.#receivedAt = undefined
    this.#emit({ type: 'ended', session: this, reason, byServer, error, sinceReceived, at: this.#time })
  }

  #timerFired({ at, late, jump }: Fired): void {
    const least = STALLED * (this.#granted ?? Math.max(this.timeout, SHORTEST_GRANT))
    const [isStalled, hasJumped] = [late >= least, Math.abs(jump) >= least]
    this.#emit({ type: 'timer', session: this, late, isStalled, jump: hasJumped ? jump : undefined, at })
  }

  /** The end of the attempt or connection, and how long it has lasted. */
  #interval(): { readonly at: number; readonly duration: number } {
    return { at: this.#time, duration: this.#time - this.#since }
  }

  /** Resolves when everything sent by now is answered, or when the connection is lost. */
  #allAnswered(): Promise<void> {
    const sent = this.#now()
    if (this.#connection === undefined || this.#machine.answeredBefore > sent) return Promise.resolve()
    return new Promise((resolve) => (this.#touching = [...this.#touching, { sent, resolve }]))
  }

  #settleTouching(before: number): void {
    if (this.#touching.length === 0) return
    const settled = this.#touching.filter(({ sent }) => sent < before)
    this.#touching = this.#touching.filter(({ sent }) => sent >= before)
    for (const { resolve } of settled) resolve()
  }

  #dial(target: Target): void {
    this.#since = this.#time
    this.#emit({ type: 'dialing', session: this, server: formatServer(target) })
    // A subscriber of a diagnostics channel may have ended the attempt.
    if (this.#machine.state.name !== 'dialing') return
    this.#link.dial(target, {
      opened: () => this.#run(this.#machine.opened()),
      received: (bytes) => this.#run(this.#received(bytes, this.#now())),
      drained: () => this.#run([]),
      lost: (error) => this.#run(this.#machine.lost(error, this.#now())),
    })
  }

  async #prove(saslClient: SaslClient, output: SaslStep): Promise<void> {
    const { connection } = this.#link
    let report: (now: number) => readonly Output[]
    try {
      const token = await saslClient.token(output)
      report = (now) => this.#machine.prove(token, now)
    } catch (error) {
      report = (now) => this.#machine.unproved(saslClient.failure(error), now)
    }
    // If the connection was replaced meanwhile, the result of the mechanism is not for the new one.
    if (this.#link.connection === connection) this.#run(report(this.#now()))
  }

  #received(bytes: Uint8Array, now: number): readonly Output[] {
    this.#receivedAt = now
    this.#emit({ type: 'received', session: this, bytes })
    const outputs = this.#machine.received(bytes, now)
    this.#connection?.touches.answered(this.#machine.answeredBefore, now)
    this.#settleTouching(this.#machine.answeredBefore)
    return outputs
  }

  #end(ended: Extract<Output, { type: 'ended' }>): void {
    const { reason, byServer, server, cause } = ended
    this.#wasEndedByServer = byServer
    this.#timer.stop()
    this.#emitEnd(ended)
    // Before the signal aborts, the client opens its next session: listeners of the signal find it.
    this.#listener.ended(reason)
    this.#abort(endCode[reason], { server, cause, isLastSession: this.#isLast })
    for (const resolve of this.#closeCalls) resolve()
  }

  #abort(code: KeeperErrorCode, about: KeeperErrorDetails = {}): void {
    this.#ended.abort(() => new KeeperError(code, { sessionId: this.id, ...about }))
  }

  #forgetSignal(request: Request): void {
    request.unlisten?.()
    request.unlisten = undefined
  }

  /** The writer for the next frame. When its memory is full, a new writer is made: requests keep the memory of their frames. */
  #writer(): Writer {
    if (this.#frames.length >= FRAME_MEMORY) {
      this.#frameBytesTaken += this.#frames.memory.byteLength
      this.#frames = new Writer(FRAME_MEMORY)
    }
    return this.#frames
  }

  /** Sends all requests of a turn together, in a microtask. Then frees the memory of those that wait, and sets the timer. */
  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(this.#endTurn)
  }

  /** Sends what is due, and sets the timer. */
  readonly #endTurn = () => {
    this.#flushing = false
    this.#flush()
    this.#machine.pipeline.copyWaiting(this.#frameBytesTaken)
    this.#setTimer()
  }

  #flush(): void {
    while (this.#link.isWritable) {
      const now = this.#now()
      const before = this.#machine.touchesSent
      const bytes = this.#machine.transmit(now)
      if (bytes === undefined) return
      this.#noteSending(now, this.#machine.touchesSent - before)
      // The bytes are written first: a subscriber of a diagnostics channel may end the connection.
      this.#link.write(bytes)
      this.#emit({ type: 'sent', session: this, bytes })
      // `transmit` has more only if the segment has reached its limit.
      if (bytes.byteLength < SEGMENT_SIZE) return
    }
  }

  #noteSending(now: number, touches: number): void {
    const log = this.#connection?.touches
    if (this.#machine.state.name === 'handshaking') this.#handshakeSentAt = timestamp(this.#runtime, now)
    else if (touches > 0 && log?.wants(now) === true) log.sent(timestamp(this.#runtime, now), touches)
  }

  #setTimer(): void {
    this.#timer.set(this.#machine.deadline())
  }

  #now(): number {
    this.#time = this.#runtime.now()
    return this.#time
  }
}

/** The driver of a session that a caller passed. Throws a `TypeError` for any other value. */
export function driverOf(session: Session): SessionDriver {
  if (session instanceof SessionDriver) return session
  // A client makes its sessions itself, so a session of another copy of this package belongs to another client.
  const isForeign = typeof (session as Partial<SessionInternals> | null)?.waitUntil === 'function'
  const what = isForeign ? 'a session of this client, not of a client of another copy of @zk/client' : 'a Session'
  throw new TypeError(`session must be ${what}, such as zk.session`)
}
