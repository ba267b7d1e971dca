import { decode, ErrorCode, type MultiOp, type RequestOf, ustring } from '@zk/wire'
import type { ServerRequest } from '../server/request.ts'
import type { Txn } from '../server/txn.ts'
import { ChangeRecords, viewOf } from './change-records.ts'
import { checkMode, isCreate } from './create-mode.ts'
import { configIn } from './config-node.ts'
import type { DataTree } from './data-tree.ts'
import { isReadable, nodeOp } from './multi-op.ts'
import { hasParent, parentOf } from './paths.ts'
import { prepareReconfig } from './prepare-reconfig.ts'
import { isNodeOp, type NodeOp, type PrepareContext, prepareNode, refuse, removeContainer } from './prepare-node.ts'
import type { Quotas } from './quota.ts'
import type { Release } from './releases.ts'

export interface PreparationOptions {
  /** The schemes that ACLs may have, besides `world` and `auth`. @default digest and ip */
  readonly schemes?: ReadonlySet<string>
  /** Whether nodes may have a TTL (zookeeper.extendedTypesEnabled). @default false */
  readonly extendedTypesEnabled?: boolean
  /** Whether clients may call reconfig. @default false */
  readonly reconfigEnabled?: boolean
  /** Whether hard quotas are enforced (zookeeper.enforceQuota). @default false */
  readonly enforceQuota?: boolean
  /** The ids of leader and followers; undefined for a standalone server. @default undefined */
  readonly synced?: () => ReadonlySet<number> | undefined
}

/**
 * Turns requests into transactions, on the leader only (PrepRequestProcessor). Each request is checked against the tree as
 * it will be after all earlier transactions. The caller checks the session: if it has no right to write, the caller uses
 * `refuse`.
 *
 * When a member becomes leader again it gets a new Preparation, so changes that were outstanding before are discarded.
 */
export class Preparation {
  readonly #tree: DataTree
  readonly #changes: ChangeRecords
  readonly #extendedTypesEnabled: boolean
  readonly #reconfigEnabled: boolean
  readonly #quotas: Quotas | undefined
  readonly #schemes: ReadonlySet<string> | undefined
  readonly #synced: () => ReadonlySet<number> | undefined
  /** The zxid of a reconfiguration that is not applied yet. */
  #reconfiguring = -1n

  constructor(tree: DataTree, options: PreparationOptions = {}) {
    const { extendedTypesEnabled = false, reconfigEnabled = false, synced = () => undefined } = options
    this.#tree = tree
    this.#extendedTypesEnabled = extendedTypesEnabled
    this.#reconfigEnabled = reconfigEnabled
    this.#quotas = options.enforceQuota === true ? tree.quotas : undefined
    this.#schemes = options.schemes
    this.#synced = synced
    this.#changes = new ChangeRecords(tree)
  }

  /** The transaction of a write (`isWrite`). A refused write becomes an `error`, which has a zxid, too. */
  prepare(request: ServerRequest, zxid: bigint): Txn {
    const { message, sessionId, authInfo } = request
    const extendedTypesEnabled = this.#extendedTypesEnabled
    const { release } = this.#tree
    const own = { extendedTypesEnabled, quotas: this.#quotas, release, schemes: this.#schemes }
    const context = { changes: this.#changes, sessionId, authInfo, zxid, ...own }
    if (request.isMalformed) return refuse(ErrorCode.MarshallingError)
    if (isNodeOp(message)) return prepareNode(message, context)
    if (message.op === 'multi') return this.#multi(message.request, context)
    if (message.op === 'createSession') return createSession(message.rest)
    if (message.op === 'closeSession') return this.#closeSession(sessionId, zxid)
    if (message.op === 'deleteContainer') {
      if (sessionId === 0n) return removeContainer(new TextDecoder().decode(message.rest), context)
      // Servers that take the whole request of a client for a path find no node: its bytes begin with the header.
      if (!release.deletesContainersOfClients) return refuse(ErrorCode.BadArguments)
      const path = pathIn(message.rest)
      return path === undefined ? refuse(ErrorCode.MarshallingError) : removeContainer(path, context)
    }
    if (message.op === 'reconfig') return this.#reconfig(message.request, context)
    throw new TypeError(`a request with the opcode ${message.opCode} is not a write`)
  }

  /**
   * The transaction of a write whose session has no right to write (SessionExpired, SessionMoved). As in ZooKeeper, two
   * other checks come first: invalid flags of a create, and a body that is read before the session is checked.
   */
  refuse({ message, isMalformed = false }: ServerRequest, err: number): Txn {
    if (message.op === 'multi') {
      if (isMalformed) return refuse(ErrorCode.MarshallingError)
      return multiTxn(message.request, this.#tree.release, (op) => this.#refuseNode(op, err))
    }
    if (message.op === 'reconfig' && !this.#reconfigEnabled) return refuse(ErrorCode.ReconfigDisabled)
    if (!isNodeOp(message)) return refuse(err)
    return isMalformed && isCreate(message) ? refuse(ErrorCode.MarshallingError) : this.#refuseNode(message, err)
  }

  /** The transactions up to this zxid have been applied. */
  applied(zxid: bigint): void {
    if (zxid >= this.#reconfiguring) this.#reconfiguring = -1n
    this.#changes.applied(zxid)
  }

  #reconfig(asked: RequestOf<'reconfig'>['request'], context: PrepareContext): Txn {
    if (!this.#reconfigEnabled) return refuse(ErrorCode.ReconfigDisabled)
    const synced = this.#synced()
    if (synced !== undefined && this.#reconfiguring !== -1n) return refuse(ErrorCode.ReconfigInProgress)
    const txn = prepareReconfig(asked, synced && { config: configIn(this.#tree), synced }, context)
    if (txn.type !== 'error') this.#reconfiguring = context.zxid
    return txn
  }

  #multi(parts: readonly MultiOp[], context: PrepareContext): Txn {
    const { changes, zxid } = context
    const pending = changes.pending(touchedPaths(parts))
    return multiTxn(parts, context.release, (op) => {
      const txn = prepareNode(op, context)
      // A MarshallingError is not a KeeperException: after it the records stay until its zxid is applied.
      if (txn.type === 'error' && txn.err !== ErrorCode.MarshallingError) changes.rollback(zxid, pending)
      return txn
    })
  }

  #refuseNode(op: NodeOp, err: number): Txn {
    const mode = isCreate(op) ? checkMode(op, this.#extendedTypesEnabled) : undefined
    return refuse(typeof mode === 'number' ? mode : err)
  }

  #closeSession(sessionId: bigint, zxid: bigint): Txn {
    const changes = this.#changes
    const owned = this.#tree.ephemerals(sessionId)
    for (const { path, node } of changes.outstanding()) {
      if (node === undefined) owned.delete(path)
      else if (node.ephemeralOwner === sessionId) owned.add(path)
    }
    const paths = owned.inOrder()
    for (const path of paths) {
      // The parent still counts the child. Until this is applied, a delete of the parent fails with NotEmpty.
      const parent = changes.get(parentOf(path))
      if (parent !== undefined) changes.add(zxid, parentOf(path), viewOf(parent, {}))
      changes.add(zxid, path, undefined)
    }
    return { type: 'closeSession', paths }
  }
}

/** Prepares the operations in order. The first one that is refused has its code, and those after it are not checked. */
function multiTxn(parts: readonly MultiOp[], release: Release, prepare: (op: NodeOp) => Txn): Txn {
  // All operations are read before any operation is tried.
  if (!parts.every((part) => isReadable(part, release))) return refuse(ErrorCode.MarshallingError)
  const txns: Txn[] = []
  let failed = false
  for (const part of parts) {
    if (failed) {
      txns.push(refuse(ErrorCode.RuntimeInconsistency))
      continue
    }
    const op = nodeOp(part, release)
    const txn = op === undefined ? refuse(ErrorCode.MarshallingError) : prepare(op)
    if (txn.type === 'error') {
      if (txn.err === ErrorCode.MarshallingError) return txn
      failed = true
    }
    txns.push(txn)
  }
  return { type: 'multi', txns }
}

/** The path of a DeleteContainerRequest; undefined if it cannot be read. */
function pathIn(bytes: Uint8Array | undefined): string | undefined {
  try {
    return decode(ustring, bytes ?? new Uint8Array()) ?? undefined
  } catch {
    return undefined
  }
}

function createSession(timeOut: Uint8Array = new Uint8Array()): Txn {
  if (timeOut.byteLength < 4) return refuse(ErrorCode.MarshallingError)
  return { type: 'createSession', timeOut: new DataView(timeOut.buffer, timeOut.byteOffset).getInt32(0) }
}

/** The path of each operation, and its parent's path: a sequential child changes the parent's counter (ZOOKEEPER-1624). */
function touchedPaths(parts: readonly MultiOp[]): Set<string> {
  const paths = new Set<string>()
  for (const { request } of parts) {
    const { path } = request
    if (path === null) continue
    paths.add(path)
    if (hasParent(path)) paths.add(parentOf(path))
  }
  return paths
}
