// Requests that the session makes for itself.
import {
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
import { Request } from './request.ts'
import type { WatchTable } from './watches.ts'

export const pingFrame: Uint8Array = encodeFrame((writer) =>
  RequestHeader.write(writer, { xid: Xid.ping, type: OpCode.ping }),
)

export function connectFrame(request: Omit<TypeOf<typeof ConnectRequest>, 'protocolVersion' | 'readOnly'>): Uint8Array {
  return encodeFrame((writer) => ConnectRequest.write(writer, { protocolVersion: 0, readOnly: false, ...request }))
}

export function setWatchesRequest({ opCode, request }: WatchesRequest): Request {
  const { request: type } = opCode === OpCode.setWatches ? operations.setWatches : operations.setWatches2
  return new Request({
    op: 'setWatches',
    opCode,
    kind: 'connection',
    xid: Xid.setWatches,
    body: (writer) => type.write(writer, request),
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
  const type = table === 'child' ? WatcherType.Children : WatcherType.Data
  return new Request({
    op: 'removeWatches',
    path,
    opCode: OpCode.removeWatches,
    kind: 'connection',
    body: (writer) => RemoveWatchesRequest.write(writer, { path, type }),
    forgives: { NoWatcher: () => undefined },
  })
}
