// The copy of the tree, its limits, and the readers of its changes.
import { ChangeFeed } from './change-feed.ts'
import { tooLarge } from './too-large.ts'
import { parentOf, Tree, type WrittenStat } from './tree.ts'

export interface Bounds {
  readonly maxNodes: number
  readonly maxBytes: number
}

export class Copy {
  readonly tree: Tree
  /** Called for each node that is removed. */
  removed: (path: string) => void = () => {}
  readonly #bounds: Bounds
  readonly #feeds = new Set<ChangeFeed>()

  constructor(root: string, bounds: Bounds) {
    this.tree = new Tree(root)
    this.#bounds = bounds
  }

  /** A reader of the content, and of all changes from now on. */
  feed(isWhole: boolean): ChangeFeed {
    const feed = new ChangeFeed(this.tree, isWhole, (left) => this.#feeds.delete(left))
    this.#feeds.add(feed)
    return feed
  }

  /** Whether a node at this path may be in the copy: the root, and any child of a node that exists and may be read. */
  hasPlaceFor(path: string): boolean {
    if (path === this.tree.root) return true
    const parent = this.tree.find(parentOf(path))
    return parent !== undefined && this.tree.isReadable(parent)
  }

  /** Stores the node as it was read. `data` is undefined if the client has no right to read it: nodes below it are then not mirrored. */
  put(path: string, stat: WrittenStat, data: Uint8Array | undefined): void {
    const { tree } = this
    const id = tree.find(path)
    if (id === undefined) {
      this.check(1)
      for (const feed of this.#feeds) feed.adding(path)
      tree.add(path, stat, data)
    } else {
      if (data === undefined) this.#removeBelow(id)
      // It was created again. Any older nodes below it belonged to the former node.
      else if (!tree.isSame(id, stat)) this.#removeBelow(id, stat.czxid)
      if (tree.isAt(id, stat) && tree.isReadable(id) === (data !== undefined)) return
      for (const feed of this.#feeds) feed.changing(id, path)
      tree.update(id, stat, data)
    }
    const { maxBytes } = this.#bounds
    if (tree.bytes > maxBytes) throw tooLarge(tree.root, 'maxBytes', maxBytes, tree.bytes)
    this.#flush()
  }

  /** Removes the node and all nodes below it. */
  remove(path: string): void {
    const id = this.tree.find(path)
    if (id === undefined) return
    this.#removeBelow(id)
    this.#remove(id, path)
    this.#flush()
  }

  /** Throws if `more` further nodes exceed the limit, unless nodes of the copy may be gone. */
  check(more: number, mayBeGone = () => false): void {
    const found = this.tree.size + more
    const { maxNodes } = this.#bounds
    if (found > maxNodes && !mayBeGone()) throw tooLarge(this.tree.root, 'maxNodes', maxNodes, found)
  }

  /** The content is complete again. */
  whole(): void {
    for (const feed of this.#feeds) feed.whole()
  }

  /** No further change comes. */
  end(end: { readonly error?: unknown }): void {
    for (const feed of this.#feeds) feed.end(end)
  }

  /** The mirror was closed: nothing more is yielded. */
  close(): void {
    for (const feed of this.#feeds) feed.leave()
  }

  /**
   * Removes the nodes below a node that were created before `czxid`, the deepest first. An old node with a newer child stays: it
   * was created again, too, and is still to be read.
   */
  #removeBelow(id: number, czxid?: bigint): void {
    const { tree } = this
    for (const each of tree.ids(id).subarray(1).reverse()) {
      const isOld = czxid === undefined || tree.czxid(each) < czxid
      if (isOld && tree.childCount(each) === 0) this.#remove(each, tree.path(each))
    }
  }

  #remove(id: number, path: string): void {
    for (const feed of this.#feeds) feed.removing(id, path)
    this.tree.remove(id)
    this.removed(path)
  }

  #flush(): void {
    for (const feed of this.#feeds) feed.flush()
  }
}
