// The public interface of a session and its connection.

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
  /** Aborts when the session ends or is closed. The reason is a `KeeperError`: `SessionExpired`, `AuthFailed` or `Closed`. */
  readonly signal: AbortSignal
  /**
   * Aborts when `detach` is about to leave the session. The reason is a `KeeperError` `Closed`. Listeners may still make
   * calls.
   */
  readonly detaching: AbortSignal
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
}
