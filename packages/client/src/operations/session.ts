// The public interface of a session and its connection.
import type { Timestamp } from '../runtime/timestamp.ts'

/**
 * A session of ZooKeeper. It outlives connections, owns ephemeral nodes and watches, and ends once. The client then opens
 * another.
 */
export interface Session {
  /**
   * The id of the session; 0 before a server has given one. The ephemeral nodes of the session have it as `ephemeralOwner`.
   * If the session began at a read-only server, it has another id on each connection, until a server that accepts writes has
   * given the final one.
   */
  readonly id: bigint
  /** The negotiated session timeout in ms; before that the requested one. */
  readonly timeout: number
  /**
   * The shortest timeout that the session has ever had, in ms. A server may change the timeout when the client reconnects, and a
   * new leader uses the first one again (SessionTrackerImpl takes it from the transaction that created the session). 0 if it
   * is not known: the session was resumed with credentials that do not have it.
   */
  readonly shortestTimeout: number
  /** Aborts when the session ends or is closed. The reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  readonly signal: AbortSignal
  /**
   * Aborts when `detach` is about to leave the session. The reason is a `KeeperError` `Closed`. Listeners may still make
   * calls, and `waitUntil` makes `detach` wait for these calls.
   */
  readonly detaching: AbortSignal
  /**
   * Makes `detach` wait until the promise has settled, but at most half a session timeout. Use it for work that takes several
   * calls, such as a create whose node must be deleted again. `close` does not wait: it ends the session and all that belongs
   * to it.
   */
  waitUntil(work: Promise<unknown>): void
  /** The current connection; undefined while the client looks for a server, and after the end of the session. */
  readonly connection: Connection | undefined
  /**
   * The number of anomalies after which the session went on, such as events of an unknown type or without a watcher. Each is
   * reported on the diagnostics channel `zk:anomaly`.
   */
  readonly anomalies: number
}

/** One TCP connection of a session. */
export interface Connection {
  /** `host:port` */
  readonly server: string
  /**
   * Whether the server has no quorum. Reads may then be old, and writes and `sync` are refused with `NotReadOnly`. This is
   * only possible with the option `readOnly`. Meanwhile the client looks for a server that accepts writes.
   */
  readonly readOnly: boolean
  /** Aborts when the connection is lost. The reason is the error. The session may continue on another connection. */
  readonly signal: AbortSignal
  /**
   * When the handshake was sent. At some later time the leader found the session alive (Leader.revalidateSession), and
   * restarted its timeout. (This does not hold at a read-only server, which has no leader.)
   */
  readonly handshakeAt: Timestamp
  /**
   * The time at which the second-to-last of the requests and pings answered by `now` (a time of `runtime.now()`) was sent. The
   * result may be up to T/32 earlier, and is `handshakeAt` if there were not two. At some later time the server touched the
   * session. This does not show whether the leader knows of this touch: see `docs/lease.md` in the repository. Credentials do
   * not count: servers answer them without touching the session. Answers are kept for about T.
   */
  touchAnsweredBy(now: number): Timestamp
}
