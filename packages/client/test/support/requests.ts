// What a client sends, decoded.
import {
  AddWatchRequest,
  AuthPacket,
  CheckWatchesRequest,
  CreateRequest,
  CreateTTLRequest,
  DeleteRequest,
  ExistsRequest,
  GetACLRequest,
  GetAllChildrenNumberRequest,
  GetChildren2Request,
  GetDataRequest,
  GetEphemeralsRequest,
  GetSASLRequest,
  MultiRequest,
  OpCode,
  Reader,
  readNamed,
  ReconfigRequest,
  record,
  RemoveWatchesRequest,
  RequestHeader,
  SetACLRequest,
  SetDataRequest,
  SetWatches,
  SetWatches2,
  SyncRequest,
  type Type,
  type TypeOf,
} from '@zk/wire'

const Nothing = record('Nothing', {})

const bodies = {
  [OpCode.addWatch]: AddWatchRequest,
  [OpCode.auth]: AuthPacket,
  [OpCode.checkWatches]: CheckWatchesRequest,
  [OpCode.closeSession]: Nothing,
  [OpCode.create2]: CreateRequest,
  [OpCode.createContainer]: CreateRequest,
  [OpCode.createTTL]: CreateTTLRequest,
  [OpCode.delete]: DeleteRequest,
  [OpCode.exists]: ExistsRequest,
  [OpCode.getACL]: GetACLRequest,
  [OpCode.getAllChildrenNumber]: GetAllChildrenNumberRequest,
  [OpCode.getChildren2]: GetChildren2Request,
  [OpCode.getData]: GetDataRequest,
  [OpCode.getEphemerals]: GetEphemeralsRequest,
  [OpCode.multi]: MultiRequest,
  [OpCode.multiRead]: MultiRequest,
  [OpCode.ping]: Nothing,
  [OpCode.reconfig]: ReconfigRequest,
  [OpCode.removeWatches]: RemoveWatchesRequest,
  [OpCode.sasl]: GetSASLRequest,
  [OpCode.setACL]: SetACLRequest,
  [OpCode.setData]: SetDataRequest,
  [OpCode.setWatches]: SetWatches,
  [OpCode.setWatches2]: SetWatches2,
  [OpCode.sync]: SyncRequest,
  [OpCode.whoAmI]: Nothing,
} as const

/** The opcodes that a fake server understands. */
export type KnownOpCode = keyof typeof bodies

export interface ReceivedRequest<Op extends KnownOpCode = KnownOpCode> {
  readonly xid: number
  readonly opCode: Op
  /** The opcode's name. */
  readonly name: string
  readonly body: TypeOf<(typeof bodies)[Op]>
  /** Length of the frame without the four bytes that say it. */
  readonly size: number
}

export function readRequest(frame: Uint8Array): ReceivedRequest {
  const reader = new Reader(frame)
  const { xid, type } = readNamed(RequestHeader, reader)
  if (!Object.hasOwn(bodies, type))
    throw new Error(`a request with opcode ${type}, which the fake server does not know`)
  const opCode = type as KnownOpCode
  const body = readNamed(bodies[opCode] as Type<ReceivedRequest['body']>, reader)
  if (reader.remaining > 0) throw new Error(`${reader.remaining} bytes too many in a ${opName(opCode)} request`)
  return { xid, opCode, name: opName(opCode), body, size: frame.byteLength }
}

const names = new Map<number, string>(Object.entries(OpCode).map(([name, code]) => [code, name]))

export function opName(opCode: number): string {
  return names.get(opCode) ?? `opcode ${opCode}`
}
