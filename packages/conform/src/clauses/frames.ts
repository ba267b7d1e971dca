// Frames as bytes, for checks of what no session sends.
import {
  concat,
  type ConnectRequest,
  encodeMessage,
  type OperationName,
  operations,
  type RequestMessage,
  type RequestOf,
  type TypeOf,
} from '@zk/wire'
import { int32 } from '../play/index.ts'

/** The bytes after a length, which may be wrong. */
export function frame(body: Uint8Array, length = body.length): Uint8Array {
  return concat([int32(length), body])
}

/** A request, whose paths are sent as they are. */
export function requestFrame<Name extends OperationName>(
  op: Name,
  request: RequestOf<Name>['request'],
  xid: number,
): Uint8Array {
  return encodeMessage({ type: 'request', op, opCode: operations[op].opCode, xid, request } as RequestMessage)
}

/** A handshake for a new session. */
export function connectFrame(fields: Partial<TypeOf<typeof ConnectRequest>> = {}): Uint8Array {
  const passwd = new Uint8Array(16)
  const request = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 10_000, sessionId: 0n, passwd, readOnly: false }
  return encodeMessage({ type: 'connect', request: { ...request, ...fields } })
}

/** The int at this place; NaN if there are too few bytes. */
export function intAt(bytes: Uint8Array, offset: number): number {
  if (bytes.length < offset + 4) return NaN
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(offset)
}
