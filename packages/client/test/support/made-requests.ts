import { setWatchesRequests } from '@zk/wire'
import { GetDataRequest, OpCode, SetDataRequest, SyncRequest, type Writer } from '@zk/wire'
import { setWatchesRequest } from '../../src/session/requests/internal-requests.ts'
import { Request, type RequestInit } from '../../src/session/requests/request.ts'
import type { RequestQueue } from '../../src/session/requests/request-queue.ts'
import { Segment } from '../../src/session/requests/segment.ts'
import type { OneShotWatcher, OneShotOutcome, WatchKind } from '../../src/session/watches/watchers.ts'

type Given = Partial<RequestInit>

/** A read of `path`. */
export function read(path = '/read', given: Given = {}, writer?: Writer): Request {
  const prepared: RequestInit = {
    op: 'getData',
    path,
    opCode: OpCode.getData,
    kind: 'read',
    body: (body) => GetDataRequest.write(body, { path, watch: given.watcher !== undefined }),
    ...given,
  }
  return new Request(prepared, prepared, writer)
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

/** What the queue sends now: the bytes of each frame. */
export function sendFrom(queue: RequestQueue, now: number, limit: number): Uint8Array[] {
  const frames: Uint8Array[] = []
  class Frames extends Segment {
    override add(memory: Uint8Array, start?: number, end?: number): void {
      super.add(memory, start, end)
      frames.push(memory.slice(start, end))
    }
  }
  queue.send(now, limit, new Frames())
  return frames
}

/** The frame of the request, with this xid. */
export function frameOf(request: Request, xid: number): Uint8Array {
  const segment = new Segment()
  request.send(xid, 0, segment)
  return segment.bytes()!
}

/** A request of the connection itself: it has its own xid, and no time limit. */
export function own(): Request {
  return setWatchesRequest(setWatchesRequests(0n, { dataWatches: ['/a'] })[0]!)
}

export interface TestWatcher extends OneShotWatcher {
  readonly notified: OneShotOutcome[]
}

export function watcher(path: string, kind: WatchKind, phase: OneShotWatcher['phase'] = 'unsent'): TestWatcher {
  const notified: OneShotOutcome[] = []
  return { path, kind, phase, notified, notify: (outcome) => notified.push(outcome) }
}
