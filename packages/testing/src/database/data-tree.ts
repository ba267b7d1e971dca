import { type ACL, ErrorCode, Perms, type Stat } from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import type { LoggedTxn, Txn, TxnHeader } from '../server/txn.ts'
import { DataNode, toStat } from './data-node.ts'
import { CONTAINER_OWNER, ttlOf, ttlOwner } from './ephemeral-type.ts'
import { JavaHashSet } from './java-hash-set.ts'
import { nameIn, parentOf } from './paths.ts'
import { Quotas } from './quota.ts'
import { defaultsOf, NEWEST, type Release } from './releases.ts'
import { WatchManager, type WatchModes } from './watch-manager.ts'

/**
 * What the counter for sequential children does after 2³¹ - 1. 'stick', as from 3.6 on: every later child gets 2147483647
 * (ZOOKEEPER-3249). 'wrap', as before 3.6: it continues at -2147483648.
 */
export type SequenceOverflow = 'stick' | 'wrap'

export interface DataTreeOptions {
  /** @default the newest */
  readonly release?: Release
  /** @default that of the release */
  readonly sequenceOverflow?: SequenceOverflow
  /** @default those of the release */
  readonly watchModes?: WatchModes
}

/** The result of a transaction (DataTree.ProcessTxnResult). */
export interface TxnResult {
  /** The change. If a multi was refused, each of its operations is an `error`. */
  readonly txn: Txn
  /** An `ErrorCode`. For a refused multi it is the first code that is not 0. */
  readonly err: number
  /** The path of a created node, with its number. */
  readonly path?: string
  /** The Stat of the node right after the transaction. */
  readonly stat?: Stat
  /** The results of the operations of a multi. */
  readonly results?: readonly TxnResult[]
}

/** The nodes of one server, and their watchers (DataTree). */
export class DataTree {
  lastProcessedZxid = 0n
  readonly release: Release
  readonly watchModes: WatchModes
  readonly dataWatches: WatchManager
  readonly childWatches: WatchManager
  readonly #sequenceOverflow: SequenceOverflow
  readonly #nodes = new Map<string, DataNode>()
  /** The limits of nodes, and their usage. */
  readonly quotas = new Quotas(this.#nodes)
  readonly #ephemerals = new Map<bigint, JavaHashSet>()
  readonly #containers = new Set<string>()
  readonly #ttls = new Set<string>()
  #dataSize = 0

  constructor({ release = NEWEST, ...options }: DataTreeOptions = {}) {
    const defaults = defaultsOf(release)
    const { sequenceOverflow = defaults.sequenceOverflow, watchModes = defaults.watchModes } = options
    this.release = release
    this.#sequenceOverflow = sequenceOverflow
    this.watchModes = watchModes
    this.dataWatches = new WatchManager(release, watchModes)
    this.childWatches = new WatchManager(release, watchModes)
    const root = ancient(OPEN_ACL_UNSAFE)
    this.#nodes.set('/', root)
    this.#put('/zookeeper', ancient(OPEN_ACL_UNSAFE))
    this.#put('/zookeeper/quota', ancient(OPEN_ACL_UNSAFE))
    const config = ancient(READ_ACL_UNSAFE)
    // The constructor of ZooKeeper sets this ACL by setACL with version -1.
    config.aversion = -1
    this.#put('/zookeeper/config', config)
    this.#alias(root)
  }

  get(path: string): DataNode | undefined {
    return this.#nodes.get(path)
  }

  /** The paths of all nodes, in the order of creation. */
  *paths(): Generator<string> {
    for (const path of this.#nodes.keys()) if (path !== '') yield path
  }

  /** The ephemeral nodes of a session, as a new set. */
  ephemerals(sessionId: bigint): JavaHashSet {
    return this.#ephemerals.get(sessionId)?.clone() ?? new JavaHashSet()
  }

  /** The sessions that have, or had, an ephemeral node. */
  get ephemeralOwners(): ReadonlySet<bigint> {
    return new Set(this.#ephemerals.keys())
  }

  /** The paths of all containers. From time to time the leader deletes those that have become empty (ContainerManager). */
  get containers(): ReadonlySet<string> {
    return this.#containers
  }

  /** The paths of all nodes that have a TTL. */
  get ttls(): ReadonlySet<string> {
    return this.#ttls
  }

  /** The number of nodes below a path, at any depth (getAllChildrenNumber). */
  countBelow(path: string): number {
    if (path === '/') return this.#nodes.size - 2
    let count = 0
    for (const other of this.#nodes.keys()) if (other.startsWith(`${path}/`)) count++
    return count
  }

  /** The number of nodes that servers report: they count the root twice, as '/' and as ''. */
  get nodeCount(): number {
    return this.#nodes.size
  }

  get watchCount(): number {
    return this.dataWatches.size + this.childWatches.size
  }

  get ephemeralsCount(): number {
    let count = 0
    for (const paths of this.#ephemerals.values()) count += paths.size
    return count
  }

  /** The sum of the lengths of all paths and data. */
  get approximateDataSize(): number {
    return this.#dataSize
  }

  /** Writes the config node, when a server of a quorum begins to serve (initConfigInZKDatabase). */
  setConfig(data: Uint8Array, version: bigint, time: number): void {
    this.#setData({ type: 'setData', path: '/zookeeper/config', data, version: -1 }, version, time)
  }

  /** Removes the watches of a connection that is gone. */
  removeWatcher(watcher: Watcher): void {
    this.dataWatches.removeWatcher(watcher)
    this.childWatches.removeWatcher(watcher)
  }

  /** Changes the tree and notifies the watchers (processTxn). */
  apply({ header, txn }: LoggedTxn): TxnResult {
    const result = txn.type === 'multi' ? this.#multi(txn.txns, header) : this.#apply(txn, header)
    if (header.zxid > this.lastProcessedZxid) this.lastProcessedZxid = header.zxid
    return result
  }

  /** A copy for a new follower (a snapshot): everything except the watches. */
  copy(): DataTree {
    const { release, watchModes } = this
    const copy = new DataTree({ release, sequenceOverflow: this.#sequenceOverflow, watchModes })
    copy.lastProcessedZxid = this.lastProcessedZxid
    copy.#nodes.clear()
    for (const [path, node] of this.#nodes) if (path !== '') copy.#nodes.set(path, node.copy())
    copy.#nodes.set('', copy.#nodes.get('/')!)
    for (const [owner, paths] of this.#ephemerals) copy.#ephemerals.set(owner, paths.copy())
    for (const path of this.#containers) copy.#containers.add(path)
    for (const path of this.#ttls) copy.#ttls.add(path)
    copy.quotas.adopt(this.quotas)
    copy.#dataSize = this.#dataSize
    return copy
  }

  #apply(txn: Txn, header: TxnHeader): TxnResult {
    switch (txn.type) {
      case 'create':
        return this.#create(txn, header)
      case 'delete':
        return { txn, err: this.#delete(txn.path, header.zxid), path: txn.path }
      case 'setData':
        return this.#setData(txn, header.zxid, header.time)
      case 'setACL': {
        const { path, acl, version } = txn
        const node = this.#nodes.get(path)
        if (node === undefined) return { txn, err: ErrorCode.NoNode, path }
        node.acl = acl
        node.aversion = version
        return { txn, err: 0, path, stat: toStat(node) }
      }
      case 'check':
        return { txn, err: 0, path: txn.path }
      case 'closeSession':
        return this.#closeSession(txn, header)
      case 'presetCounter': {
        const node = this.#nodes.get(txn.path)
        if (node === undefined) return { txn, err: ErrorCode.NoNode, path: txn.path }
        node.cversion = txn.counter
        return { txn, err: 0, path: txn.path }
      }
      case 'createSession':
        return { txn, err: 0 }
      case 'error':
        return { txn, err: txn.err }
      case 'multi':
        return this.#multi(txn.txns, header)
    }
  }

  /** A multi with a refused operation does nothing. The results are 0 before that operation, and -2 after it. */
  #multi(txns: readonly Txn[], header: TxnHeader): TxnResult {
    const failed = txns.some(({ type }) => type === 'error')
    let err: number = ErrorCode.Ok
    const results: TxnResult[] = []
    for (const txn of txns) {
      const done = failed && txn.type !== 'error' ? refused(err) : txn
      const result = this.#apply(done, header)
      results.push(result)
      if (err === 0) err = result.err
    }
    return { txn: { type: 'multi', txns }, err, results }
  }

  #create(txn: Extract<Txn, { type: 'create' }>, { sessionId, zxid, time }: TxnHeader): TxnResult {
    const { path, data, acl, kind, ttl = 0n } = txn
    const parentPath = parentOf(path)
    const parent = this.#nodes.get(parentPath)
    if (parent === undefined) return { txn, err: ErrorCode.NoNode, path }
    if (parent.children.has(nameIn(path))) return { txn, err: ErrorCode.NodeExists, path }
    const cversion = txn.parentCVersion === -1 ? (parent.cversion + 1) | 0 : txn.parentCVersion
    // A counter that has reached its end stays there, and so does pzxid. So a child watch that is set again misses the
    // change.
    if (cversion > parent.cversion || this.#sequenceOverflow === 'wrap') {
      parent.cversion = cversion
      parent.pzxid = zxid
    }
    const owners = { persistent: 0n, ephemeral: sessionId, container: CONTAINER_OWNER, ttl: ttlOwner(ttl) }
    const ephemeralOwner = owners[kind]
    const node = new DataNode({ data, acl, zxid, time, ephemeralOwner })
    parent.addChild(nameIn(path))
    this.#nodes.set(path, node)
    this.#dataSize += path.length + (data?.byteLength ?? 0)
    if (kind === 'container') this.#containers.add(path)
    else if (kind === 'ttl') this.#ttls.add(path)
    else if (kind === 'ephemeral') {
      const paths = this.#ephemerals.get(sessionId)
      if (paths === undefined) this.#ephemerals.set(sessionId, new JavaHashSet().add(path))
      else paths.add(path)
    }
    const stat = toStat(node)
    this.quotas.created(path, node.dataLength)
    this.dataWatches.trigger(path, 'NodeCreated', zxid, acl)
    this.childWatches.trigger(parentPath === '' ? '/' : parentPath, 'NodeChildrenChanged', zxid, parent.acl)
    return { txn, err: 0, path, stat }
  }

  #delete(path: string, zxid: bigint): number {
    const parentPath = parentOf(path)
    const parent = this.#nodes.get(parentPath)
    if (parent === undefined) return ErrorCode.NoNode
    parent.removeChild(nameIn(path))
    // The parent changes even if the node is already gone.
    if (zxid > parent.pzxid) parent.pzxid = zxid
    const node = this.#nodes.get(path)
    if (node === undefined) return ErrorCode.NoNode
    this.#nodes.delete(path)
    this.#dataSize -= path.length + (node.data?.byteLength ?? 0)
    if (node.isContainer) this.#containers.delete(path)
    else if (ttlOf(node.ephemeralOwner) !== undefined) this.#ttls.delete(path)
    else if (node.ephemeralOwner !== 0n) this.#ephemerals.get(node.ephemeralOwner)?.delete(path)
    this.quotas.deleted(path, node.dataLength)
    // A watcher of both the data and the children of the node gets one event.
    const notified = this.dataWatches.trigger(path, 'NodeDeleted', zxid, node.acl)
    this.childWatches.trigger(path, 'NodeDeleted', zxid, node.acl, notified)
    this.childWatches.trigger(parentPath === '' ? '/' : parentPath, 'NodeChildrenChanged', zxid, parent.acl)
    return ErrorCode.Ok
  }

  #setData(txn: Extract<Txn, { type: 'setData' }>, zxid: bigint, time: number): TxnResult {
    const { path, data, version } = txn
    const node = this.#nodes.get(path)
    if (node === undefined) return { txn, err: ErrorCode.NoNode, path }
    const bytes = (data?.byteLength ?? 0) - node.dataLength
    this.#dataSize += bytes
    node.data = data
    node.mtime = BigInt(time)
    node.mzxid = zxid
    node.version = version
    const stat = toStat(node)
    this.quotas.grown(path, { count: 0, bytes })
    this.dataWatches.trigger(path, 'NodeDataChanged', zxid, node.acl)
    return { txn, err: 0, path, stat }
  }

  /**
   * Deletes the nodes that the leader has listed. If leader and follower disagree, other nodes of the session are left,
   * which are deleted after those (killSession).
   */
  #closeSession(txn: Extract<Txn, { type: 'closeSession' }>, { sessionId, zxid }: TxnHeader): TxnResult {
    const left = this.#ephemerals.get(sessionId)
    this.#ephemerals.delete(sessionId)
    for (const path of txn.paths) {
      this.#delete(path, zxid)
      left?.delete(path)
    }
    for (const path of left?.inOrder() ?? []) this.#delete(path, zxid)
    return { txn, err: 0 }
  }

  #put(path: string, node: DataNode): void {
    this.#nodes.set(path, node)
    this.#nodes.get(parentOf(path) || '/')!.addChild(nameIn(path))
    this.#dataSize += path.length
  }

  /** The root has two names ("Rather than fight it, let root have an alias"): the parent of '/a' is ''. */
  #alias(root: DataNode): void {
    this.#nodes.set('', root)
    this.#dataSize += '/'.length
  }
}

const OPEN_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]
const READ_ACL_UNSAFE: readonly ACL[] = [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }]

/** A node that was made with the tree, not by a transaction. */
const ancient = (acl: readonly ACL[]) =>
  new DataNode({ data: new Uint8Array(), acl, zxid: 0n, time: 0, ephemeralOwner: 0n })

const refused = (err: number): Txn => ({
  type: 'error',
  err: err === 0 ? ErrorCode.Ok : ErrorCode.RuntimeInconsistency,
})
