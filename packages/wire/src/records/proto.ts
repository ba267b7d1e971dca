// module org.apache.zookeeper.proto
//
// In ConnectRequest and ConnectResponse the readOnly byte is a field of the record since 3.9 and was written after the
// record since 3.4: the same bytes. A 3.3 peer leaves it out.
import { boolean, buffer, int, long, record, trailing, ustring, vector } from '../type.ts'
import { ACL, ClientInfo, Stat } from './data.ts'

// oxfmt-ignore
export const ConnectRequest = record('ConnectRequest', { protocolVersion: int, lastZxidSeen: long, timeOut: int, sessionId: long, passwd: buffer, readOnly: trailing(boolean, false) })
// oxfmt-ignore
export const ConnectResponse = record('ConnectResponse', { protocolVersion: int, timeOut: int, sessionId: long, passwd: buffer, readOnly: trailing(boolean, false) })
// oxfmt-ignore
export const SetWatches = record('SetWatches', { relativeZxid: long, dataWatches: vector(ustring), existWatches: vector(ustring), childWatches: vector(ustring) })
// oxfmt-ignore
export const SetWatches2 = record('SetWatches2', { relativeZxid: long, dataWatches: vector(ustring), existWatches: vector(ustring), childWatches: vector(ustring), persistentWatches: vector(ustring), persistentRecursiveWatches: vector(ustring) })
export const RequestHeader = record('RequestHeader', { xid: int, type: int })
export const MultiHeader = record('MultiHeader', { type: int, done: boolean, err: int })
export const AuthPacket = record('AuthPacket', { type: int, scheme: ustring, auth: buffer })
export const ReplyHeader = record('ReplyHeader', { xid: int, zxid: long, err: int })
export const GetDataRequest = record('GetDataRequest', { path: ustring, watch: boolean })
export const SetDataRequest = record('SetDataRequest', { path: ustring, data: buffer, version: int })
// oxfmt-ignore
export const ReconfigRequest = record('ReconfigRequest', { joiningServers: ustring, leavingServers: ustring, newMembers: ustring, curConfigId: long })
export const SetDataResponse = record('SetDataResponse', { stat: Stat })
export const GetSASLRequest = record('GetSASLRequest', { token: buffer })
export const SetSASLRequest = record('SetSASLRequest', { token: buffer })
export const SetSASLResponse = record('SetSASLResponse', { token: buffer })
export const CreateRequest = record('CreateRequest', { path: ustring, data: buffer, acl: vector(ACL), flags: int })
// oxfmt-ignore
export const CreateTTLRequest = record('CreateTTLRequest', { path: ustring, data: buffer, acl: vector(ACL), flags: int, ttl: long })
export const DeleteRequest = record('DeleteRequest', { path: ustring, version: int })
export const GetChildrenRequest = record('GetChildrenRequest', { path: ustring, watch: boolean })
export const GetAllChildrenNumberRequest = record('GetAllChildrenNumberRequest', { path: ustring })
export const GetChildren2Request = record('GetChildren2Request', { path: ustring, watch: boolean })
export const CheckVersionRequest = record('CheckVersionRequest', { path: ustring, version: int })
export const GetMaxChildrenRequest = record('GetMaxChildrenRequest', { path: ustring })
export const GetMaxChildrenResponse = record('GetMaxChildrenResponse', { max: int })
export const SetMaxChildrenRequest = record('SetMaxChildrenRequest', { path: ustring, max: int })
export const SyncRequest = record('SyncRequest', { path: ustring })
export const SyncResponse = record('SyncResponse', { path: ustring })
export const GetACLRequest = record('GetACLRequest', { path: ustring })
export const SetACLRequest = record('SetACLRequest', { path: ustring, acl: vector(ACL), version: int })
export const SetACLResponse = record('SetACLResponse', { stat: Stat })
export const AddWatchRequest = record('AddWatchRequest', { path: ustring, mode: int })
export const WatcherEvent = record('WatcherEvent', { type: int, state: int, path: ustring })
export const ErrorResponse = record('ErrorResponse', { err: int })
export const CreateResponse = record('CreateResponse', { path: ustring })
export const Create2Response = record('Create2Response', { path: ustring, stat: Stat })
export const ExistsRequest = record('ExistsRequest', { path: ustring, watch: boolean })
export const ExistsResponse = record('ExistsResponse', { stat: Stat })
export const GetDataResponse = record('GetDataResponse', { data: buffer, stat: Stat })
export const GetChildrenResponse = record('GetChildrenResponse', { children: vector(ustring) })
export const GetAllChildrenNumberResponse = record('GetAllChildrenNumberResponse', { totalNumber: int })
export const GetChildren2Response = record('GetChildren2Response', { children: vector(ustring), stat: Stat })
export const GetACLResponse = record('GetACLResponse', { acl: vector(ACL), stat: Stat })
export const CheckWatchesRequest = record('CheckWatchesRequest', { path: ustring, type: int })
export const RemoveWatchesRequest = record('RemoveWatchesRequest', { path: ustring, type: int })
export const GetEphemeralsRequest = record('GetEphemeralsRequest', { prefixPath: ustring })
export const GetEphemeralsResponse = record('GetEphemeralsResponse', { ephemerals: vector(ustring) })
export const WhoAmIResponse = record('WhoAmIResponse', { clientInfo: vector(ClientInfo) })
