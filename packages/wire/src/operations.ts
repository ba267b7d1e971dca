// All opcodes, each with its effect on nodes, its first release, its request and its response. (multi.ts has the records for
// the operations in a multi. A test compares both.)
import { nameOf, OpCode } from './constants.ts'
import { MultiRequest, MultiResponse } from './multi.ts'
import * as proto from './records/proto.ts'
import type { Type } from './type.ts'

/**
 * What an operation changes. A `read` changes no node. A `write` may change nodes, so its outcome is unknown if the reply is
 * lost. `neither` concerns the connection, the session or its watches, or is never requested by clients.
 */
export type OperationKind = 'read' | 'write' | 'neither'

/** The type of the body after a header. */
type Body = Type<unknown> | undefined

/** The description of an operation. */
export interface Operation<
  Kind extends OperationKind = OperationKind,
  Request extends Body = Body,
  Response extends Body = Body,
> {
  /** Whether the operation reads or writes. */
  readonly kind: Kind
  /** The number of the operation in request headers. */
  readonly opCode: number
  /**
   * The first release with the operation. Older servers answer -6 (Unimplemented), and from 3.4.6 on they also close the
   * connection.
   */
  readonly since: string
  /** The body of requests. Undefined if nothing follows the header. */
  readonly request: Request
  /** The body of replies. Undefined if nothing follows the reply header. After a header with an error, nothing is read. */
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
  /** Not a request but the event of a watch, with the xid -1. */
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
  /** Meant for a multi. Servers from 3.8.5 and 3.9.3 on answer -6 if it is alone (ZOOKEEPER-2623). */
  check: write('3.4.0', proto.CheckVersionRequest),
  multi: write('3.4.0', MultiRequest, MultiResponse),
  create2: write('3.5.0', proto.CreateRequest, proto.Create2Response),
  reconfig: write('3.5.0', proto.ReconfigRequest, proto.GetDataResponse),
  /** Asks whether the server has such a watch. */
  checkWatches: neither('3.5.0', proto.CheckWatchesRequest),
  removeWatches: neither('3.5.0', proto.RemoveWatchesRequest),
  createContainer: write('3.5.1', proto.CreateRequest, proto.Create2Response),
  /** The leader sends it to itself. The body is a path, which has no length before it up to 3.8. */
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
  /** Only servers send it, to each other. A client requests a session with a ConnectRequest. */
  createSession: neither('3.0.0'),
  closeSession: neither('3.0.0'),
  /** The type of failed transactions, and of failed results in a multi. */
  error: neither('3.0.0', undefined, proto.ErrorResponse),
})

/** The type of `operations`. */
export type Operations = typeof operations
/** A name of `operations`. */
export type OperationName = keyof Operations

/** Returns the name of an opcode, or undefined if this version of the package does not know the opcode. */
export const operationName: (opCode: number) => OperationName | undefined = nameOf(OpCode)

// A row has the type `object` here. With `Operation`, TypeScript would infer `Body` for a missing record, not undefined.
type ByName = Readonly<Record<keyof typeof OpCode, object>>
/** The rows, each with its opcode. */
type WithOpCodes<Rows> = {
  readonly [Name in keyof Rows & keyof typeof OpCode]: Rows[Name] & { readonly opCode: (typeof OpCode)[Name] }
}

function withOpCodes<Rows extends ByName>(
  rows: Rows & Record<Exclude<keyof Rows, keyof ByName>, never>,
): WithOpCodes<Rows> {
  const entries = Object.entries(OpCode).map(([name, opCode]) => [name, { opCode, ...rows[name as keyof ByName] }])
  return Object.fromEntries(entries) as WithOpCodes<Rows>
}
