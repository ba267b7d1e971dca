// The lines of the log.
import { printable } from '@zk/wire'
import { describeInJson, KeeperError } from '../base/errors.ts'
import { hex } from '../base/hex.ts'
import type { EventOf, SessionInfo, Subscriber } from '../session/client-event.ts'
import type { LogFunction, LogLevel } from './logger.ts'
import { Outage } from './outage.ts'

/** If the granted session timeout is at least this many times the requested one, the option was probably in seconds. */
const STRETCHED = 10

const EVERY_SERVER_CLOSES =
  'every server closes the connection: it is behind this client, has no quorum, or is a proxy or balancer that reaches no server'

const nothing = () => ({})

export class Log implements Subscriber {
  readonly #logger: LogFunction | undefined
  readonly #askedTimeout: number
  /** The failures since the connection was lost. It has no meaning while there is a connection. */
  #outage: Outage
  #everyServerCloses = false

  /** Without a logger, nothing is logged. */
  constructor(logger: LogFunction | undefined, askedTimeout: number, now: number) {
    this.#logger = logger
    this.#askedTimeout = askedTimeout
    this.#outage = new Outage(now)
  }

  /** Logs one line. The recipes use it, too. Errors that the logger throws are ignored. */
  line(level: LogLevel, message: string, session: SessionInfo, more: () => object = nothing): void {
    if (this.#logger === undefined) return
    try {
      const fields = { sessionId: hex(session.id), server: session.connection?.server, ...more() }
      this.#logger(level, printable(`zk: ${message}`), readable(fields))
    } catch {}
  }

  throttled({ session, request: { op, path, timesThrottled } }: EventOf<'throttled'>): void {
    this.line('debug', 'the server was too busy for a request', session, () => ({ op, path, times: timesThrottled }))
  }

  dialing({ session, server }: EventOf<'dialing'>): void {
    this.#outage.attempts++
    this.line('debug', 'dialing', session, () => ({ server }))
  }

  unreached(attempt: EventOf<'unreached'>): void {
    const { session, server, error, duration, everyServerCloses, isReconnecting, at } = attempt
    this.line('debug', 'no connection', session, () => ({ server, err: error, duration }))
    if (isReconnecting && everyServerCloses && !this.#everyServerCloses) {
      this.line('warn', EVERY_SERVER_CLOSES, session)
    }
    this.#everyServerCloses = everyServerCloses
    this.#outage.failed(attempt)
    const err = this.#outage.report(session.timeout, at)
    if (err !== undefined) this.line('warn', 'no server can be reached', session, () => ({ err }))
  }

  connected({ session, readOnly, before, at }: EventOf<'connected'>): void {
    const { timeout } = session
    const { beganAt, attempts, failure } = this.#outage
    // The outage is over: its errors explain nothing that happens from now on.
    this.#outage = new Outage(at)
    this.#everyServerCloses = false
    if (before === undefined) {
      this.line('info', 'session established', session, () => ({ timeout, readOnly }))
      const asked = this.#askedTimeout
      if (timeout < STRETCHED * asked) return
      const hint = `asked for a sessionTimeout of ${asked} ms, the server granted ${timeout} ms: the option is in ms`
      return this.line('warn', hint, session, () => ({ asked, timeout }))
    }
    const absence = { after: at - beganAt, attempts, ...(failure !== undefined && { err: failure }) }
    this.line('info', 'reconnected', session, () => ({ timeout, readOnly, ...absence }))
    if (timeout >= before) return
    const hint = 'the server granted a shorter session timeout than before: leases are shorter, too'
    this.line('warn', hint, session, () => ({ before, timeout }))
  }

  lost({ session, server, reason, duration, at }: EventOf<'lost'>): void {
    this.#outage = new Outage(at, reason)
    // The line about the end of the session says it.
    if (session.isOver) return
    this.line('warn', 'connection lost', session, () => ({ server, err: reason(), duration }))
  }

  unproven({ session, server, error, isRoundOver }: EventOf<'unproven'>): void {
    const fields = () => ({ tried: server, err: error })
    this.line('debug', 'a server of the new list cannot be used', session, fields)
    if (!isRoundOver) return
    this.line('warn', 'no server of the new list can be used, the client keeps its server', session, fields)
  }

  serversChanged(): void {
    this.#outage.forgetServers()
    this.#everyServerCloses = false
  }

  serversIgnored({ session, why }: EventOf<'serversIgnored'>): void {
    this.line('warn', 'servers of /zookeeper/config are left out', session, () => ({ why }))
  }

  ended({ session, reason, byServer, error, sinceReceived, at }: EventOf<'ended'>): void {
    switch (reason) {
      case 'SessionExpired': {
        const err = error ?? this.#outage.reason
        // `sinceReceived` shows the cause: nearly 0 if a server has reported the expiry, 4/3 T or more after local expiry.
        return this.line('error', 'session expired', session, () => ({
          ...(sinceReceived !== undefined && { sinceReceived }),
          ...(err !== undefined && { err }),
        }))
      }
      case 'AuthFailed':
        return this.line('error', 'session authFailed', session, () => ({
          ...(KeeperError.is(error) && { server: error.server }),
          err: error,
        }))
      case 'Unreachable':
        // No more than a warning, because `connect` rejects with the error.
        return this.line('warn', 'session unreachable', session, () => ({ err: this.#outage.summary(at) }))
      case 'Closed': {
        // If `connect` has given up, there was no session to end.
        if (session.id === 0n || sinceReceived === undefined) {
          return this.line('debug', 'closed without a session', session)
        }
        if (byServer) return this.line('info', 'session closed', session)
        const hint = 'session closed, and no server has confirmed it: its ephemeral nodes may stay for its timeout'
        return this.line('warn', hint, session, () => ({ timeout: session.timeout }))
      }
    }
  }

  anomaly({ session, what }: EventOf<'anomaly'>): void {
    this.line('warn', 'protocol anomaly', session, () => ({ what }))
  }

  timer({ session, late, isStalled, jump }: EventOf<'timer'>): void {
    if (jump !== undefined) {
      const what = 'the wall clock jumped: it was set, or this machine was suspended'
      this.line('warn', what, session, () => ({ jump }))
    }
    if (!isStalled) return
    this.line('warn', 'this process was stalled: a timer was called late', session, () => ({ late }))
  }
}

/** Rounds numbers to tenths, because durations in ms are measured with a dozen digits. Escapes controls in text. */
function readable(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(value)]))
}

function shown(value: unknown): unknown {
  if (typeof value === 'number') return tenths(value)
  if (typeof value === 'string') return printable(value)
  // In JSON an error is its message.
  if (value instanceof Error) describeInJson(value)
  return Array.isArray(value) ? value.map(shown) : value
}

const tenths = (value: number) => Math.round(value * 10) / 10
