// The statistics of a client.
import type { KeeperErrorCode } from '../base/errors.ts'
import type { CallOutcome, EventOf, SessionInfo, Subscriber } from '../session/client-event.ts'
import type { Flow } from '../session/requests/flow.ts'
import type { Request } from '../session/requests/request.ts'

/** The upper ends of the buckets, in ms. */
const BOUNDS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, Infinity] as const

/** The length of a window, in ms. `recentMaxLate` is the maximum of the current window and the one before. */
const WINDOW = 60_000

/** How long calls took, from the call to its answer. The time before the request was sent is included. */
export interface Latency {
  /** The number of calls. */
  readonly count: number
  /** The mean duration, in ms, like all below. */
  readonly mean: number
  /** The longest duration. */
  readonly max: number
  /** How many calls took at most `upTo` ms, and more than `upTo` of the bucket before. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[]
}

/** The statistics of a client since `connect`, over all its sessions, and its current load: a snapshot, never updated. */
export interface ClientStats {
  /** The calls of the client and of all its views. */
  readonly requests: {
    /** All calls, including those still under way. */
    readonly called: number
    /** Calls that resolved, and calls of the library itself that ended with an error code which it expected. */
    readonly succeeded: number
    /** How many calls failed with each code; `Other` for an error that is not a `KeeperError`. */
    readonly failed: Readonly<Partial<Record<KeeperErrorCode | 'Other', number | undefined>>>
    /** Calls that rejected with the reason of their signal. A write among them may still happen. */
    readonly aborted: number
    /** How many times a busy server did not execute a request. */
    readonly throttled: number
  }
  /** The bytes on all connections. */
  readonly bytes: { readonly sent: number; readonly received: number }
  /** Attempts to connect, and connections. */
  readonly connections: {
    /** Attempts to connect. */
    readonly dialed: number
    /** Attempts whose handshake a server answered. */
    readonly established: number
    /** Connections after the first one of a session. */
    readonly reconnected: number
    /** Connections that have ended, whether they were lost or the client closed them. */
    readonly lost: number
  }
  /** Sessions that were established, and those that expired. */
  readonly sessions: { readonly established: number; readonly expired: number }
  /** Events of watches: changes of nodes, and removals of watches. */
  readonly events: number
  /** The number of anomalies: see the channel `zk:anomaly`. */
  readonly anomalies: number
  /** The requests that the current session has queued and in flight now. */
  readonly flow: Flow
  /** How long the calls that succeeded took. */
  readonly latency: Latency
  /** ms since the current session last received something from a server; undefined if it has received nothing yet. */
  readonly sinceReceived: number | undefined
  /**
   * How late, in ms, the event loop called the only timer of the session. High values mean that the event loop is busy.
   * Timers have whole milliseconds, so up to 1 is normal. `maxLate` is the maximum since `connect`, `recentMaxLate` that of
   * the last one or two minutes.
   */
  readonly timer: {
    readonly fired: number
    readonly meanLate: number
    readonly maxLate: number
    readonly recentMaxLate: number
  }
}

type Failed = Partial<Record<KeeperErrorCode | 'Other', number>>

/** Counts events. */
export class Counters implements Subscriber {
  /** The part of the statistics that only counts. */
  readonly #counts = {
    requests: { called: 0, succeeded: 0, failed: {} as Failed, aborted: 0, throttled: 0 },
    bytes: { sent: 0, received: 0 },
    connections: { dialed: 0, established: 0, reconnected: 0, lost: 0 },
    sessions: { established: 0, expired: 0 },
    events: 0,
    anomalies: 0,
  }
  readonly #buckets = BOUNDS.map(() => 0)
  #slowest = 0
  #time = 0
  #fired = 0
  #late = 0
  #maxLate = 0
  #window = { since: 0, maxLate: 0, maxLateBefore: 0 }

  called(): void {
    this.#counts.requests.called++
  }

  settled(_request: Request, _session: SessionInfo, { code, failure }: CallOutcome, duration: number): void {
    const { requests } = this.#counts
    if (failure === undefined) this.#succeeded(duration)
    else if (code === 'Aborted') requests.aborted++
    else if (code !== 'Ok') requests.failed[code] = (requests.failed[code] ?? 0) + 1
  }

  throttled(): void {
    this.#counts.requests.throttled++
  }

  sent({ bytes }: EventOf<'sent'>): void {
    this.#counts.bytes.sent += bytes.byteLength
  }

  received({ bytes }: EventOf<'received'>): void {
    this.#counts.bytes.received += bytes.byteLength
  }

  dialing(): void {
    this.#counts.connections.dialed++
  }

  connected({ before }: EventOf<'connected'>): void {
    this.#counts.connections.established++
    if (before === undefined) this.#counts.sessions.established++
    else this.#counts.connections.reconnected++
  }

  lost(): void {
    this.#counts.connections.lost++
  }

  ended({ reason }: EventOf<'ended'>): void {
    if (reason === 'SessionExpired') this.#counts.sessions.expired++
  }

  notified({ outcome: { type } }: EventOf<'notified'>): void {
    if (type !== 'SessionEnded' && type !== 'Set' && type !== 'Refused') this.#counts.events++
  }

  anomaly(): void {
    this.#counts.anomalies++
  }

  timer({ late, at }: EventOf<'timer'>): void {
    const ms = Math.max(0, late)
    this.#fired++
    this.#late += ms
    if (ms > this.#maxLate) this.#maxLate = ms
    const window = this.#windowAt(at)
    if (ms > window.maxLate) window.maxLate = ms
  }

  #succeeded(ms: number): void {
    this.#counts.requests.succeeded++
    this.#time += ms
    if (ms > this.#slowest) this.#slowest = ms
    let bucket = 0
    while (ms > BOUNDS[bucket]!) bucket++
    this.#buckets[bucket]!++
  }

  snapshot(flow: Flow, sinceReceived: number | undefined, now: number): ClientStats {
    const { maxLate, maxLateBefore } = this.#windowAt(now)
    const { succeeded } = this.#counts.requests
    return {
      ...structuredClone(this.#counts),
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
