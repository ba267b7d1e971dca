// A connection of a session, as its users see it.
import type { Timestamp } from '../../timestamp.ts'
import type { TouchLog } from '../protocol/touch-log.ts'

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
   * its timeout anew. (At a read-only server nobody has.)
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

export interface OwnConnection extends Connection {
  readonly touches: TouchLog
  readonly lose: (error: Error) => void
}

export function newConnection(
  { server, readOnly }: Pick<Connection, 'server' | 'readOnly'>,
  touches: TouchLog,
): OwnConnection {
  const lost = new AbortController()
  return {
    server,
    readOnly,
    signal: lost.signal,
    handshakeAt: touches.handshake,
    touchAnsweredBy: (now) => touches.answeredBy(now),
    touches,
    lose: (error) => lost.abort(error),
  }
}
