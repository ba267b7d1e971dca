// Decodes the frames that a server sends.
import {
  ConnectResponse,
  decode,
  ErrorCode,
  type EventType,
  eventName,
  ProtocolError,
  type Reader,
  readNamed,
  ReplyHeader,
  type TypeOf,
  ustring,
  WatcherEvent,
  Xid,
} from '@zk/wire'

export const REPLY_HEADER_SIZE = ReplyHeader.minSize

export type Incoming =
  | { readonly type: 'ping' }
  | { readonly type: 'auth'; readonly err: number }
  /** `event` is undefined for a type that this version does not know. */
  | { readonly type: 'event'; readonly event: EventType | undefined; readonly path: string; readonly zxid: bigint }
  | {
      readonly type: 'reply'
      readonly xid: number
      readonly zxid: bigint
      readonly err: number
      readonly body: Reader
      /** Why the body was dropped, if it was. */
      readonly tooLarge: ProtocolError | undefined
    }

/** The last field of `WatcherEvent`, with a name for errors. */
const eventPath = { ...ustring, name: 'WatcherEvent.path' }

/**
 * Reads headers and events field by field: through the type of its record, an event took a sixth more. If the frame was too
 * large, there is only a header, which must be a reply's.
 */
export function readIncoming(body: Reader, tooLarge?: ProtocolError): Incoming {
  // If the header is too short, this throws an error that names the missing field.
  if (body.remaining < REPLY_HEADER_SIZE) readNamed(ReplyHeader, body)
  const xid = body.int()
  const zxid = body.long()
  const err = body.int()
  if (tooLarge !== undefined && xid < 0) throw tooLarge
  // A server that requires SASL refuses every request before it, pings included.
  const isRefused = err === ErrorCode.SessionClosedRequireSaslAuth
  if (xid === Xid.auth || (xid === Xid.ping && isRefused)) return { type: 'auth', err }
  if (xid === Xid.ping) return { type: 'ping' }
  if (xid !== Xid.notification) return { type: 'reply', xid, zxid, err, body, tooLarge }
  if (body.remaining < WatcherEvent.minSize) readNamed(WatcherEvent, body)
  const type = body.int()
  // The state of the session.
  body.int()
  return { type: 'event', event: eventName(type), path: readNamed(eventPath, body) ?? '', zxid }
}

/** Whether this length of a frame is in fact the beginning of a TLS alert: the type, the version 3.x, and half of the length. */
export const isTlsAlert = (length: number) => length >>> 16 === 0x1503

/** The length of a frame comes before its bytes. */
const LENGTH_SIZE = 4

/** The size in bytes with an empty password and without `readOnly`, which 3.3 servers leave out. */
const SHORTEST_CONNECT_RESPONSE = 20

/**
 * Throws if the answer to a ConnectRequest is the request itself: the port belongs to an echo server, or to our own socket
 * (`isConnectedToItself`). Read as an answer, the request could mean that the session has expired.
 */
export function assertNoEcho(answer: Uint8Array, request: Uint8Array): void {
  const sent = request.subarray(LENGTH_SIZE)
  if (answer.byteLength < sent.byteLength || sent.byteLength === 0) return
  if (sent.every((byte, index) => byte === answer[index])) {
    throw new ProtocolError('the handshake was answered with the request itself: this is not a ZooKeeper server')
  }
}

/**
 * Decodes and checks the answer to the ConnectRequest. A `timeOut` of 0 or less means that the session has expired. The
 * answer may be about a session that was not requested.
 */
export function readConnectResponse(frame: Uint8Array, canBeReadOnly = false): TypeOf<typeof ConnectResponse> {
  if (frame.byteLength === REPLY_HEADER_SIZE) {
    // This is the answer of a read-only server without local sessions.
    throw new ProtocolError(`the handshake was refused with code ${decode(ReplyHeader, frame).err}`)
  }
  if (frame.byteLength < SHORTEST_CONNECT_RESPONSE) {
    throw new ProtocolError(`a handshake cannot be answered with ${frame.byteLength} bytes`)
  }
  const response = decode(ConnectResponse, frame)
  if (response.timeOut <= 0) return response
  if (response.sessionId === 0n) throw new ProtocolError('the handshake was answered with session id 0')
  if (response.readOnly && !canBeReadOnly) throw new ProtocolError('the server is read-only, which was not asked for')
  return response
}
