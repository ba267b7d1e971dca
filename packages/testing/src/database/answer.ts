// The answers to requests (FinalRequestProcessor).
import {
  type ACL,
  ErrorCode,
  type Id,
  type MultiOp,
  type MultiResult,
  OpCode,
  type OperationName,
  Perms,
  type RequestOf,
} from '@zk/wire'
import type { ServerRequest, Watcher } from '../server/request.ts'
import { allowed } from './acl.ts'
import { type DataNode, toStat } from './data-node.ts'
import type { DataTree, TxnResult } from './data-tree.ts'
import { schemes } from './schemes.ts'
import { isRead } from './multi-op.ts'
import type { Release } from './releases.ts'
import { addWatch, hasWatch, removeWatch, setWatches } from './watches-requests.ts'

/** The answer to a request. `response` is the record of the reply; undefined if none is sent. */
export interface Answer {
  readonly err: number
  readonly response?: unknown
}

/**
 * The answer to a request that changes no node. If it sets a watch, that belongs to its connection. The caller must have
 * checked the session, and the opcode (`isKnown`).
 */
export function answerRead(tree: DataTree, request: ServerRequest): Answer {
  const { op, opCode, request: asked } = request.message
  const answer = op && (reads[op] as Read<unknown> | undefined)
  if (answer === undefined) throw new TypeError(`a request with the opcode ${opCode} is not a read`)
  return request.isMalformed ? refused(ErrorCode.MarshallingError) : answer(asked, tree, request)
}

/** The answer to a write after its transaction was applied; undefined if ZooKeeper never answers. */
export function answerWrite({ message }: ServerRequest, result: TxnResult, release: Release): Answer | undefined {
  const { op } = message
  const { err, path, stat, results = [] } = result
  // A multi itself never fails, only its operations.
  if (result.txn.type === 'multi' && message.op === 'multi') {
    const parts = message.request
    const tellsStat = (index: number) => release.tellsStatInMulti && parts[index]?.type === OpCode.create2
    return { err: 0, response: results.map((each, index) => multiResult(each, tellsStat(index))) }
  }
  if (err !== 0) return { err }
  // Outside a multi the reply needs a Stat, which a check has not: the server fails to write it ("Destruction averted").
  if (op === 'check') return undefined
  if (op === 'create') return { err, response: { path } }
  if (op === 'create2' || op === 'createContainer' || op === 'createTTL') return { err, response: { path, stat } }
  if (op === 'setData' || op === 'setACL') return { err, response: { stat } }
  if (op === 'reconfig' && result.txn.type === 'setData') return { err, response: { data: result.txn.data, stat } }
  return { err }
}

type Read<Asked> = (asked: Asked, tree: DataTree, request: ServerRequest) => Answer

type Reads = { readonly [Name in OperationName]?: Read<RequestOf<Name>['request']> }

const reads: Reads = {
  ping: () => OK,
  sync: ({ path }) => ({ err: 0, response: { path } }),
  exists({ path, watch }, tree, { authInfo, connection }) {
    if (path === null) return refused(ErrorCode.MarshallingError)
    if (path.includes('\0')) return refused(ErrorCode.BadArguments)
    const node = tree.get(path)
    if (tree.release.hidesStats && node !== undefined && !allowed(node.acl, Perms.READ, authInfo)) {
      return refused(ErrorCode.NoAuth)
    }
    // The watch is set even if the node does not exist.
    if (watch && connection) tree.dataWatches.add(path, connection)
    return node === undefined ? refused(ErrorCode.NoNode) : { err: 0, response: { stat: toStat(node) } }
  },
  getData: ({ path, watch }, tree, request) =>
    read(tree, path, request, Perms.READ, (node, path) => {
      if (watch && request.connection) tree.dataWatches.add(path, request.connection)
      return { data: node.data, stat: toStat(node) }
    }),
  getChildren: ({ path, watch }, tree, request) =>
    read(tree, path, request, Perms.READ, (node, path) => {
      if (watch && request.connection) tree.childWatches.add(path, request.connection)
      return { children: node.listChildren() }
    }),
  getChildren2: ({ path, watch }, tree, request) =>
    read(tree, path, request, Perms.READ, (node, path) => {
      if (watch && request.connection) tree.childWatches.add(path, request.connection)
      return { children: node.listChildren(), stat: toStat(node) }
    }),
  getACL: ({ path }, tree, request) =>
    // READ or ADMIN is enough. Without ADMIN the hashes of passwords in the ACL are hidden.
    read(tree, path, request, Perms.READ | Perms.ADMIN, (node) => ({
      acl: allowed(node.acl, Perms.ADMIN, request.authInfo) ? node.acl : node.acl.map(withoutHash),
      stat: toStat(node),
    })),
  getAllChildrenNumber: ({ path }, tree, request) =>
    read(tree, path, request, Perms.READ, (_, path) => ({ totalNumber: tree.countBelow(path) })),
  getEphemerals({ prefixPath }, tree, { sessionId }) {
    const prefix = prefixPath ?? ''
    const isAll = prefix.trim() === '' || prefix.trim() === '/'
    const ephemerals = tree.ephemerals(sessionId).inOrder()
    return { err: 0, response: { ephemerals: ephemerals.filter((path) => isAll || path.startsWith(prefix)) } }
  },
  whoAmI: (_, __, { authInfo }) => ({ err: 0, response: { clientInfo: authInfo.map(clientInfo) } }),
  multiRead(parts, tree, request) {
    const reads = parts.filter(isRead).length
    if (reads > 0 && reads < parts.length) return refused(ErrorCode.MarshallingError)
    const results: MultiResult[] = []
    for (const part of parts) {
      const result = readPart(part, tree, request)
      // The request is refused, but the results of earlier reads are sent with the refusal.
      if (result === undefined) return { err: ErrorCode.MarshallingError, response: results }
      results.push(result)
    }
    return { err: 0, response: results }
  },
  setWatches: (asked, tree, { connection }) => ({ err: setWatches(tree, asked, connection ?? noWatcher) }),
  setWatches2: (asked, tree, { connection }) => ({ err: setWatches(tree, asked, connection ?? noWatcher) }),
  addWatch(asked, tree, { connection }) {
    const err = addWatch(tree, asked, connection ?? noWatcher)
    return err === 0 ? { err, response: { err } } : refused(err)
  },
  checkWatches: (asked, tree, { connection }) => ({ err: hasWatch(tree, asked, connection ?? noWatcher) }),
  removeWatches: (asked, tree, { connection }) => ({ err: removeWatch(tree, asked, connection ?? noWatcher) }),
}

const OK: Answer = { err: 0 }

const refused = (err: number): Answer => ({ err })

/** For a request without a connection, which gets no events. */
const noWatcher: Watcher = { authInfo: [], event() {} }

function read(
  tree: DataTree,
  path: string | null,
  { authInfo }: ServerRequest,
  perms: number,
  respond: (node: DataNode, path: string) => unknown,
): Answer {
  // ZooKeeper throws a NullPointerException here, which nothing catches.
  if (path === null) return refused(ErrorCode.MarshallingError)
  const node = tree.get(path)
  if (node === undefined) return refused(ErrorCode.NoNode)
  if (!allowed(node.acl, perms, authInfo)) return refused(ErrorCode.NoAuth)
  return { err: 0, response: respond(node, path) }
}

/** Returns undefined for an operation that makes the whole request fail. */
function readPart(
  { type, request: { path } }: MultiOp,
  tree: DataTree,
  request: ServerRequest,
): MultiResult | undefined {
  if (type !== OpCode.getData && type !== OpCode.getChildren) return undefined
  // The watch flag is ignored (Op.getData, Op.getChildren).
  const asked = { path, watch: false }
  const answer = type === OpCode.getData ? reads.getData : reads.getChildren
  const { err, response } = (answer as Read<typeof asked>)(asked, tree, request)
  if (err === ErrorCode.MarshallingError) return undefined
  if (err !== ErrorCode.Ok) return { type: OpCode.error, response: { err } }
  return { type, response } as MultiResult
}

function withoutHash(entry: ACL): ACL {
  const { scheme, id } = entry.id
  return scheme === 'digest' ? { perms: entry.perms, id: { scheme, id: id?.replace(/:.*/g, ':x') ?? null } } : entry
}

function clientInfo({ scheme, id }: Id) {
  // `super` has no provider, so it has no name.
  return { authScheme: scheme, user: schemes.get(scheme ?? '')?.userName(id ?? '') ?? '' }
}

function multiResult({ txn, err, stat }: TxnResult, tellsStat: boolean): MultiResult {
  if (txn.type === 'check') return { type: OpCode.check, response: {} }
  if (txn.type === 'delete') return { type: OpCode.delete, response: {} }
  if (stat !== undefined && txn.type === 'setData') return { type: OpCode.setData, response: { stat } }
  if (stat !== undefined && txn.type === 'create') {
    // A container, or a node with a TTL, is answered as by create2.
    if (tellsStat || txn.kind === 'container' || txn.kind === 'ttl')
      return { type: OpCode.create2, response: { path: txn.path, stat } }
    return { type: OpCode.create, response: { path: txn.path } }
  }
  return { type: OpCode.error, response: { err } }
}
