// Requests that the session makes for itself.
import {
  AddWatchRequest,
  ConnectRequest,
  encodeFrame,
  OpCode,
  operations,
  RemoveWatchesRequest,
  RequestHeader,
  SyncRequest,
  type TypeOf,
  type WatchesRequest,
  WatcherType,
  Xid,
} from '@zk/wire'
import type { WatchMode } from './persistent.ts'
import { addWatchModes, Request } from './request.ts'
import type { WatchTable } from './watches.ts'

export const pingFrame: Uint8Array = encodeFrame((writer) =>
  RequestHeader.write(writer, { xid: Xid.ping, type: OpCode.ping }),
)

export function connectFrame(request: Omit<TypeOf<typeof ConnectRequest>, 'protocolVersion' | 'readOnly'>): Uint8Array {
  return encodeFrame((writer) => ConnectRequest.write(writer, { protocolVersion: 0, readOnly: false, ...request }))
}

export function setWatchesRequest({ opCode, request }: WatchesRequest, done?: () => void): Request {
  const { request: type } = opCode === OpCode.setWatches ? operations.setWatches : operations.setWatches2
  return new Request({
    op: 'setWatches',
    opCode,
    kind: 'connection',
    xid: Xid.setWatches,
    body: (writer) => type.write(writer, request),
    ...(done === undefined ? {} : { result: done }),
  })
}

/** Makes the server catch up with the leader before it answers what comes behind. */
export function syncRequest(done: () => void): Request {
  return new Request({
    op: 'sync',
    opCode: OpCode.sync,
    kind: 'connection',
    body: (writer) => SyncRequest.write(writer, { path: '/' }),
    result: done,
  })
}

export function closeSessionRequest(): Request {
  return new Request({ op: 'close', opCode: OpCode.closeSession, kind: 'neither' })
}

/** Takes a watch nobody waits for off the server. It may have fired meanwhile, hence NoWatcher is fine. */
export function dropWatchRequest(path: string, table: WatchTable): Request {
  return removal(path, table === 'child' ? 'Children' : 'Data')
}

/** Takes all watches of a path off the server: the only removal of persistent ones that all servers know. */
export function clearWatchesRequest(path: string, done: () => void): Request {
  return removal(path, 'Any', done)
}

/** Takes one of several watches off a server from 3.9 on. Older ones do not know the type, and had but one. */
export function dropModeRequest(path: string, mode: WatchMode): Request {
  return removal(path, mode === 'persistent' ? 'Persistent' : 'PersistentRecursive')
}

function removal(path: string, type: WatcherType, done: () => void = () => undefined): Request {
  return new Request({
    op: 'removeWatches',
    path,
    opCode: OpCode.removeWatches,
    kind: 'connection',
    body: (writer) => RemoveWatchesRequest.write(writer, { path, type: WatcherType[type] }),
    result: done,
    forgives: { NoWatcher: done, MarshallingError: done },
  })
}

/** A path is watched on in another mode. */
export function addWatchRequest(path: string, mode: WatchMode, done: () => void): Request {
  return new Request({
    op: 'addWatch',
    path,
    opCode: OpCode.addWatch,
    kind: 'connection',
    body: (writer) => AddWatchRequest.write(writer, { path, mode: addWatchModes[mode] }),
    result: done,
  })
}
