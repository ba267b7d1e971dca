import type { Connection, Session } from '../operations/session.ts'
import type { Timestamp } from '../runtime/timestamp.ts'

/** What recipes use of a session besides its public interface. */
export interface SessionInternals extends Session {
  readonly connection: ConnectionInternals | undefined
  /**
   * The shortest timeout that the session has ever had, in ms. A server may change the timeout when the client reconnects, and a
   * new leader uses the first one again (SessionTrackerImpl takes it from the transaction that created the session). 0 if it
   * is not known: the session was resumed with credentials that do not have it.
   */
  readonly shortestTimeout: number
  /**
   * Makes `detach` wait until the promise has settled, but at most half a session timeout. Use it for work that takes several
   * calls, such as a create whose node must be deleted again. `close` does not wait: it ends the session and all that belongs
   * to it.
   */
  waitUntil(work: Promise<unknown>): void
  /** The same object in all sessions of a client. */
  readonly client: object
  /**
   * Whether the session has ended although no server has said so: the client has heard nothing for too long, or a server has
   * answered with another session. The ensemble may keep it, and its ephemeral nodes, for up to its timeout after the last touch or
   * the last election.
   */
  readonly mayLiveOn: boolean
  /**
   * Touches the session twice, by a heartbeat that is sent as soon as all earlier requests are answered. Resolves when the server
   * has answered it, or when the connection is lost.
   */
  touch(): Promise<void>
}

/** What recipes use of a connection besides its public interface. */
export interface ConnectionInternals extends Connection {
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

/** The session may be of another copy of this package, so its class is not checked. */
export const internalsOf = (session: Session): SessionInternals => session as SessionInternals
