// The tree as it will be when all transactions that were prepared are applied (ZooKeeperServer.outstandingChanges).
import type { ACL } from '@zk/wire'
import type { DataTree } from './data-tree.ts'

/** A node as the next transaction must see it: a `DataNode`, or the result of a change that is not applied yet. */
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
  /** undefined if the node is deleted. */
  readonly node: NodeView | undefined
}

/** A copy of the node with some changes. (A `DataNode` cannot be spread, because it has getters.) */
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
  /** The changes, ordered by zxid. Those before `#first` have been applied. */
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

  /** All changes that are not applied yet, the oldest first. */
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
   * Removes the changes of a multi, and restores the changes that were `pending` before it (rollbackPendingChanges).
   * `pending` has only the paths of the request, in which sequential nodes have no number. So an older change of a
   * sequential node is lost: `get` then reads the tree.
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
