// A request on its way through a server, and what waits for the answer.
import type { EventType, Id, RequestMessage } from '@zk/wire'

/** Told once when a watch fires (Watcher.process). */
export interface Watcher {
  event(type: EventType, path: string, zxid: bigint): void
  /** Its identities, for the right to have events of a node. */
  readonly authInfo: readonly Id[]
}

/** The answer to a handshake. */
export interface EstablishedSession {
  readonly sessionId: bigint
  readonly timeOut: number
  readonly passwd: Uint8Array
  readonly readOnly: boolean
}

/** The server's end of a client's connection, as far as requests know it (ServerCnxn). */
export interface Connection extends Watcher {
  /** 0 until the handshake is answered. */
  readonly sessionId: bigint
  /** Answers the handshake, or a createSession that came later. A `timeOut` of 0 says that the session has expired. */
  established(session: EstablishedSession, createSession?: ServerRequest): void
  /** `response` is undefined where the reply has no body. */
  reply(request: ServerRequest, zxid: bigint, err: number, response?: unknown): void
  /** Closes it behind everything that was sent. The reason is for the history. */
  close(reason: string): void
}

/** One request of a session (Request). */
export interface ServerRequest {
  readonly sessionId: bigint
  /** What the client sent. A body that could not be read has no `request`, and `isMalformed`. */
  readonly message: RequestMessage
  readonly isMalformed?: boolean
  readonly authInfo: readonly Id[]
  /** The name of the member it came in at: whose session it must be (Request.owner). */
  readonly owner: string
  /** What waits for the answer; undefined for requests that the servers make themselves. */
  readonly connection: Connection | undefined
}
