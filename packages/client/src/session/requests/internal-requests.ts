// Requests that the session sends for itself, without a call.
import {
  ConnectRequest,
  encodeFrame,
  OpCode,
  operations,
  RequestHeader,
  type TypeOf,
  type WatchesRequest,
  WatcherType,
  Xid,
} from '@zk/wire'
import type { AnyOperation, WireOperation } from '../../operations/operation.ts'
import { addWatchModes, Request } from './request.ts'
import type { WatchMode, WatchTable } from '../watches/watchers.ts'

const ping = encodeFrame((writer) => RequestHeader.write(writer, { xid: Xid.ping, type: OpCode.ping }))

/**
 * A heartbeat. It is two pings, because a follower may lose a touch that it adds to its touch table while it sends that table to
 * the leader (LearnerSessionTracker.touchSession). It cannot lose two in a row.
 */
export const pings: readonly Uint8Array[] = [ping, ping]

export function connectFrame(request: Omit<TypeOf<typeof ConnectRequest>, 'protocolVersion'>): Uint8Array {
  const { lastZxidSeen, timeOut, sessionId, passwd, readOnly } = request
  const record = { protocolVersion: 0, lastZxidSeen, timeOut, sessionId, passwd, readOnly }
  return encodeFrame((writer) => ConnectRequest.write(writer, record))
}

/** A closeSession for a session that is not ours: a server has given it to our connection. */
export const closeOtherSession = encodeFrame((writer) =>
  RequestHeader.write(writer, { xid: 1, type: OpCode.closeSession }),
)

/** A request about this connection only. */
function ofConnection(
  operation: AnyOperation,
  wire: WireOperation,
  record: unknown,
  about: Partial<Pick<Request, 'path' | 'effect' | 'fixedXid'>> = {},
): Request {
  return Object.assign(new Request(operation, wire, record), { kind: 'connection' } as const, about)
}

/** `done` is called when the server has set the watches. */
export function setWatchesRequest({ opCode, request }: WatchesRequest, done?: () => void): Request {
  const operation = done === undefined ? { name: 'setWatches' } : { name: 'setWatches', result: done }
  const wire = opCode === OpCode.setWatches ? operations.setWatches : operations.setWatches2
  return ofConnection(operation, wire, request, { fixedXid: Xid.setWatches })
}

/** A sync: the server applies everything that is committed now before it answers later requests. */
export function syncRequest(done: () => void): Request {
  return ofConnection({ name: 'sync', result: done }, operations.sync, { path: '/' })
}

export function closeSessionRequest(): Request {
  return new Request({ name: 'close' }, operations.closeSession, undefined)
}

/** The last request of a session that is left, not closed: a sync. When it is answered, all requests before it are. */
export function lastRequest(): Request {
  return new Request({ name: 'detach' }, operations.sync, { path: '/' })
}

/** Removes a watch for which no watcher is left. It may have fired meanwhile, so NoWatcher is not a failure. */
export function dropWatchRequest(path: string, table: WatchTable): Request {
  return removalRequest(path, table === 'child' ? 'Children' : 'Data')
}

/** Removes all watches of a path. Not all servers can remove persistent watches alone. */
export function clearWatchesRequest(path: string): Request {
  return removalRequest(path, 'Any')
}

/** Removes the persistent watch of this mode, from 3.9 on. Older servers answer MarshallingError: they keep one watch only. */
export function dropModeRequest(path: string, mode: WatchMode): Request {
  return removalRequest(path, mode === 'persistent' ? 'Persistent' : 'PersistentRecursive')
}

const removal = { name: 'removeWatches', answers: { NoWatcher: () => undefined, MarshallingError: () => undefined } }

export function removalRequest(path: string, watches: WatcherType): Request {
  const record = { path, type: WatcherType[watches] }
  const effect = { type: 'remove', path, watches } as const
  return ofConnection(removal, operations.removeWatches, record, { path, effect })
}

/** Changes the mode of an existing watch. */
export function addWatchRequest(path: string, mode: WatchMode): Request {
  const record = { path, mode: addWatchModes[mode] }
  const effect = { type: 'addWatch', path, watcher: undefined, mode } as const
  return ofConnection({ name: 'addWatch' }, operations.addWatch, record, { path, effect })
}
