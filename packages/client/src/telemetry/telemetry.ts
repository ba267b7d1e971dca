// Everything that a client reports: statistics, diagnostics channels, the log, the state of the client. The drivers of
// sessions call these methods. No decision of a session depends on them.
import { printable } from '@zk/wire'
import { type ClientState, type ClientStates, StateFeed } from './client-state.ts'
import { report, type RequestMessage, traceCall, traceSettled, tracesRequests } from './diagnostics.ts'
import { KeeperError, type KeeperErrorCode } from '../errors.ts'
import { hex } from '../hex.ts'
import type { ClientOptions } from '../options.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { FrameTrace } from './frame-trace.ts'
import { log, type Logger, type LogLevel } from './logger.ts'
import { Outage } from './outage.ts'
import type { Connection } from '../session.ts'
import type { Flow } from '../session/requests/flow.ts'
import type { Output } from '../session/protocol/output.ts'
import { endTrigger } from '../session/protocol/states.ts'
import type { Request } from '../session/requests/request.ts'
import { type ClientStats, Counters } from './stats.ts'
import { type Timestamp, timestamp } from '../timestamp.ts'

/** What messages show of a session. */
export interface SessionInfo {
  readonly id: bigint
  readonly timeout: number
  readonly connection: { readonly server: string } | undefined
  readonly isOver: boolean
}

type TelemetryOptions = Pick<ClientOptions, 'logger' | 'traceFrames' | 'sessionTimeout' | 'runtime'>

/** If the granted session timeout is at least this many times the requested one, the option was probably in seconds. */
const STRETCHED = 10
/**
 * If a timer is late, or the wall clock jumps, by this part of the session timeout, it is logged. Leases are a few such parts
 * long.
 */
const STALLED = 1 / 10
/**
 * The shortest session timeout that servers grant by default, in ms: two ticks of 2 s (minSessionTimeout). The requested one
 * may be much shorter.
 */
const SHORTEST_GRANT = 4_000

const EVERY_SERVER_CLOSES =
  'every server closes the connection: it is behind us, has no quorum, or is a proxy or balancer that reaches no server'

type Unproven = Extract<Output, { type: 'unproven' }>
type Unreached = Extract<Output, { type: 'unreached' }>
type Ended = Extract<Output, { type: 'ended' }>
type Outcome = Extract<Output, { type: 'notify' }>['outcome']

export class Telemetry {
  readonly #counters = new Counters()
  readonly #counts = this.#counters.counts
  readonly #logger: Logger
  readonly #tracesFrames: boolean
  readonly #askedTimeout: number
  readonly #runtime: Runtime
  readonly #states: StateFeed
  /** When the present attempt, or connection, began. */
  #since = 0
  /** The failures since the connection was lost. It has no meaning while there is a connection. */
  #outage: Outage
  /** The session timeout that a server last granted. */
  #granted: number | undefined
  /** When the timer last fired. */
  #timerAt: Timestamp
  #frames: { readonly sent: FrameTrace; readonly received: FrameTrace } | undefined
  #receivedAt: number | undefined
  /** The servers that closed the connection at the handshake, since a server last answered it or failed in another way. */
  readonly #silent = new Set<string>()

  constructor({ logger, traceFrames, sessionTimeout, runtime }: TelemetryOptions) {
    this.#logger = logger
    this.#askedTimeout = sessionTimeout
    this.#tracesFrames = traceFrames
    this.#runtime = runtime
    this.#timerAt = timestamp(runtime)
    this.#outage = new Outage(this.#timerAt.now)
    this.#states = new StateFeed({ name: 'connecting', since: this.#timerAt.wallNow })
  }

  stats(flow: Flow, now: number): ClientStats {
    return this.#counters.snapshot(flow, this.#receivedAt === undefined ? undefined : now - this.#receivedAt, now)
  }

  get state(): ClientState {
    return this.#states.current
  }

  states(): ClientStates {
    return this.#states.follow()
  }

  // --- calls ----------------------------------------------------------------------------------------------------

  called(request: Request, session: SessionInfo): void {
    this.#counts.requests.called++
    if (!tracesRequests()) return
    const { op, path, paths } = request
    const open = { xid: undefined, duration: undefined, code: undefined, outcomeUnknown: undefined, error: undefined }
    request.trace = { op, path, paths, ...place(session), ...open }
    traceCall(request.trace)
  }

  resolved(request: Request, session: SessionInfo, now: number): void {
    this.#answered(request, session, now, 'Ok')
  }

  rejected(request: Request, session: SessionInfo, now: number, error: unknown): void {
    if (request.calledAt === undefined) return
    const code = KeeperError.is(error) ? error.code : 'Other'
    if (code !== 'Other' && request.expected?.includes(code)) return this.#answered(request, session, now, code)
    this.#counters.failed(code)
    if (request.trace !== undefined) this.#settled(request.trace, request, session, now, code, { error })
  }

  aborted(request: Request, session: SessionInfo, now: number, reason: unknown): void {
    this.#counts.requests.aborted++
    if (request.trace !== undefined) this.#settled(request.trace, request, session, now, 'Aborted', { error: reason })
  }

  throttled({ op, path, timesThrottled }: Request, session: SessionInfo): void {
    this.#counts.requests.throttled++
    this.log('debug', 'the server was too busy for a request', session, () => ({ op, path, times: timesThrottled }))
  }

  #answered(request: Request, session: SessionInfo, now: number, code: KeeperErrorCode | 'Ok'): void {
    // Internal requests have no caller.
    if (request.calledAt === undefined) return
    this.#counters.took(now - request.calledAt)
    if (request.trace !== undefined) this.#settled(request.trace, request, session, now, code)
  }

  #settled(
    message: RequestMessage,
    { xid, calledAt }: Request,
    session: SessionInfo,
    now: number,
    code: RequestMessage['code'],
    failure?: { readonly error: unknown },
  ): void {
    const outcomeUnknown = KeeperError.is(failure?.error) && failure.error.outcomeUnknown
    // The reason of a signal may be null.
    const error = failure && (failure.error ?? new Error(`rejected with ${String(failure.error)}`))
    const duration = now - (calledAt ?? now)
    traceSettled(Object.assign(message, place(session), { xid, duration, code, outcomeUnknown, error }))
  }

  // --- connections ----------------------------------------------------------------------------------------------

  sent(bytes: Uint8Array, session: SessionInfo): void {
    this.#counts.bytes.sent += bytes.byteLength
    this.#frames?.sent.take(bytes, place(session))
  }

  received(bytes: Uint8Array, session: SessionInfo, now: number): void {
    this.#counts.bytes.received += bytes.byteLength
    this.#receivedAt = now
    this.#frames?.received.take(bytes, place(session))
  }

  /** A server of a new list has not passed the trial. */
  unproven({ server, error, isRoundOver }: Unproven, session: SessionInfo): void {
    this.log('debug', 'a server of the new list cannot be used', session, () => ({ tried: server, err: error }))
    if (!isRoundOver) return
    const message = 'no server of the new list can be used, the client keeps its server'
    this.log('warn', message, session, () => ({ tried: server, err: error }))
  }

  /** Servers of the ensemble's configuration were left out. */
  ignored(why: string, session: SessionInfo): void {
    this.log('warn', 'servers of /zookeeper/config are left out', session, () => ({ why }))
  }

  /** Forgets how the old servers behaved. */
  serversChanged(): void {
    this.#silent.clear()
    this.#outage.forgetServers()
  }

  lookingUp(now: number): void {
    this.#since = now
  }

  dialing(server: string, session: SessionInfo, now: number): void {
    this.#counts.connections.dialed++
    this.#outage.attempts++
    this.#since = now
    if (this.#tracesFrames) this.#frames = { sent: new FrameTrace('sent'), received: new FrameTrace('received') }
    report('zk:connection', () => ({ event: 'dialing', ...place(session), server }))
    this.log('debug', 'dialing', session, () => ({ server }))
  }

  unreached(attempt: Unreached, session: SessionInfo, now: number): void {
    const { server, address, error, servers, closedHandshake, hasSeenTransaction } = attempt
    const duration = now - this.#since
    report('zk:connection', () => ({ event: 'failed', ...place(session), server, reason: error, duration }))
    this.log('debug', 'no connection', session, () => ({ server, err: error, duration }))
    const where = address === undefined ? server : `${server} ${address}`
    const wasSilent = this.#silent.size >= servers
    if (closedHandshake) this.#silent.add(where)
    else this.#silent.clear()
    const isSilent = this.#silent.size >= servers
    this.#outage.failed(attempt)
    const { current } = this.#states
    const ensembleBehind = hasSeenTransaction && isSilent
    if (current.name === 'disconnected' && ensembleBehind !== current.ensembleBehind) {
      this.#states.enter({ ...current, since: this.#runtime.wallNow(), error, ensembleBehind })
    } else if (current.name === 'disconnected' || current.name === 'connecting') {
      this.#states.amend({ ...current, error })
    }
    if (current.name === 'disconnected' && isSilent && !wasSilent) this.log('warn', EVERY_SERVER_CLOSES, session)
    const err = this.#outage.report(session.timeout, now)
    if (err !== undefined) this.log('warn', 'no server can be reached', session, () => ({ err }))
  }

  connected({ server, readOnly }: Connection, session: SessionInfo, now: number, isFirst: boolean): void {
    this.#counts.connections.established++
    this.#since = now
    this.#silent.clear()
    report('zk:connection', () => ({ event: 'established', ...place(session), server, readOnly }))
    if (isFirst) {
      this.#counts.sessions.established++
      report('zk:session', () => ({ event: 'established', ...place(session), timeout: session.timeout }))
    } else this.#counts.connections.reconnected++
    this.#states.enter({ name: 'connected', ...this.#ofSession(session), server, readOnly })
    const message = isFirst ? 'session established' : 'reconnected'
    const { beganAt, attempts, failure } = this.#outage
    const absence = isFirst ? {} : { after: now - beganAt, attempts, ...(failure !== undefined && { err: failure }) }
    this.log('info', message, session, () => ({ timeout: session.timeout, readOnly, ...absence }))
    if (isFirst && session.timeout >= STRETCHED * this.#askedTimeout) {
      const asked = this.#askedTimeout
      const hint = `asked for a sessionTimeout of ${asked} ms, the server granted ${session.timeout} ms: the option is in ms`
      this.log('warn', hint, session, () => ({ asked, timeout: session.timeout }))
    }
    const before = isFirst ? undefined : this.#granted
    this.#granted = session.timeout
    if (before !== undefined && session.timeout < before) {
      const hint = 'the server granted a shorter session timeout than before: leases are shorter, too'
      this.log('warn', hint, session, () => ({ before, timeout: session.timeout }))
    }
    // The outage is over: its errors explain nothing that happens from now on.
    this.#outage = new Outage(now)
  }

  /** `reason` makes the error of the connection. */
  lost(reason: () => Error, server: string | undefined, session: SessionInfo, now: number): void {
    this.#counts.connections.lost++
    this.#outage = new Outage(now, reason)
    const duration = now - this.#since
    report('zk:connection', () => ({ event: 'lost', ...place(session), server, reason: reason(), duration }))
    // The end of the session was already reported.
    if (session.isOver) return
    const error = reason()
    this.#states.enter({ name: 'disconnected', ...this.#ofSession(session), error, ensembleBehind: false })
    this.log('warn', 'connection lost', session, () => ({ server, err: error, duration }))
  }

  // --- the session ----------------------------------------------------------------------------------------------

  /** The session has ended. The next one may follow. */
  ended({ reason, byServer, server, cause }: Ended, session: SessionInfo, now: () => number): void {
    if (reason === 'SessionExpired') this.#counts.sessions.expired++
    const receivedAt = this.#receivedAt
    this.#receivedAt = undefined
    const event = endTrigger[reason]
    report('zk:session', () => ({ event, ...place(session), timeout: session.timeout }))
    const since = this.#runtime.wallNow()
    switch (reason) {
      case 'SessionExpired': {
        this.#states.enter({ name: 'expired', ...this.#ofSession(session) })
        // `sinceReceived` shows the cause: nearly 0 if a server has reported the expiry, 4/3 T or more after local expiry.
        const silence = () => (receivedAt === undefined ? {} : { sinceReceived: now() - receivedAt })
        const err = cause ?? this.#outage.reason
        return this.log('error', 'session expired', session, () => ({
          ...silence(),
          ...(err !== undefined && { err }),
        }))
      }
      case 'AuthFailed': {
        const sessionId = session.id === 0n ? undefined : session.id
        const error = new KeeperError('AuthFailed', { server, sessionId, cause })
        this.#states.enter({ name: 'authFailed', since, error })
        return this.log('error', 'session authFailed', session, () => ({ server, err: error }))
      }
      case 'Unreachable':
        this.#states.enter({ name: 'closed', since })
        // No more than a warning, because `connect` rejects with the error.
        return this.log('warn', 'session unreachable', session, () => ({ err: this.#outage.summary(now()) }))
      case 'Closed': {
        this.#states.enter({ name: 'closed', since })
        // If `connect` has given up, there was no session to end.
        if (session.id === 0n || receivedAt === undefined) return this.log('debug', 'closed without a session', session)
        if (byServer) return this.log('info', 'session closed', session)
        const hint = 'session closed, and no server has confirmed it: its ephemeral nodes may stay for its timeout'
        return this.log('warn', hint, session, () => ({ timeout: session.timeout }))
      }
    }
  }

  /** The next session begins. */
  renewing(): void {
    this.#states.enter({ name: 'connecting', since: this.#runtime.wallNow(), error: this.#outage.reason })
  }

  /** No other session follows. */
  over(): void {
    this.#states.end()
  }

  notified(watcher: { readonly path: string }, outcome: Outcome, session: SessionInfo): void {
    const { type } = outcome
    if (type === 'SessionEnded' || type === 'Set' || type === 'Refused') return
    this.#counts.events++
    report('zk:watch', () => {
      // The event of a persistent watch has a path of its own, which may be below the watched path.
      const path = 'path' in outcome ? outcome.path : watcher.path
      return { type, path, zxid: 'zxid' in outcome ? outcome.zxid : undefined, ...place(session) }
    })
  }

  anomaly(text: string, session: SessionInfo): void {
    this.#counts.anomalies++
    const what = printable(text)
    report('zk:anomaly', () => ({ what, ...place(session) }))
    this.log('warn', 'something the protocol does not foresee', session, () => ({ what }))
  }

  /** The session's timer was called `ms` late. */
  late(ms: number, session: SessionInfo): void {
    const at = timestamp(this.#runtime)
    this.#counters.late(Math.max(0, ms), at.now)
    const least = STALLED * (this.#granted ?? Math.max(session.timeout, SHORTEST_GRANT))
    const jump = at.wallNow - this.#timerAt.wallNow - (at.now - this.#timerAt.now)
    this.#timerAt = at
    if (Math.abs(jump) >= least) {
      const what = 'the wall clock jumped: it was set, or this machine was suspended'
      this.log('warn', what, session, () => ({ jump }))
    }
    if (ms < least) return
    this.log('warn', 'this process stood still: a timer was called late', session, () => ({ late: ms }))
  }

  /** Logs one line. The recipes use it, too. */
  log(level: LogLevel, message: string, session: SessionInfo, more: () => object = () => ({})): void {
    log(this.#logger, level, `zk: ${message}`, () => ({
      sessionId: hex(session.id),
      server: session.connection?.server,
      ...more(),
    }))
  }

  #ofSession({ id, timeout }: SessionInfo): { since: number; sessionId: string; timeout: number } {
    return { since: this.#runtime.wallNow(), sessionId: hex(id), timeout }
  }
}

function place({ id, connection }: SessionInfo): { sessionId: bigint; server: string | undefined } {
  return { sessionId: id, server: connection?.server }
}
