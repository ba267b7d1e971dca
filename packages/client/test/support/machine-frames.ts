// Frames without their lengths, and what is in the bytes of a client.
import { FrameDecoder, Xid } from '@zk/wire'
import { type Handshake, handshakeFrame, replyFrame } from './frames.ts'
import { readRequest, type ReceivedRequest } from './requests.ts'

export const SESSION_ID = 0x1234n
export const passwd = new Uint8Array(16).fill(7)

/** The answer to a ConnectRequest. */
export function connectReply(given: Handshake = {}): Uint8Array {
  return handshakeFrame({ timeOut: 30_000, sessionId: SESSION_ID, passwd, readOnly: false, ...given })
}

/** The answer to a ping; servers say 0 for its zxid. */
export function pingReply(zxid = 0n): Uint8Array {
  return replyFrame({ xid: Xid.ping, zxid })
}

export function authReply(err = 0): Uint8Array {
  return replyFrame({ xid: Xid.auth, zxid: 0n, err })
}

/** A frame without its length: what `FrameDecoder` gives. */
export function bodyOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(4)
}

export function bodiesIn(bytes: Uint8Array | undefined): Uint8Array[] {
  const decoder = new FrameDecoder()
  if (bytes !== undefined) decoder.push(bytes)
  const bodies: Uint8Array[] = []
  for (let body = decoder.next(); body !== undefined; body = decoder.next()) bodies.push(body)
  return bodies
}

/** The requests in the bytes of a client, after its ConnectRequest. */
export function requestsIn(bytes: Uint8Array | undefined): ReceivedRequest[] {
  return bodiesIn(bytes).map(readRequest)
}

/** The same in words: `getData /a`. */
export function namesIn(bytes: Uint8Array | undefined): string[] {
  return requestsIn(bytes).map(({ name, body }) => ('path' in body ? `${name} ${body.path}` : name))
}
