// A request on its way through a server, and the connection that waits for the answer.
import type { EventType, Id, RequestMessage } from '@zk/wire'

/** The receiver of the events of watches (Watcher.process). */
export interface Watcher {
  event(type: EventType, path: string, zxid: bigint): void
  /** The identities of the client. It gets events only of nodes that it may read. */
  readonly authInfo: readonly Id[]
}

/** The answer to a handshake. */
export interface EstablishedSession {
  readonly sessionId: bigint
  readonly timeOut: number
  readonly passwd: Uint8Array
  readonly readOnly: boolean
}

/** The server's end of a client's connection, as requests see it (ServerCnxn). */
export interface Connection extends Watcher {
  /** 0 until the handshake is answered. */
  readonly sessionId: bigint
  /** Answers the handshake, or a later createSession. A `timeOut` of 0 means that the session has expired. */
  established(session: EstablishedSession, createSession?: ServerRequest): void
  /** `response` is undefined if the reply has no body. */
  reply(request: ServerRequest, zxid: bigint, err: number, response?: unknown): void
  /** Closes it after everything that was sent. The reason is for the history. */
  close(reason: string): void
}

/** One request of a session (Request). */
export interface ServerRequest {
  readonly sessionId: bigint
  /** The message of the client. If its body could not be read, `request` is undefined, and `isMalformed` is true. */
  readonly message: RequestMessage
  readonly isMalformed?: boolean
  readonly authInfo: readonly Id[]
  /** The name of the member where it arrived. That member must own the session (Request.owner). */
  readonly owner: string
  /** The connection that waits for the answer; undefined for requests of the servers themselves. */
  readonly connection: Connection | undefined
}
