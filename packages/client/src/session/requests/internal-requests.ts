// Requests that the session sends for itself, without a call.
import {
  AddWatchRequest,
  ConnectRequest,
  encodeFrame,
  ErrorResponse,
  OpCode,
  operations,
  RemoveWatchesRequest,
  RequestHeader,
  SyncRequest,
  SyncResponse,
  type TypeOf,
  type WatchesRequest,
  WatcherType,
  Xid,
} from '@zk/wire'
import { addWatchModes, type Removal, Request } from './request.ts'
import type { WatchMode, WatchTable } from '../watches/watchers.ts'

const ping = encodeFrame((writer) => RequestHeader.write(writer, { xid: Xid.ping, type: OpCode.ping }))

/**
 * A heartbeat. It is two pings, because a follower may lose a touch: one that it adds to its touch table while it sends that
 * table to the leader (LearnerSessionTracker.touchSession). It cannot lose two in a row.
 */
export const pings: readonly Uint8Array[] = [ping, ping]

export function connectFrame(request: Omit<TypeOf<typeof ConnectRequest>, 'protocolVersion'>): Uint8Array {
  return encodeFrame((writer) => ConnectRequest.write(writer, { protocolVersion: 0, ...request }))
}

/** A closeSession for a session that is not ours: a server has given it to our connection. */
export const closeOtherSession = encodeFrame((writer) =>
  RequestHeader.write(writer, { xid: 1, type: OpCode.closeSession }),
)

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

/** A sync: the server applies everything that is committed now before it answers later requests. */
export function syncRequest(done: () => void): Request {
  return new Request({
    op: 'sync',
    opCode: OpCode.sync,
    kind: 'connection',
    body: (writer) => SyncRequest.write(writer, { path: '/' }),
    result: (reader) => {
      SyncResponse.read(reader)
      done()
    },
  })
}

export function closeSessionRequest(): Request {
  return new Request({ op: 'close', opCode: OpCode.closeSession, kind: 'neither' })
}

/** The last request of a session that is left, not closed: a sync. When it is answered, all requests before it are. */
export function lastRequest(): Request {
  return new Request({
    op: 'detach',
    opCode: OpCode.sync,
    kind: 'neither',
    body: (writer) => SyncRequest.write(writer, { path: '/' }),
  })
}

/** Removes a watch for which no watcher is left. It may have fired meanwhile, so NoWatcher is no failure. */
export function dropWatchRequest(path: string, table: WatchTable): Request {
  return removalRequest({ path, type: table === 'child' ? 'Children' : 'Data' })
}

/** Removes all watches of a path. Not all servers can remove persistent watches alone. */
export function clearWatchesRequest(path: string): Request {
  return removalRequest({ path, type: 'Any' })
}

/** Removes the persistent watch of this mode, from 3.9 on. Older servers answer MarshallingError: they keep one watch only. */
export function dropModeRequest(path: string, mode: WatchMode): Request {
  return removalRequest({ path, type: mode === 'persistent' ? 'Persistent' : 'PersistentRecursive' })
}

export function removalRequest(removes: Removal): Request {
  const { path, type } = removes
  return new Request({
    op: 'removeWatches',
    path,
    opCode: OpCode.removeWatches,
    kind: 'connection',
    body: (writer) => RemoveWatchesRequest.write(writer, { path, type: WatcherType[type] }),
    removes,
    answers: { NoWatcher: () => undefined, MarshallingError: () => undefined },
  })
}

/** Changes the mode of an existing watch. */
export function addWatchRequest(path: string, mode: WatchMode, done: () => void): Request {
  return new Request({
    op: 'addWatch',
    path,
    opCode: OpCode.addWatch,
    kind: 'connection',
    body: (writer) => AddWatchRequest.write(writer, { path, mode: addWatchModes[mode] }),
    result: (reader) => {
      ErrorResponse.read(reader)
      done()
    },
  })
}
