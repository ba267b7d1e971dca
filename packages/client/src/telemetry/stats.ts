// What a client has done so far, in numbers.
import type { KeeperErrorCode } from '../errors.ts'
import type { Flow } from '../session/requests/flow.ts'

/** Upper ends of the buckets, in ms. */
const BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, Infinity] as const

/** How long calls took: from the call to its answer, the wait to be sent included. */
export interface Latency {
  /** How many calls. */
  readonly count: number
  /** In ms, as all below. */
  readonly mean: number
  /** The longest. */
  readonly max: number
  /** How many took up to so long, and longer than the bucket before says. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[]
}

/**
 * What a client has done since `connect`, in all of its sessions, and how things stand. It is a snapshot: it is never
 * updated.
 */
export interface ClientStats {
  /** Calls of all views of the client. */
  readonly requests: {
    /** All calls, those still under way included. */
    readonly called: number
    /** Those that resolved, and those of the library itself that ended with a code which it handles as an answer. */
    readonly succeeded: number
    /** How many ended with each code; `Other` for what is no `KeeperError`. */
    readonly failed: Readonly<Partial<Record<KeeperErrorCode | 'Other', number | undefined>>>
    /** Those that rejected with the reason of their signal. A write among them may still happen. */
    readonly aborted: number
    /** How often a busy server did not execute a request. */
    readonly throttled: number
  }
  /** Bytes on all connections. */
  readonly bytes: { readonly sent: number; readonly received: number }
  /** Attempts to connect, and connections. */
  readonly connections: {
    /** Attempts. */
    readonly dialed: number
    /** Those whose handshake a server answered. */
    readonly established: number
    /** Those of a session that had had one before. */
    readonly reconnected: number
    /** Those that stood and are gone, those that the client closed included. */
    readonly lost: number
  }
  /** Sessions that a server gave, and those that were lost by expiry. */
  readonly sessions: { readonly established: number; readonly expired: number }
  /** Watches that were notified of a change or their removal. */
  readonly events: number
  /** How often something came that the protocol does not foresee, and was survived: channel `zk:anomaly`. */
  readonly anomalies: number
  /** What the current session has queued and in flight now. */
  readonly flow: Flow
  /** From the call to its answer, for calls that succeeded. */
  readonly latency: Latency
  /** ms since the current session last received something from a server; undefined before that. */
  readonly sinceHeard: number | undefined
  /**
   * How late, in ms, the event loop called the session's one timer: it is busy when that grows. Timers are whole
   * milliseconds, so up to 1 is nothing.
   */
  readonly timer: { readonly fired: number; readonly meanLate: number; readonly maxLate: number }
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

  late(ms: number): void {
    this.#fired++
    this.#late += ms
    if (ms > this.#maxLate) this.#maxLate = ms
  }

  snapshot(flow: Flow, sinceHeard: number | undefined): ClientStats {
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
      sinceHeard,
      timer: { fired: this.#fired, meanLate: this.#fired === 0 ? 0 : this.#late / this.#fired, maxLate: this.#maxLate },
    }
  }
}
