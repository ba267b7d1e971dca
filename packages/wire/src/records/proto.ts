// module org.apache.zookeeper.proto
//
// ConnectRequest and ConnectResponse have `readOnly` as a field from 3.9 on. From 3.4 to 3.8 its byte is written after the
// record, which gives the same bytes. A 3.3 peer leaves it out.
//
// A record that is in no operation is marked as pure, so that bundlers leave it out of programs that do not name it.
import { boolean, buffer, int, long, record, trailing, ustring, vector } from '../type.ts'
import { ACL, ClientInfo, Stat } from './data.ts'

/** The first frame of a client. It requests a session, or resumes one. `timeOut` is in ms. `sessionId` is 0 for a new session. */
// oxfmt-ignore
export const ConnectRequest = record('ConnectRequest', { protocolVersion: int, lastZxidSeen: long, timeOut: int, sessionId: long, passwd: buffer, readOnly: trailing(boolean, false) })
/** The first frame of a server. `timeOut` is in ms. 0 or less means that the session has expired. */
// oxfmt-ignore
export const ConnectResponse = record('ConnectResponse', { protocolVersion: int, timeOut: int, sessionId: long, passwd: buffer, readOnly: trailing(boolean, false) })
/** Watches that a new connection sets again. The server at once sends the events that they missed since `relativeZxid`. */
// oxfmt-ignore
export const SetWatches = record('SetWatches', { relativeZxid: long, dataWatches: vector(ustring), existWatches: vector(ustring), childWatches: vector(ustring) })
/** Like `SetWatches`, with persistent watches. Servers know it from 3.6 on. */
// oxfmt-ignore
export const SetWatches2 = record('SetWatches2', { relativeZxid: long, dataWatches: vector(ustring), existWatches: vector(ustring), childWatches: vector(ustring), persistentWatches: vector(ustring), persistentRecursiveWatches: vector(ustring) })
/** The header before the body of each request. `type` is an `OpCode`. */
export const RequestHeader = record('RequestHeader', { xid: int, type: int })
/** The header before each part of a multi. A last header has `done`, and no part follows it. */
export const MultiHeader = record('MultiHeader', { type: int, done: boolean, err: int })
/** Request of `auth`. The field `auth` is a secret, in a form that the scheme defines. */
export const AuthPacket = record('AuthPacket', { type: int, scheme: ustring, auth: buffer })
/** The header of each reply. `err` is an `ErrorCode`, `zxid` the zxid of the latest transaction that the server had applied. */
export const ReplyHeader = record('ReplyHeader', { xid: int, zxid: long, err: int })
/** Request of `getData`. */
export const GetDataRequest = record('GetDataRequest', { path: ustring, watch: boolean })
/** Request of `setData`. The version -1 means any. */
export const SetDataRequest = record('SetDataRequest', { path: ustring, data: buffer, version: int })
/** Request of `reconfig`: either the servers that join and leave, or all members. `curConfigId` -1 means any. */
// oxfmt-ignore
export const ReconfigRequest = record('ReconfigRequest', { joiningServers: ustring, leavingServers: ustring, newMembers: ustring, curConfigId: long })
/** Response of `setData`. */
export const SetDataResponse = record('SetDataResponse', { stat: Stat })
/** Request of `sasl`: the next token of the client. The name, with "Get", is from zookeeper.jute. */
export const GetSASLRequest = record('GetSASLRequest', { token: buffer })
/** Not the request of `sasl`, despite the name. It is in zookeeper.jute, but no program sends it. */
export const SetSASLRequest = /* @__PURE__ */ record('SetSASLRequest', { token: buffer })
/** Response of `sasl`: the next token of the server. */
export const SetSASLResponse = record('SetSASLResponse', { token: buffer })
/** Request of `create`, `create2` and `createContainer`. `flags` is a value of `CreateMode`. */
export const CreateRequest = record('CreateRequest', { path: ustring, data: buffer, acl: vector(ACL), flags: int })
/** Request of `createTTL`. `ttl` is in ms. */
// oxfmt-ignore
export const CreateTTLRequest = record('CreateTTLRequest', { path: ustring, data: buffer, acl: vector(ACL), flags: int, ttl: long })
/** Request of `delete`. The version -1 means any. */
export const DeleteRequest = record('DeleteRequest', { path: ustring, version: int })
/** Request of `getChildren`. */
export const GetChildrenRequest = record('GetChildrenRequest', { path: ustring, watch: boolean })
/** Request of `getAllChildrenNumber`. */
export const GetAllChildrenNumberRequest = record('GetAllChildrenNumberRequest', { path: ustring })
/** Request of `getChildren2`. */
export const GetChildren2Request = record('GetChildren2Request', { path: ustring, watch: boolean })
/** Request of `check`. The version -1 means any. */
export const CheckVersionRequest = record('CheckVersionRequest', { path: ustring, version: int })
/** It is in zookeeper.jute, but no server knows its operation. */
export const GetMaxChildrenRequest = /* @__PURE__ */ record('GetMaxChildrenRequest', { path: ustring })
/** It is in zookeeper.jute, but no server knows its operation. */
export const GetMaxChildrenResponse = /* @__PURE__ */ record('GetMaxChildrenResponse', { max: int })
/** It is in zookeeper.jute, but no server knows its operation. */
export const SetMaxChildrenRequest = /* @__PURE__ */ record('SetMaxChildrenRequest', { path: ustring, max: int })
/** Request of `sync`. */
export const SyncRequest = record('SyncRequest', { path: ustring })
/** Response of `sync`. */
export const SyncResponse = record('SyncResponse', { path: ustring })
/** Request of `getACL`. */
export const GetACLRequest = record('GetACLRequest', { path: ustring })
/** Request of `setACL`. `version` is the version of the ACL (`aversion`). -1 means any. */
export const SetACLRequest = record('SetACLRequest', { path: ustring, acl: vector(ACL), version: int })
/** Response of `setACL`. */
export const SetACLResponse = record('SetACLResponse', { stat: Stat })
/** Request of `addWatch`. `mode` is a value of `AddWatchMode`. */
export const AddWatchRequest = record('AddWatchRequest', { path: ustring, mode: int })
/** The event of a watch. `type` is a value of `EventType`, `state` a value of `KeeperState`. */
export const WatcherEvent = record('WatcherEvent', { type: int, state: int, path: ustring })
/** A part of the response of a failed multi. Also the response of `addWatch`, in which it has no meaning. */
export const ErrorResponse = record('ErrorResponse', { err: int })
/** Response of `create`: the path of the node, with the number that the server appended to a sequential one. */
export const CreateResponse = record('CreateResponse', { path: ustring })
/** Response of `create2`, `createContainer` and `createTTL`. */
export const Create2Response = record('Create2Response', { path: ustring, stat: Stat })
/** Request of `exists`. */
export const ExistsRequest = record('ExistsRequest', { path: ustring, watch: boolean })
/** Response of `exists`. */
export const ExistsResponse = record('ExistsResponse', { stat: Stat })
/** Response of `getData` and `reconfig`. The data of a node may be null. */
export const GetDataResponse = record('GetDataResponse', { data: buffer, stat: Stat })
/** Response of `getChildren`: names, in no particular order. */
export const GetChildrenResponse = record('GetChildrenResponse', { children: vector(ustring) })
/** Response of `getAllChildrenNumber`: the number of nodes below the node, at any depth. */
export const GetAllChildrenNumberResponse = record('GetAllChildrenNumberResponse', { totalNumber: int })
/** Response of `getChildren2`: names, in no particular order. */
export const GetChildren2Response = record('GetChildren2Response', { children: vector(ustring), stat: Stat })
/** Response of `getACL`. */
export const GetACLResponse = record('GetACLResponse', { acl: vector(ACL), stat: Stat })
/** Request of `checkWatches`. `type` is a value of `WatcherType`. */
export const CheckWatchesRequest = record('CheckWatchesRequest', { path: ustring, type: int })
/** Request of `removeWatches`. `type` is a value of `WatcherType`. */
export const RemoveWatchesRequest = record('RemoveWatchesRequest', { path: ustring, type: int })
/** Request of `getEphemerals`: the ephemeral nodes of this session whose paths begin with `prefixPath`. */
export const GetEphemeralsRequest = record('GetEphemeralsRequest', { prefixPath: ustring })
/** Response of `getEphemerals`: paths. */
export const GetEphemeralsResponse = record('GetEphemeralsResponse', { ephemerals: vector(ustring) })
/** Response of `whoAmI`. */
export const WhoAmIResponse = record('WhoAmIResponse', { clientInfo: vector(ClientInfo) })
