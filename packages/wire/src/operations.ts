// Every opcode: what it does to the nodes, its first release, its request and its response. (multi.ts has the same for the
// parts of a multi. A test compares both.)
import { nameOf, OpCode } from './constants.ts'
import { MultiRequest, MultiResponse } from './multi.ts'
import * as proto from './records/proto.ts'
import type { Type } from './type.ts'

/**
 * What an operation changes. A `read` changes no node. A `write` may change nodes, so a lost reply leaves its outcome
 * unknown. `neither` concerns the connection, the session or its watches, or is no request of clients.
 */
export type OperationKind = 'read' | 'write' | 'neither'

/** A body behind a header. */
type Body = Type<unknown> | undefined

/** The description of an operation. */
export interface Operation<
  Kind extends OperationKind = OperationKind,
  Request extends Body = Body,
  Response extends Body = Body,
> {
  /** Whether it reads or writes. */
  readonly kind: Kind
  /** Its number in requests. */
  readonly opCode: number
  /** The first release with it. Older servers answer -6 (Unimplemented); from 3.4.6 on they also close the connection. */
  readonly since: string
  /** Undefined where nothing follows the request header. */
  readonly request: Request
  /** Undefined where nothing follows the reply header. Bytes behind a header with an error are not read. */
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

/** All operations by name: `operations.getData` is `{ opCode: 4, kind: 'read', since, request, response }`. */
export const operations = withOpCodes({
  /** No request: an event of a watch, with the xid -1. */
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
  /** A part of a multi. As a request of its own, servers from 3.8.5 and 3.9.3 on answer -6, older ones execute it (ZOOKEEPER-2623). */
  check: write('3.4.0', proto.CheckVersionRequest),
  multi: write('3.4.0', MultiRequest, MultiResponse),
  create2: write('3.5.0', proto.CreateRequest, proto.Create2Response),
  reconfig: write('3.5.0', proto.ReconfigRequest, proto.GetDataResponse),
  /** Asks whether the server has such a watch. */
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
  /** The body of its reply has no meaning. */
  addWatch: neither('3.6.0', proto.AddWatchRequest, proto.ErrorResponse),
  whoAmI: read('3.7.0', undefined, proto.WhoAmIResponse),
  /** Between servers. A client requests a session with a ConnectRequest. */
  createSession: neither('3.0.0'),
  closeSession: neither('3.0.0'),
  /** Marks failures: transactions, and results in a multi. */
  error: neither('3.0.0', undefined, proto.ErrorResponse),
})

/** The type of `operations`. */
export type Operations = typeof operations
/** A name of `operations`. */
export type OperationName = keyof Operations

/** The name of an opcode, or undefined for one that this version of the package does not know. */
export const operationName: (opCode: number) => OperationName | undefined = nameOf(OpCode)

// The rows have the type `object`. With `Operation`, the type of a missing record would be that of any record.
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
