// The tree as it will be when everything that was prepared is applied (ZooKeeperServer.outstandingChanges).
import type { ACL } from '@zk/wire'
import type { DataTree } from './data-tree.ts'

/** A node as the next transaction must see it: a `DataNode`, or a change of one that is not applied yet. */
export interface NodeView {
  readonly version: number
  readonly cversion: number
  readonly aversion: number
  readonly ephemeralOwner: bigint
  readonly childCount: number
  readonly dataLength: number
  readonly acl: readonly ACL[]
}

type Counts = Pick<NodeView, 'version' | 'cversion' | 'aversion' | 'childCount' | 'dataLength'>

interface ChangeRecord {
  readonly zxid: bigint
  readonly path: string
  /** undefined: deleted. */
  readonly node: NodeView | undefined
}

/** The same node with some changes. (A `DataNode` cannot be spread: it has more than its fields.) */
export function viewOf(node: NodeView, changes: Partial<Counts>): NodeView {
  return {
    version: changes.version ?? node.version,
    cversion: changes.cversion ?? node.cversion,
    aversion: changes.aversion ?? node.aversion,
    ephemeralOwner: node.ephemeralOwner,
    childCount: changes.childCount ?? node.childCount,
    dataLength: changes.dataLength ?? node.dataLength,
    acl: node.acl,
  }
}

export class ChangeRecords {
  readonly #tree: DataTree
  /** Ordered by zxid, from `#first` on. Those before it have been applied. */
  #records: ChangeRecord[] = []
  #first = 0
  readonly #byPath = new Map<string, ChangeRecord>()

  constructor(tree: DataTree) {
    this.#tree = tree
  }

  get(path: string): NodeView | undefined {
    const record = this.#byPath.get(path)
    return record === undefined ? this.#tree.get(path) : record.node
  }

  add(zxid: bigint, path: string, node: NodeView | undefined): void {
    const record = { zxid, path, node }
    this.#records.push(record)
    this.#byPath.set(path, record)
  }

  /** The changes of a path, or all of them, the oldest first. */
  *outstanding(): Generator<ChangeRecord> {
    for (let i = this.#first; i < this.#records.length; i++) yield this.#records[i]!
  }

  applied(zxid: bigint): void {
    while (this.#first < this.#records.length) {
      const record = this.#records[this.#first]!
      if (record.zxid > zxid) break
      this.#first++
      if (this.#byPath.get(record.path) === record) this.#byPath.delete(record.path)
    }
    if (this.#first === this.#records.length || this.#first > 1_000) {
      this.#records = this.#records.slice(this.#first)
      this.#first = 0
    }
  }

  /** The last changes of these paths, for `rollback`. */
  pending(paths: Iterable<string>): readonly ChangeRecord[] {
    const pending: ChangeRecord[] = []
    for (const path of paths) {
      const record = this.#byPath.get(path)
      if (record !== undefined) pending.push(record)
    }
    return pending
  }

  /**
   * Removes the changes of a multi, and restores those that were `pending` before it (rollbackPendingChanges). Those were
   * collected by the paths in the request. So an older change of a sequential node, whose number the request does not have,
   * is lost: the tree is read instead.
   */
  rollback(zxid: bigint, pending: readonly ChangeRecord[]): void {
    while (this.#records.length > this.#first && this.#records.at(-1)!.zxid === zxid) {
      this.#byPath.delete(this.#records.pop()!.path)
    }
    const oldest = this.#records[this.#first]
    if (oldest === undefined) return
    for (const record of pending) if (record.zxid >= oldest.zxid) this.#byPath.set(record.path, record)
  }
}
