import { setWatchesRequests } from '@zk/wire'
import { GetDataRequest, OpCode, SetDataRequest, SyncRequest } from '@zk/wire'
import { setWatchesRequest } from '../src/session/requests/internal-requests.ts'
import { Request, type RequestInit } from '../src/session/requests/request.ts'
import type { OneShotWatcher, OneShotOutcome, WatchKind } from '../src/session/watches/watchers.ts'

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

/** A request of the connection itself: it has its own xid, and no time limit. */
export function own(): Request {
  return setWatchesRequest(setWatchesRequests(0n, { dataWatches: ['/a'] })[0]!)
}

export interface TestWatcher extends OneShotWatcher {
  readonly notified: OneShotOutcome[]
}

export function watcher(path: string, kind: WatchKind, phase: OneShotWatcher['phase'] = 'asked'): TestWatcher {
  const notified: OneShotOutcome[] = []
  return { path, kind, phase, notified, notify: (outcome) => notified.push(outcome) }
}
