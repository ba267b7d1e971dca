// Turns the frames of a client into requests.
import {
  decodeClientFrame,
  operationName,
  ProtocolError,
  Reader,
  readNamed,
  RequestHeader,
  type RequestMessage,
} from '@zk/wire'
import type { Connection, ServerRequest } from '../server/request.ts'
import type { FaultRule } from './fault-rule.ts'

export interface Parsed {
  readonly message: RequestMessage
  /** Whether the body could not be read. Then the processor of the request refuses it (MarshallingError). */
  readonly isMalformed: boolean
}

/** A request that waits for its answer on its connection. */
export interface Pending extends ServerRequest {
  readonly connection: Connection
  /** The time at which it arrived, in ms since the ensemble began. */
  readonly takenAt: number
  /** The fault that strikes it. */
  readonly rule: FaultRule | undefined
}

interface Origin {
  readonly connection: Connection
  readonly member: string
  /** In ms since the ensemble began. */
  readonly now: number
}

export function pendingOf(
  { message, isMalformed }: Parsed,
  { connection, member, now }: Origin,
  rule: FaultRule | undefined,
): Pending {
  const { sessionId, authInfo } = connection
  return { sessionId, message, isMalformed, authInfo, owner: member, connection, takenAt: now, rule }
}

/** Decodes a request. Throws a `ProtocolError` if the frame has no whole header: then the connection is closed. */
export function parseRequest(frame: Uint8Array): Parsed {
  try {
    return { message: decodeClientFrame(frame, false) as RequestMessage, isMalformed: false }
  } catch (error) {
    if (!ProtocolError.is(error)) throw error
  }
  const reader = new Reader(frame)
  const { xid, type: opCode } = readNamed(RequestHeader, reader)
  const rest = reader.rest()
  const message = { type: 'request', op: operationName(opCode), opCode, xid, request: undefined, rest }
  return { message: message as RequestMessage, isMalformed: true }
}

/** Called for a request that gets no answer. A rule that would have struck the answer may strike another one. */
export function releaseUnstruck(rule: FaultRule | undefined): void {
  const type = rule?.fault.type
  if (type !== 'loseRequest' && type !== 'delayRequest') rule?.release()
}

/** The error code that a rule gives to a request in place of executing it. */
export function refusalOf(rule: FaultRule | undefined): number | undefined {
  return rule?.fault.type === 'fail' ? rule.fault.err : undefined
}
