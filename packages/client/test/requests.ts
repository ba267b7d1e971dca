import { setWatchesRequests } from '@zk/wire'
import { GetDataRequest, OpCode, SetDataRequest, SyncRequest } from '@zk/wire'
import { setWatchesRequest } from '../src/session/requests/internal-requests.ts'
import { Request, type RequestInit } from '../src/session/requests/request.ts'
import type { Watcher, WatcherOutcome, WatchKind } from '../src/session/watches/one-shot-watches.ts'

type Given = Partial<RequestInit>

/** A read of `path`. */
export function read(path = '/read', given: Given = {}): Request {
  return new Request({
    op: 'getData',
    path,
    opCode: OpCode.getData,
    kind: 'read',
    body: (writer) => GetDataRequest.write(writer, { path, watch: given.watcher !== undefined }),
    ...given,
  })
}

export function write(path = '/write', given: Given = {}): Request {
  return new Request({
    op: 'setData',
    path,
    opCode: OpCode.setData,
    kind: 'write',
    body: (writer) => SetDataRequest.write(writer, { path, data: new Uint8Array(0), version: -1 }),
    ...given,
  })
}

/** One that is neither. */
export function sync(path = '/sync', given: Given = {}): Request {
  const body: RequestInit['body'] = (writer) => SyncRequest.write(writer, { path })
  return read(path, { op: 'sync', opCode: OpCode.sync, kind: 'neither', body, ...given })
}

/** One of the connection's own: it has an xid of its own, and no time limit. */
export function own(): Request {
  return setWatchesRequest(setWatchesRequests(0n, { dataWatches: ['/a'] })[0]!)
}

export interface TestWatcher extends Watcher {
  readonly told: WatcherOutcome[]
}

export function watcher(path: string, kind: WatchKind, phase: Watcher['phase'] = 'asked'): TestWatcher {
  const told: WatcherOutcome[] = []
  return { path, kind, phase, told, notify: (outcome) => told.push(outcome) }
}
