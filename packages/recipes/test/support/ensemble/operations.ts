// What a server does for each request, and what it answers (server/FinalRequestProcessor.java).
import {
  Create2Response,
  CreateRequest,
  DeleteRequest,
  ErrorCode,
  ExistsRequest,
  ExistsResponse,
  GetChildren2Request,
  GetChildren2Response,
  GetDataRequest,
  GetDataResponse,
  type MultiOp,
  MultiRequest,
  MultiResponse,
  type MultiResult,
  OpCode,
  Perms,
  type Reader,
  readNamed,
  record,
  RemoveWatchesRequest,
  SetDataRequest,
  SetDataResponse,
  SetWatches,
  type Stat,
  SyncRequest,
  SyncResponse,
  type Type,
  WatcherType,
  type Writer,
} from '@zk/wire'
import { check } from './acl.ts'
import type { ServerConnection } from './connection.ts'
import { Refusal } from './refusal.ts'
import type { Committed } from './server.ts'
import { type Node, toStat } from './tree.ts'
import type { WatchTable } from './watches.ts'

export interface Answer {
  /** The last transaction that it can show; the server's last one when it does not say. */
  readonly zxid?: bigint
  readonly body?: (writer: Writer) => void
}

/** A request that has been read: what it is about, and how it is done. Doing it throws a `Refusal`. */
export interface Call {
  readonly path: string
  readonly run: (at: ServerConnection) => Answer
}

const Nothing = record('Nothing', {})

export const operations: Readonly<Record<number, (reader: Reader) => Call>> = {
  [OpCode.ping]: call(Nothing, () => ({})),

  [OpCode.create2]: call(CreateRequest, (request, at) => creation({ type: OpCode.create2, request }, at)),
  [OpCode.createContainer]: call(CreateRequest, (request, at) =>
    creation({ type: OpCode.createContainer, request }, at),
  ),

  [OpCode.delete]: call(DeleteRequest, (request, at) => ({ zxid: write({ type: OpCode.delete, request }, at).zxid })),

  [OpCode.setData]: call(SetDataRequest, (request, at) => {
    const { zxid } = write({ type: OpCode.setData, request }, at)
    return answer(SetDataResponse, { stat: statOf(request.path, at) }, zxid)
  }),

  [OpCode.multi]: call(MultiRequest, (ops, at) => {
    const committed = at.server.write(at.author, ops)
    return answer(MultiResponse, multiResults(ops, committed, at), committed.zxid)
  }),

  [OpCode.sync]: call(SyncRequest, ({ path }, at) => {
    at.server.sync()
    return answer(SyncResponse, { path })
  }),

  [OpCode.exists]: call(ExistsRequest, ({ path, watch }, at) => {
    if (watch) at.watch('data', path ?? '')
    return answer(ExistsResponse, { stat: statOf(path, at) })
  }),

  [OpCode.getData]: call(GetDataRequest, ({ path, watch }, at) => {
    const node = readable(path, at)
    if (watch) at.watch('data', path ?? '')
    return answer(GetDataResponse, { data: node.data, stat: toStat(node) })
  }),

  [OpCode.getChildren2]: call(GetChildren2Request, ({ path, watch }, at) => {
    const node = readable(path, at)
    if (watch) at.watch('child', path ?? '')
    return answer(GetChildren2Response, { children: inNoOrder(node.children), stat: toStat(node) })
  }),

  [OpCode.removeWatches]: call(RemoveWatchesRequest, ({ path, type }, at) => {
    const tables: WatchTable[] =
      type === WatcherType.Data ? ['data'] : type === WatcherType.Children ? ['child'] : ['data', 'child']
    const removed = tables.map((table) => at.server.watches.remove(table, path ?? '', at))
    if (!removed.includes(true)) throw new Refusal('NoWatcher')
    return {}
  }),

  [OpCode.setWatches]: call(SetWatches, ({ relativeZxid, dataWatches, existWatches, childWatches }, at) => {
    for (const path of asked(dataWatches)) {
      const node = at.server.tree.get(path)
      if (node === undefined) at.tell('NodeDeleted', path, -1n)
      else if (node.mzxid > relativeZxid) at.tell('NodeDataChanged', path, -1n)
      else at.watch('data', path)
    }
    for (const path of asked(existWatches)) {
      if (at.server.tree.get(path) !== undefined) at.tell('NodeCreated', path, -1n)
      else at.watch('data', path)
    }
    for (const path of asked(childWatches)) {
      const node = at.server.tree.get(path)
      if (node === undefined) at.tell('NodeDeleted', path, -1n)
      else if (node.pzxid > relativeZxid) at.tell('NodeChildrenChanged', path, -1n)
      else at.watch('child', path)
    }
    return {}
  }),

  [OpCode.closeSession]: call(Nothing, (_, at) => ({
    zxid: at.server.ensemble.endSession(at.author.session, { isAsked: true }),
  })),
}

function call<Req>(request: Type<Req>, run: (request: Req, at: ServerConnection) => Answer): (reader: Reader) => Call {
  return (reader) => {
    const read = readNamed(request, reader)
    const path = (read as { path?: string }).path ?? ''
    return { path, run: (at) => run(read, at) }
  }
}

function answer<Res>(response: Type<Res>, value: Res, zxid?: bigint): Answer {
  return { ...(zxid !== undefined && { zxid }), body: (writer) => response.write(writer, value) }
}

function write(op: MultiOp, at: ServerConnection): Committed {
  const committed = at.server.write(at.author, [op])
  if (committed.failure !== undefined) throw new Refusal(committed.failure.code)
  return committed
}

function creation(op: MultiOp, at: ServerConnection): Answer {
  const { zxid, changes } = write(op, at)
  const path = changes[0]!.path
  return answer(Create2Response, { path, stat: statOf(path, at) }, zxid)
}

/** In a failed multi: 0 before the operation that failed it, -2 after it. */
function multiResults(ops: readonly MultiOp[], { changes, failure }: Committed, at: ServerConnection): MultiResult[] {
  return ops.map(({ type }, index): MultiResult => {
    if (failure !== undefined) {
      const code = index < failure.index ? 'Ok' : index > failure.index ? 'RuntimeInconsistency' : failure.code
      return { type: OpCode.error, response: { err: ErrorCode[code] } }
    }
    const path = changes[index]?.path ?? ''
    switch (type) {
      case OpCode.create:
        return { type, response: { path } }
      case OpCode.create2:
      case OpCode.createContainer:
        return { type: OpCode.create2, response: { path, stat: statOf(path, at) } }
      case OpCode.setData:
        return { type, response: { stat: statOf(path, at) } }
      case OpCode.delete:
      case OpCode.check:
        return { type, response: {} }
      case OpCode.createTTL:
      case OpCode.getData:
      case OpCode.getChildren:
        throw new Refusal('Unimplemented')
    }
  })
}

function statOf(path: string | null, { server }: ServerConnection): Stat {
  const node = server.tree.get(path ?? '')
  if (node === undefined) throw new Refusal('NoNode')
  return toStat(node)
}

function readable(path: string | null, { server, author }: ServerConnection): Node {
  const node = server.tree.get(path ?? '')
  if (node === undefined) throw new Refusal('NoNode')
  check(node.acl, Perms.READ, author.identities)
  return node
}

/** ZooKeeper lists children in the order of a hash table: whoever needs another one must sort. */
function inNoOrder(children: ReadonlySet<string>): string[] {
  return [...children].sort().reverse()
}

function asked(paths: readonly (string | null)[] | null): string[] {
  return (paths ?? []).map((path) => path ?? '')
}
