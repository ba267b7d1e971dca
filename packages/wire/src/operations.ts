// Every opcode: what it does to the nodes, which release brought it, what is sent and what is answered. (multi.ts says
// the same of what may be part of a multi; a test compares them.)
import { nameOf, OpCode } from './constants.ts'
import { MultiRequest, MultiResponse } from './multi.ts'
import * as proto from './records/proto.ts'
import type { Type } from './type.ts'

/**
 * What a lost reply leaves open: after a `read` nothing, for it changes no node; after a `write` whether it happened;
 * `neither` is about the connection, the session or its watches, or nothing that a client asks for.
 */
export type OperationKind = 'read' | 'write' | 'neither'

/** What may follow a header. */
type Body = Type<unknown> | undefined

/** What there is to know of an operation. */
export interface Operation<
  Kind extends OperationKind = OperationKind,
  Request extends Body = Body,
  Response extends Body = Body,
> {
  /** What a lost reply leaves open. */
  readonly kind: Kind
  /** The number by which requests name it. */
  readonly opCode: number
  /** First release whose servers know it. Older ones answer -6 (Unimplemented), and since 3.4.6 close the connection. */
  readonly since: string
  /** undefined where nothing follows the request header. */
  readonly request: Request
  /** undefined where nothing follows the reply header. What follows one with an error is not read. */
  readonly response: Response
}

const ofKind =
  <Kind extends OperationKind>(kind: Kind) =>
  <Request extends Body = undefined, Response extends Body = undefined>(
    since: string,
    request?: Request,
    response?: Response,
  ) =>
    ({ kind, since, request, response }) as Omit<Operation<Kind, Request, Response>, 'opCode'>

const read = ofKind('read')
const write = ofKind('write')
const neither = ofKind('neither')

/** By name, each with its `opCode`: `operations.getData` is `{ opCode: 4, kind: 'read', since, request, response }`. */
export const operations = withOpCodes({
  /** Never asked for: what a watch sends, under the xid -1. */
  notification: neither('3.0.0', undefined, proto.WatcherEvent),
  create: write('3.0.0', proto.CreateRequest, proto.CreateResponse),
  delete: write('3.0.0', proto.DeleteRequest),
  exists: read('3.0.0', proto.ExistsRequest, proto.ExistsResponse),
  getData: read('3.0.0', proto.GetDataRequest, proto.GetDataResponse),
  setData: write('3.0.0', proto.SetDataRequest, proto.SetDataResponse),
  getACL: read('3.0.0', proto.GetACLRequest, proto.GetACLResponse),
  setACL: write('3.0.0', proto.SetACLRequest, proto.SetACLResponse),
  getChildren: read('3.0.0', proto.GetChildrenRequest, proto.GetChildrenResponse),
  sync: neither('3.0.0', proto.SyncRequest, proto.SyncResponse),
  ping: neither('3.0.0'),
  getChildren2: read('3.3.0', proto.GetChildren2Request, proto.GetChildren2Response),
  /** Part of a multi. Alone it is answered -6 from 3.8.5 and 3.9.3 on; servers before them execute it (ZOOKEEPER-2623). */
  check: write('3.4.0', proto.CheckVersionRequest),
  multi: write('3.4.0', MultiRequest, MultiResponse),
  create2: write('3.5.0', proto.CreateRequest, proto.Create2Response),
  reconfig: write('3.5.0', proto.ReconfigRequest, proto.GetDataResponse),
  /** Only looks whether the watch is there. */
  checkWatches: neither('3.5.0', proto.CheckWatchesRequest),
  removeWatches: neither('3.5.0', proto.RemoveWatchesRequest),
  createContainer: write('3.5.1', proto.CreateRequest, proto.Create2Response),
  /** Sent by the leader to itself; its body is a path, up to 3.8 without a length. */
  deleteContainer: write('3.5.1'),
  createTTL: write('3.5.3', proto.CreateTTLRequest, proto.Create2Response),
  multiRead: read('3.6.0', MultiRequest, MultiResponse),
  auth: neither('3.0.0', proto.AuthPacket),
  setWatches: neither('3.0.0', proto.SetWatches),
  sasl: neither('3.4.0', proto.GetSASLRequest, proto.SetSASLResponse),
  getEphemerals: read('3.6.0', proto.GetEphemeralsRequest, proto.GetEphemeralsResponse),
  getAllChildrenNumber: read('3.6.0', proto.GetAllChildrenNumberRequest, proto.GetAllChildrenNumberResponse),
  setWatches2: neither('3.6.0', proto.SetWatches2),
  /** Its reply has a body that says nothing. */
  addWatch: neither('3.6.0', proto.AddWatchRequest, proto.ErrorResponse),
  whoAmI: read('3.7.0', undefined, proto.WhoAmIResponse),
  /** Between servers; a client asks for a session with a ConnectRequest. */
  createSession: neither('3.0.0'),
  closeSession: neither('3.0.0'),
  /** Marks what failed: transactions, and results in a multi. */
  error: neither('3.0.0', undefined, proto.ErrorResponse),
})

/** The type of `operations`. */
export type Operations = typeof operations
/** A name of `operations`. */
export type OperationName = keyof Operations

/** The name of an opcode, or undefined for one that this version of the package does not know. */
export const operationName: (opCode: number) => OperationName | undefined = nameOf(OpCode)

// Rows are typed as `object`: with `Operation`, a missing record would be taken for whatever record there may be.
type ByName = Readonly<Record<keyof typeof OpCode, object>>
/** Rows with their numbers. */
type WithOpCodes<Rows> = {
  readonly [Name in keyof Rows & keyof typeof OpCode]: Rows[Name] & { readonly opCode: (typeof OpCode)[Name] }
}

function withOpCodes<Rows extends ByName>(
  rows: Rows & Record<Exclude<keyof Rows, keyof ByName>, never>,
): WithOpCodes<Rows> {
  const entries = Object.entries(OpCode).map(([name, opCode]) => [name, { opCode, ...rows[name as keyof ByName] }])
  return Object.fromEntries(entries) as WithOpCodes<Rows>
}
