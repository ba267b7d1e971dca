// Makes requests of the frames of a client.
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
  /** The body could not be read. The processor of the request refuses it (MarshallingError), not the connection. */
  readonly isMalformed: boolean
}

/** A request that waits for its answer on its connection. */
export interface Pending extends ServerRequest {
  readonly connection: Connection
  /** When it arrived, in ms since the ensemble began. */
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

/** Throws a `ProtocolError` for a frame without a header: then the connection is closed. */
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

/** The request gets no answer. A rule that would have struck the answer may strike another one. */
export function releaseUnstruck(rule: FaultRule | undefined): void {
  const type = rule?.fault.type
  if (type !== 'loseRequest' && type !== 'delayRequest') rule?.release()
}

/** The answer that a rule gives to a request which is not executed. */
export function refusalOf(rule: FaultRule | undefined): number | undefined {
  return rule?.fault.type === 'fail' ? rule.fault.err : undefined
}
