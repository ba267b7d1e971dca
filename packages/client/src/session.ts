// The public interface of a session and its connection.
import type { Timestamp } from './timestamp.ts'

/**
 * A session of ZooKeeper. It outlives connections, owns ephemeral nodes and watches, and ends once. After its end the client
 * has another one.
 */
export interface Session {
  /**
   * Its id; 0 before a server has given one. It is the `ephemeralOwner` of its ephemeral nodes. A session that began at a
   * read-only server has another id at each connection, until a server that takes writes has given it the final one.
   */
  readonly id: bigint
  /** The negotiated session timeout in ms; before that the requested one. */
  readonly timeout: number
  /**
   * The smallest timeout that it ever had, in ms. A server may change the timeout at a reconnection, and a new leader goes
   * back to the first one (SessionTrackerImpl takes it from the transaction that created the session). 0 where it is not
   * known: the session was resumed with credentials that do not have it.
   */
  readonly shortestTimeout: number
  /** Aborts when the session ends or is closed. Its reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  readonly signal: AbortSignal
  /**
   * Aborts when `detach` is about to leave the session. Its reason is a `KeeperError` `Closed`. Listeners may still make
   * calls. With `waitUntil` they make `detach` wait for them.
   */
  readonly detaching: AbortSignal
  /**
   * Makes `detach` wait until this has settled, for half a session timeout at most. Use it for work of several calls, such as
   * a create whose node must be deleted again. `close` does not wait: it ends the session, and all that belongs to it.
   */
  waitUntil(work: Promise<unknown>): void
  /** Its present connection; undefined while it looks for a server, and after its end. */
  readonly connection: Connection | undefined
  /**
   * The number of anomalies: events of unknown type, events without a watcher, and the like, after which the session went on.
   * The diagnostics channel `zk:anomaly` reports each.
   */
  readonly anomalies: number
}

/** One TCP connection of a session. */
export interface Connection {
  /** `host:port` */
  readonly server: string
  /**
   * Whether its server has no quorum: reads may be old, writes and `sync` are refused with `NotReadOnly`. This is only
   * possible with the option `readOnly`. Meanwhile the client looks for a server that takes writes.
   */
  readonly readOnly: boolean
  /** Aborts when the connection is lost. Its reason is the error. The session may live on. */
  readonly signal: AbortSignal
  /**
   * When the handshake was sent. Since then the leader has found the session alive (Leader.revalidateSession), and restarted
   * its timeout. (This does not hold at a read-only server, which has no leader.)
   */
  readonly handshakeAt: Timestamp
  /**
   * The earlier of the last two requests or pings that were answered by `now` (of `runtime.now()`): when it was sent, or up
   * to T/32 earlier; `handshakeAt` if there were not two. Since then the server has touched the session. Whether the leader
   * knows that is another question: see "The lease" in ARCHITECTURE.md. Credentials do not count: servers answer them without
   * touching the session. Answers are kept for about T.
   */
  touchAnsweredBy(now: number): Timestamp
}
