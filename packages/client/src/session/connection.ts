// A connection of a session, as its users see it.
import type { Moment } from '../moment.ts'
import type { Touches } from './touches.ts'

/** One TCP connection of a session. */
export interface Connection {
  /** `host:port` */
  readonly server: string
  /** Aborts when the connection is lost; its reason is the error. The session may live on. */
  readonly signal: AbortSignal
  /**
   * When the handshake was sent. The leader has found the session alive since (Leader.revalidateSession), and counted
   * its timeout anew.
   */
  readonly handshakeAt: Moment
  /**
   * When the latest of its requests and pings was sent that had been answered by `now` (of `runtime.now()`), give or take
   * 1/32 of T; `handshakeAt` where there was none. Its server has heard of the session since; whether the leader has is
   * another question, see "The lease" in ARCHITECTURE.md. Answers are remembered for about T.
   */
  touchAnsweredBy(now: number): Moment
}

export interface OwnConnection extends Connection {
  readonly touches: Touches
  readonly lose: (error: Error) => void
}

export function newConnection(server: string, touches: Touches): OwnConnection {
  const lost = new AbortController()
  return {
    server,
    signal: lost.signal,
    handshakeAt: touches.handshake,
    touchAnsweredBy: (now) => touches.answeredBy(now),
    touches,
    lose: (error) => lost.abort(error),
  }
}
