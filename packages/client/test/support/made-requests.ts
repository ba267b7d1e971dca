// Requests that are made by hand.
import {
  type ErrorName,
  GetDataRequest,
  OpCode,
  operationName,
  operations,
  type Reader,
  SetDataRequest,
  setWatchesRequests,
  SyncRequest,
  type Writer,
} from '@zk/wire'
import type { Chroot } from '../../src/base/chroot.ts'
import { addAuth, type Credential } from '../../src/operations/add-auth.ts'
import { type Operation, type WireOperation, wireOf } from '../../src/operations/operation.ts'
import { setWatchesRequest } from '../../src/session/requests/internal-requests.ts'
import { type Effect, Request } from '../../src/session/requests/request.ts'
import type { RequestQueue } from '../../src/session/requests/request-queue.ts'
import { Segment } from '../../src/session/requests/segment.ts'
import type { OneShotWatcher, OneShotOutcome, WatchKind } from '../../src/session/watches/watchers.ts'

type Fields = Pick<Request, 'path' | 'kind' | 'effect' | 'calledAt' | 'expiresAt' | 'resolve' | 'reject'>

interface Given extends Partial<Fields> {
  readonly op?: string
  readonly opCode?: number
  readonly body?: (writer: Writer) => void
  /** Takes the body of the reply. */
  readonly result?: (body: Reader) => unknown
  readonly answers?: Partial<Record<ErrorName, () => unknown>>
  /** For a read that sets a watch. */
  readonly watcher?: OneShotWatcher
}

export function made({ op = 'close', opCode = OpCode.closeSession, ...given }: Given, writer?: Writer): Request {
  const { body = () => {}, result, answers, watcher, ...fields } = given
  const wire: WireOperation = {
    ...operations[operationName(opCode)!],
    request: { name: op, minSize: 0, read: () => undefined, write: body },
    response: { name: op, minSize: 0, read: (reader) => reader, write: () => {} },
  }
  const operation = { name: op, answers, ...(result && { result: (reader: unknown) => result(reader as Reader) }) }
  const effect: { effect?: Effect } = watcher === undefined ? {} : { effect: { type: 'watch', watcher } }
  return Object.assign(new Request(operation, wire, undefined, writer), effect, fields)
}

/** The request of a call: `body` is what follows the header. */
export function prepare<Args extends readonly unknown[], W extends WireOperation, Result>(
  operation: Operation<Args, W, Result>,
  chroot: Chroot,
  args: Args,
) {
  const [path] = args
  const record = operation.encode(chroot, ...args)
  const request = new Request(operation, wireOf(operation, args), record)
  request.chroot = chroot
  const { op, opCode, kind } = request
  return {
    op,
    opCode,
    kind,
    path: typeof path === 'string' ? path : undefined,
    body: (writer: Writer) => writer.raw(frameOf(request, 1).subarray(HEADERS)),
    result: (reader: Reader) => request.result(reader),
  }
}

/** The bytes of the length and the header of a frame. */
const HEADERS = 12

/** A request that adds this credential. */
export function adding(credential: Credential, expiresAt = Infinity): Request {
  const effect = { type: 'addAuth', credential } as const
  return Object.assign(new Request(addAuth, operations.auth, { type: 0, ...credential }), { effect, expiresAt })
}

/** A read of `path`. */
export function read(path = '/read', given: Given = {}, writer?: Writer): Request {
  const body = (writer: Writer) => GetDataRequest.write(writer, { path, watch: given.watcher !== undefined })
  return made({ op: 'getData', path, opCode: OpCode.getData, body, ...given }, writer)
}

export function write(path = '/write', given: Given = {}): Request {
  const body = (writer: Writer) => SetDataRequest.write(writer, { path, data: new Uint8Array(0), version: -1 })
  return made({ op: 'setData', path, opCode: OpCode.setData, body, ...given })
}

/** One that is neither. */
export function sync(path = '/sync', given: Given = {}): Request {
  const body = (writer: Writer) => SyncRequest.write(writer, { path })
  return made({ op: 'sync', path, opCode: OpCode.sync, body, ...given })
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
