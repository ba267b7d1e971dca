// A session and its connection, as a program sees them.
import type { Timestamp } from './timestamp.ts'

/**
 * What ZooKeeper calls a session: it outlives connections, owns ephemeral nodes and watches, and ends once. After its
 * end the client has another.
 */
export interface Session {
  /**
   * The id ZooKeeper gave it; 0 until then. It is the `ephemeralOwner` of its ephemeral nodes. One that began at a
   * read-only server has another at each connection, until a server that takes writes has given it one for good.
   */
  readonly id: bigint
  /** The negotiated session timeout in ms; the one asked for until there is one. */
  readonly timeout: number
  /**
   * The smallest timeout it ever had, in ms: a server that it reconnects to may give it another, and a new leader goes back to
   * the first (SessionTrackerImpl takes it from the transaction that created the session). 0 where it is not known: the
   * session was resumed with credentials that do not say it.
   */
  readonly shortestTimeout: number
  /** Aborts when the session ends or is closed; its reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  readonly signal: AbortSignal
  /**
   * Aborts when the session is about to be left, by `detach`; its reason is a `KeeperError` `Closed`. Listeners may still make
   * calls; with `waitUntil` they make `detach` wait for them.
   */
  readonly detaching: AbortSignal
  /**
   * A `detach` waits until this has settled, for half a session timeout at most: for work of several calls, such as a create
   * whose node is to be deleted again. `close` does not wait: it ends the session, and all that belongs to it.
   */
  waitUntil(work: Promise<unknown>): void
  /** The connection it has now; undefined while it is looking for a server, and after its end. */
  readonly connection: Connection | undefined
  /**
   * How many things the protocol does not foresee were survived: events of unknown type, events without a watcher. The
   * diagnostics channel `zk:anomaly` says what they were.
   */
  readonly anomalies: number
}

/** One TCP connection of a session. */
export interface Connection {
  /** `host:port` */
  readonly server: string
  /**
   * Its server has no quorum: what is read may be old, writes and `sync` are refused with `NotReadOnly`. Only with the
   * option `readOnly`; one that takes writes is looked for.
   */
  readonly readOnly: boolean
  /** Aborts when the connection is lost; its reason is the error. The session may live on. */
  readonly signal: AbortSignal
  /**
   * When the handshake was sent. The leader has found the session alive since (Leader.revalidateSession), and counted
   * its timeout anew. (A read-only server has no leader: there nothing has.)
   */
  readonly handshakeAt: Timestamp
  /**
   * When the last but one of its requests and pings was sent that had been answered by `now` (of `runtime.now()`), or up to
   * 1/32 of T before; `handshakeAt` where there were not two. Its server has touched the session since. Whether the leader
   * has is another question, see "The lease" in ARCHITECTURE.md. Credentials do not count: servers answer them without
   * touching the session. Answers are remembered for about T.
   */
  touchAnsweredBy(now: number): Timestamp
}
