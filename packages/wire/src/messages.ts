// Turns the frames of a connection into typed messages, and messages back into the same bytes.
import { OpCode, Xid } from './constants.ts'
import { encodeFrame } from './frame.ts'
import { type Operation, type OperationName, operationName, type Operations, operations } from './operations.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { ConnectRequest, ConnectResponse, ReplyHeader, RequestHeader, WatcherEvent } from './records/proto.ts'
import { boolean, readNamed, record, trailing, type Type, type TypeOf, writeNamed } from './type.ts'
import type { Writer } from './writer.ts'

/** The fields of all messages except text. */
interface Message {
  /**
   * Bytes that this version does not read: fields that a newer peer has added, the body of an operation that this version
   * does not know, or the body of a reply with an error. Absent if there are none.
   */
  readonly rest?: Uint8Array | undefined
}

/** The first frame of a client. `readOnly` is undefined if its byte is missing, as with clients before 3.4. */
export interface ConnectMessage extends Message {
  /** The kind of the message. */
  readonly type: 'connect'
  /** The handshake of the client. */
  readonly request: TypeOf<typeof connectRequest>
}

/** The first frame of a server. `timeOut` 0 means that the session has expired. */
export interface ConnectedMessage extends Message {
  /** The kind of the message. */
  readonly type: 'connected'
  /** The handshake of the server. */
  readonly response: TypeOf<typeof connectResponse>
}

/** The value of this record type, or undefined if the operation has no record. */
type ValueOf<Body> = Body extends Type<infer Value> ? Value : undefined

/** A request. After a check such as `op === 'getData'`, TypeScript knows the type of `request`. */
export type RequestMessage = { [Name in OperationName]: RequestOf<Name> }[OperationName] | UnknownRequest

/** A request of one operation. */
export interface RequestOf<Name extends OperationName> extends Message {
  /** The kind of the message. */
  readonly type: 'request'
  /** The name of the operation. */
  readonly op: Name
  /** The opcode of the operation. */
  readonly opCode: Operations[Name]['opCode']
  /** A number that the client has chosen, or one of `Xid`. The reply has the same xid. */
  readonly xid: number
  /** The body of the request; undefined if the operation has none. */
  readonly request: ValueOf<Operations[Name]['request']>
}

/** A request with an opcode that this version does not know. Its whole body is in `rest`. */
export interface UnknownRequest extends Message {
  /** The kind of the message. */
  readonly type: 'request'
  /** This version does not know the operation. */
  readonly op: undefined
  /** The opcode of the operation. */
  readonly opCode: number
  /** The xid. */
  readonly xid: number
  /** This version cannot read the body: see `rest`. */
  readonly request: undefined
}

/** A reply. `op` is the name of the requested operation. Replies to pings and auth have reserved xids. */
export type ReplyMessage = { [Name in OperationName]: ReplyOf<Name> }[OperationName] | UnknownReply

/** A reply to one operation. */
export interface ReplyOf<Name extends OperationName> extends Message {
  /** The kind of the message. */
  readonly type: 'reply'
  /** The name of the operation that was requested. */
  readonly op: Name
  /** The opcode of the operation. */
  readonly opCode: Operations[Name]['opCode']
  /** The xid of the request. */
  readonly xid: number
  /** The zxid of the latest transaction that the server had applied. */
  readonly zxid: bigint
  /** An `ErrorCode`, or a number that this version does not know. */
  readonly err: number
  /** The body of the reply. Undefined if `err` is not 0, or if replies of the operation have no body. */
  readonly response: ValueOf<Operations[Name]['response']> | undefined
}

/** The reply to an `UnknownRequest`, or a reply header in place of a ConnectResponse: a refused handshake. */
export interface UnknownReply extends Message {
  /** The kind of the message. */
  readonly type: 'reply'
  /** This version does not know the operation, or there was none. */
  readonly op: undefined
  /** The opcode of the operation; undefined if a handshake was refused. */
  readonly opCode: number | undefined
  /** The xid of the request. */
  readonly xid: number
  /** The zxid of the latest transaction that the server had applied. */
  readonly zxid: bigint
  /** An `ErrorCode`, or a number that this version does not know. */
  readonly err: number
  /** This version cannot read the body: see `rest`. */
  readonly response: undefined
}

/** A watch has fired. */
export interface EventMessage extends Message {
  /** The kind of the message. */
  readonly type: 'event'
  /** The zxid of the transaction that fired the watch. Servers before 3.9 send -1. */
  readonly zxid: bigint
  /** Servers always send 0. */
  readonly err: number
  /** What happened, and to which node. */
  readonly event: TypeOf<typeof WatcherEvent>
}

/** Text in place of frames: a four-letter word, or the answer to one. It may be a part: the bytes so far. */
export interface TextMessage {
  /** The kind of the message. */
  readonly type: 'text'
  /** The text, in the encoding of the server, which is usually ASCII. */
  readonly bytes: Uint8Array
}

/** What a client sends. */
export type ClientMessage = ConnectMessage | RequestMessage | TextMessage
/** What a server sends. */
export type ServerMessage = ConnectedMessage | ReplyMessage | EventMessage | TextMessage

// A 3.3 peer leaves this field out. `encodeMessage` must then leave it out, too, to return the same bytes.
const readOnly = trailing<boolean | undefined>(boolean, undefined)
/** A `ConnectRequest` whose `readOnly` is undefined if its byte is missing. */
const connectRequest = record('ConnectRequest', { ...ConnectRequest.fields, readOnly })
/** A `ConnectResponse` whose `readOnly` is undefined if its byte is missing. */
const connectResponse = record('ConnectResponse', { ...ConnectResponse.fields, readOnly })

/** Decodes a frame of a client. `first` says that it is the first frame of its connection. */
export function decodeClientFrame(frame: Uint8Array, first: boolean): ConnectMessage | RequestMessage {
  const reader = new Reader(frame)
  if (first) return withRest({ type: 'connect', request: readNamed(connectRequest, reader) }, reader)
  const { xid, type: opCode } = readNamed(RequestHeader, reader)
  const op = operationName(opCode)
  const request = readBody(op && operations[op].request, reader)
  return withRest({ type: 'request', op, opCode, xid, request } as RequestMessage, reader)
}

/** What must be known of a request to decode its reply. */
export interface Asked {
  /** The opcode of the operation. */
  readonly opCode: number
  /** The number of operations in a multi; undefined if it is not known. The reply must have as many results. */
  readonly parts?: number | undefined
}

/**
 * Decodes a frame of a server. `first` says that it is the first frame of its connection. `pendingRequest` returns the
 * request that waits under this xid, or undefined. If it returns undefined, a reply with the reserved xid of ping or auth is
 * still recognized. Any other reply is then a `ProtocolError`.
 */
export function decodeServerFrame(
  frame: Uint8Array,
  first: boolean,
  pendingRequest: (xid: number) => Asked | undefined,
): ConnectedMessage | ReplyMessage | EventMessage {
  const reader = new Reader(frame)
  // A read-only server may refuse a handshake with the header of a reply and nothing more (ReadOnlyRequestProcessor).
  if (first && frame.byteLength !== ReplyHeader.minSize) {
    return withRest({ type: 'connected', response: readNamed(connectResponse, reader) }, reader)
  }
  const { xid, zxid, err } = readNamed(ReplyHeader, reader)
  if (!first && xid === Xid.notification) {
    return withRest({ type: 'event', zxid, err, event: readNamed(WatcherEvent, reader) }, reader)
  }
  const asked = first ? {} : (pendingRequest(xid) ?? requestByReservedXid[xid])
  if (asked === undefined) throw new ProtocolError(`a reply with xid ${xid}, which is not the next due`)
  const { opCode, parts }: Partial<Asked> = asked
  const op = operationName(opCode as number)
  const response = readBody(op && err === 0 ? operations[op].response : undefined, reader)
  if (parts !== undefined && Array.isArray(response) && response.length !== parts) {
    throw new ProtocolError(`${response.length} results for a multi of ${parts} operations`)
  }
  return withRest({ type: 'reply', op, opCode, xid, zxid, err, response } as ReplyMessage, reader)
}

/**
 * Encodes a message as a whole frame, with the length before it. A text message is returned as it is. The bytes are those
 * that the message was decoded from, with three exceptions: a boolean that was neither 0 nor 1, malformed UTF-8, and those
 * fields in the headers of a multi that no peer reads.
 */
export function encodeMessage(message: ClientMessage | ServerMessage): Uint8Array {
  if (message.type === 'text') return message.bytes
  return encodeFrame((writer) => {
    write(writer, message)
    if (message.rest !== undefined) writer.raw(message.rest)
  })
}

function write(writer: Writer, message: Exclude<ClientMessage | ServerMessage, TextMessage>): void {
  switch (message.type) {
    case 'connect':
      return writeNamed(connectRequest, writer, message.request)
    case 'connected':
      return writeNamed(connectResponse, writer, message.response)
    case 'request':
      RequestHeader.write(writer, { xid: message.xid, type: message.opCode })
      return writeBody(writer, message, 'request')
    case 'reply':
      ReplyHeader.write(writer, message)
      // A reply with an error has no body.
      if (message.err !== 0 && message.response === undefined) return
      return writeBody(writer, message, 'response')
    // A value that is not a message (possible in plain JavaScript) comes here, too. It has no `event`, so the write throws.
    case 'event':
    default:
      ReplyHeader.write(writer, { ...message, xid: Xid.notification })
      return writeNamed(WatcherEvent, writer, message.event)
  }
}

function readBody(type: Type<unknown> | undefined, reader: Reader): unknown {
  return type && readNamed(type, reader)
}

/**
 * `opCode` decides which record is written, because the peer reads by `opCode`. If `op` names another operation, the body
 * lacks fields of that record, and the write throws.
 */
function writeBody(writer: Writer, message: RequestMessage | ReplyMessage, body: 'request' | 'response'): void {
  const type = message.op && (operations[operationName(message.opCode)!] as Operation)[body]
  if (type !== undefined) writeNamed(type, writer, (message as Partial<Record<typeof body, unknown>>)[body])
}

/** Adds the bytes that the reader has not read, as `rest`. */
function withRest<M extends object>(message: M, reader: Reader): M {
  return reader.remaining === 0 ? message : { ...message, rest: reader.rest() }
}

/** The requests whose replies have reserved xids. */
const requestByReservedXid: Readonly<Record<number, Asked>> = {
  [Xid.ping]: { opCode: OpCode.ping },
  [Xid.auth]: { opCode: OpCode.auth },
}
