// The numbers of a client.
import type { KeeperErrorCode } from '../errors.ts'
import type { Flow } from '../session/requests/flow.ts'

/** The upper ends of the buckets, in ms. */
const BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, Infinity] as const

/** `recentMaxLate` is of the present window and the one before, each so many ms long. */
const WINDOW = 60_000

/** The durations of calls, from the call to its answer, the wait to be sent included. */
export interface Latency {
  /** The number of calls. */
  readonly count: number
  /** The sum, in ms, as all below. */
  readonly mean: number
  /** The longest duration. */
  readonly max: number
  /** How many calls took at most this long, and longer than the limit of the bucket before. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[]
}

/**
 * The numbers of a client since `connect`, over all of its sessions, and its present load. It is a snapshot, and never
 * updated.
 */
export interface ClientStats {
  /** The calls of all views of the client. */
  readonly requests: {
    /** All calls, those still under way included. */
    readonly called: number
    /** Calls that resolved, and calls of the library itself that ended with a code which it handles as an answer. */
    readonly succeeded: number
    /** How many ended with each code; `Other` for an error that is no `KeeperError`. */
    readonly failed: Readonly<Partial<Record<KeeperErrorCode | 'Other', number | undefined>>>
    /** Calls that rejected with the reason of their signal. A write among them may still happen. */
    readonly aborted: number
    /** How often a busy server did not execute a request. */
    readonly throttled: number
  }
  /** The bytes on all connections. */
  readonly bytes: { readonly sent: number; readonly received: number }
  /** Attempts to connect, and connections. */
  readonly connections: {
    /** Attempts. */
    readonly dialed: number
    /** Attempts whose handshake a server answered. */
    readonly established: number
    /** Connections after the first one of a session. */
    readonly reconnected: number
    /** Connections that have ended, those that the client closed included. */
    readonly lost: number
  }
  /** Sessions that were established, and those that expired. */
  readonly sessions: { readonly established: number; readonly expired: number }
  /** Notifications of watches, of a change or of their removal. */
  readonly events: number
  /** The number of anomalies: see the channel `zk:anomaly`. */
  readonly anomalies: number
  /** What the current session has queued and in flight now. */
  readonly flow: Flow
  /** From the call to its answer, for calls that succeeded. */
  readonly latency: Latency
  /** ms since the current session last received something from a server; undefined before that. */
  readonly sinceReceived: number | undefined
  /**
   * How late, in ms, the event loop called the session's only timer. When this grows, the event loop is busy. Timers have
   * whole milliseconds, so up to 1 is normal. `maxLate` never falls; `recentMaxLate` is the most of the last minute or two.
   */
  readonly timer: {
    readonly fired: number
    readonly meanLate: number
    readonly maxLate: number
    readonly recentMaxLate: number
  }
}

export class Counters {
  called = 0
  succeeded = 0
  aborted = 0
  throttled = 0
  bytesSent = 0
  bytesReceived = 0
  dialed = 0
  established = 0
  reconnected = 0
  lost = 0
  sessions = 0
  expired = 0
  events = 0
  anomalies = 0
  readonly #failed = new Map<KeeperErrorCode | 'Other', number>()
  readonly #buckets = BOUNDS.map(() => 0)
  #slowest = 0
  #time = 0
  #fired = 0
  #late = 0
  #maxLate = 0
  #window = { since: 0, maxLate: 0, maxLateBefore: 0 }

  took(ms: number): void {
    this.succeeded++
    this.#time += ms
    if (ms > this.#slowest) this.#slowest = ms
    let bucket = 0
    while (ms > BOUNDS[bucket]!) bucket++
    this.#buckets[bucket]!++
  }

  failed(code: KeeperErrorCode | 'Other'): void {
    this.#failed.set(code, (this.#failed.get(code) ?? 0) + 1)
  }

  late(ms: number, now: number): void {
    this.#fired++
    this.#late += ms
    if (ms > this.#maxLate) this.#maxLate = ms
    const window = this.#windowAt(now)
    if (ms > window.maxLate) window.maxLate = ms
  }

  snapshot(flow: Flow, sinceReceived: number | undefined, now: number): ClientStats {
    const { maxLate, maxLateBefore } = this.#windowAt(now)
    const { called, succeeded, aborted, throttled, dialed, established, reconnected, lost, events, anomalies } = this
    return {
      requests: { called, succeeded, failed: Object.fromEntries(this.#failed), aborted, throttled },
      bytes: { sent: this.bytesSent, received: this.bytesReceived },
      connections: { dialed, established, reconnected, lost },
      sessions: { established: this.sessions, expired: this.expired },
      events,
      anomalies,
      flow,
      latency: {
        count: succeeded,
        mean: succeeded === 0 ? 0 : this.#time / succeeded,
        max: this.#slowest,
        buckets: BOUNDS.map((upTo, index) => ({ upTo, count: this.#buckets[index]! })),
      },
      sinceReceived,
      timer: {
        fired: this.#fired,
        meanLate: this.#fired === 0 ? 0 : this.#late / this.#fired,
        maxLate: this.#maxLate,
        recentMaxLate: Math.max(maxLate, maxLateBefore),
      },
    }
  }

  #windowAt(now: number): { maxLate: number; readonly maxLateBefore: number } {
    const { since, maxLate } = this.#window
    const windows = Math.floor((now - since) / WINDOW)
    if (windows > 0) {
      this.#window = { since: since + windows * WINDOW, maxLate: 0, maxLateBefore: windows === 1 ? maxLate : 0 }
    }
    return this.#window
  }
}
