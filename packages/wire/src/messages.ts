// The frames of one connection as typed messages, and back to the same bytes.
import { OpCode, Xid } from './constants.ts'
import { encodeFrame } from './frame.ts'
import { type Operation, type OperationName, operationName, type Operations, operations } from './operations.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { ConnectRequest, ConnectResponse, ReplyHeader, RequestHeader, WatcherEvent } from './records/proto.ts'
import { boolean, readNamed, record, trailing, type Type, type TypeOf, writeNamed } from './type.ts'
import type { Writer } from './writer.ts'

/** The fields of all messages but text. */
interface Message {
  /**
   * Bytes that this version does not read: fields that a newer peer has added, the body of an operation that this version
   * does not know, or the body of a reply with an error. Absent where there are none.
   */
  readonly rest?: Uint8Array | undefined
}

/** The first frame of a client. `readOnly` is undefined where its byte is missing: before 3.4. */
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

/** The values of a record, where there is one. */
type ValueOf<Body> = Body extends Type<infer Value> ? Value : undefined

/** A request by the name of its operation, so that `op === 'getData'` gives the type of `request`. */
export type RequestMessage = { [Name in OperationName]: RequestOf<Name> }[OperationName] | UnknownRequest

/** A request of one operation. */
export interface RequestOf<Name extends OperationName> extends Message {
  /** The kind of the message. */
  readonly type: 'request'
  /** The name of the operation. */
  readonly op: Name
  /** Its number. */
  readonly opCode: Operations[Name]['opCode']
  /** The reply has the same xid: a number of the client, or one of `Xid`. */
  readonly xid: number
  /** Its body; undefined where it has none. */
  readonly request: ValueOf<Operations[Name]['request']>
}

/** A request of an operation without a name here. Its body is the `rest`. */
export interface UnknownRequest extends Message {
  /** The kind of the message. */
  readonly type: 'request'
  /** No name is known here. */
  readonly op: undefined
  /** The number of the operation. */
  readonly opCode: number
  /** The reply has the same xid. */
  readonly xid: number
  /** Nothing is known of its body. */
  readonly request: undefined
}

/** A reply, with the name of the operation that it answers. Replies to pings and auth have reserved xids. */
export type ReplyMessage = { [Name in OperationName]: ReplyOf<Name> }[OperationName] | UnknownReply

/** A reply to one operation. */
export interface ReplyOf<Name extends OperationName> extends Message {
  /** The kind of the message. */
  readonly type: 'reply'
  /** The name of the operation that it answers. */
  readonly op: Name
  /** Its number. */
  readonly opCode: Operations[Name]['opCode']
  /** That of the request. */
  readonly xid: number
  /** The latest transaction that the server had applied. */
  readonly zxid: bigint
  /** An `ErrorCode`, or a number that is not assigned yet. */
  readonly err: number
  /** Undefined where `err` is not 0, and where the reply of the operation has no body. */
  readonly response: ValueOf<Operations[Name]['response']> | undefined
}

/** The reply to an operation without a name here, or a handshake that a server refused with the header of a reply. */
export interface UnknownReply extends Message {
  /** The kind of the message. */
  readonly type: 'reply'
  /** No name is known here. */
  readonly op: undefined
  /** The number of the operation; undefined where a handshake was refused. */
  readonly opCode: number | undefined
  /** That of the request. */
  readonly xid: number
  /** The latest transaction that the server had applied. */
  readonly zxid: bigint
  /** An `ErrorCode`, or a number that is not assigned yet. */
  readonly err: number
  /** Nothing is known of its body. */
  readonly response: undefined
}

/** A watch has fired. */
export interface EventMessage extends Message {
  /** The kind of the message. */
  readonly type: 'event'
  /** The zxid of the transaction, from servers of 3.9 on; -1 from others. */
  readonly zxid: bigint
  /** 0, as servers send it. */
  readonly err: number
  /** What happened, and to which node. */
  readonly event: TypeOf<typeof WatcherEvent>
}

/** Text in place of the first frame: a four-letter word, or the answer to one. It may be a part: the bytes so far. */
export interface TextMessage {
  /** The kind of the message. */
  readonly type: 'text'
  /** The text, in the encoding of the server: ASCII as a rule. */
  readonly bytes: Uint8Array
}

/** What a client sends. */
export type ClientMessage = ConnectMessage | RequestMessage | TextMessage
/** What a server sends. */
export type ServerMessage = ConnectedMessage | ReplyMessage | EventMessage | TextMessage

// A field that a 3.3 peer leaves out must stay out when its frame is written again.
const readOnly = trailing<boolean | undefined>(boolean, undefined)
/** A `ConnectRequest` whose `readOnly` is undefined where its byte is missing. */
const connectRequest = record('ConnectRequest', { ...ConnectRequest.fields, readOnly })
/** A `ConnectResponse` whose `readOnly` is undefined where its byte is missing. */
const connectResponse = record('ConnectResponse', { ...ConnectResponse.fields, readOnly })

/** Reads a frame of a client. `first`: it is the first one of its connection. */
export function decodeClientFrame(frame: Uint8Array, first: boolean): ConnectMessage | RequestMessage {
  const reader = new Reader(frame)
  if (first) return withRest({ type: 'connect', request: readNamed(connectRequest, reader) }, reader)
  const { xid, type: opCode } = readNamed(RequestHeader, reader)
  const op = operationName(opCode)
  const request = readBody(op && operations[op].request, reader)
  return withRest({ type: 'request', op, opCode, xid, request } as RequestMessage, reader)
}

/** The part of a request that is needed to read the reply. */
export interface Asked {
  /** The operation, by its number. */
  readonly opCode: number
  /** The number of operations of a multi, where it is known. The reply must have as many results. */
  readonly parts?: number | undefined
}

/**
 * Reads a frame of a server. `first`: it is the first one of its connection. `askedUnder` returns the request with this xid,
 * or undefined where no request waits, which is a `ProtocolError`. Replies to pings and auth are recognized by their xids
 * where it returns undefined.
 */
export function decodeServerFrame(
  frame: Uint8Array,
  first: boolean,
  askedUnder: (xid: number) => Asked | undefined,
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
  const asked = first ? {} : (askedUnder(xid) ?? answeredApart[xid])
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
 * The bytes of a message, with the length of its frame. They are equal to those that it was decoded from, with three
 * exceptions: a boolean that was neither 0 nor 1, malformed UTF-8, and numbers in the headers of a multi that no peer reads.
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
      // A reply with an error has none.
      if (message.err !== 0 && message.response === undefined) return
      return writeBody(writer, message, 'response')
    // A value that is no message has not the fields of an event, and is refused for that.
    case 'event':
    default:
      ReplyHeader.write(writer, { ...message, xid: Xid.notification })
      return writeNamed(WatcherEvent, writer, message.event)
  }
}

function readBody(type: Type<unknown> | undefined, reader: Reader): unknown {
  return type && readNamed(type, reader)
}

/** The opCode decides, as at the peer. Where `op` names another operation, the fields of the body do not fit. */
function writeBody(writer: Writer, message: RequestMessage | ReplyMessage, body: 'request' | 'response'): void {
  const type = message.op && (operations[operationName(message.opCode)!] as Operation)[body]
  if (type !== undefined) writeNamed(type, writer, (message as Partial<Record<typeof body, unknown>>)[body])
}

/** Adds the bytes that the reader has not read. */
function withRest<M extends object>(message: M, reader: Reader): M {
  return reader.remaining === 0 ? message : { ...message, rest: reader.rest() }
}

/** Replies with a reserved xid. */
const answeredApart: Readonly<Record<number, Asked>> = {
  [Xid.ping]: { opCode: OpCode.ping },
  [Xid.auth]: { opCode: OpCode.auth },
}
