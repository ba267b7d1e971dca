// The changes of a mirror for one reader. A slow reader costs memory only for nodes that differ from what was last yielded. For
// each of these nodes one change is yielded: from that state to the state when the reader takes it.
import type { MirrorChange, MirroredNode } from './mirrored-node.ts'
import type { Tree } from './tree.ts'
import { Deferred } from '../kernel/promises.ts'

type Result = IteratorResult<MirrorChange, undefined>

/** What was yielded of a node; undefined if nothing was. */
interface Told {
  readonly old: MirroredNode | undefined
}

/** The key of `Ready` among the nodes: not a path. */
const READY = ''
const OVER: Result = { value: undefined, done: true }

export class ChangeFeed {
  readonly #tree: Tree
  readonly #gone: (feed: ChangeFeed) => void
  /** The ids of the initial content, parents first. Those before `#next` are done. */
  #initial: Uint32Array
  #next = 0
  /** By id: 1 if the node belongs to the initial content, and is still to be yielded from there. */
  #isUnyielded: Uint8Array
  /** What differs from what was yielded, in the order of the changes, and `Ready`. */
  readonly #pending = new Map<string, Told>()
  readonly #takers: Deferred<Result>[] = []
  #end: { readonly error?: unknown } | undefined

  constructor(tree: Tree, isWhole: boolean, gone: (feed: ChangeFeed) => void) {
    this.#tree = tree
    this.#gone = gone
    this.#initial = tree.ids()
    this.#isUnyielded = new Uint8Array(tree.idEnd)
    for (const id of this.#initial) this.#isUnyielded[id] = 1
    if (isWhole) this.#pending.set(READY, { old: undefined })
  }

  // --- the reader -------------------------------------------------------------------------------------------------

  take(): Promise<Result> {
    const taker = new Deferred<Result>()
    this.#takers.push(taker)
    this.flush()
    return taker.promise
  }

  /** The reader has left: nothing more is yielded. */
  leave(): void {
    this.#initial = new Uint32Array(0)
    this.#pending.clear()
    this.#end = {}
    this.#over(this.#end)
  }

  // --- the mirror -------------------------------------------------------------------------------------------------

  /** A node will be added. */
  adding(path: string): void {
    if (!this.#pending.has(path)) this.#pending.set(path, { old: undefined })
  }

  /** A node will be written. */
  changing(id: number, path: string): void {
    if (this.#isUnyielded[id] === 1 || this.#pending.has(path)) return
    this.#pending.set(path, { old: this.#tree.node(id, path) })
  }

  /** A node will be removed. The nodes below it have already been removed. */
  removing(id: number, path: string): void {
    if (this.#isUnyielded[id] === 1) {
      this.#isUnyielded[id] = 0
      return
    }
    const known = this.#pending.get(path) ?? { old: this.#tree.node(id, path) }
    // It comes after the nodes below it.
    this.#pending.delete(path)
    if (known.old !== undefined) this.#pending.set(path, known)
  }

  /** The content is whole. */
  whole(): void {
    this.#pending.delete(READY)
    this.#pending.set(READY, { old: undefined })
    this.flush()
  }

  /** Gives the pending changes to the takers that wait. */
  flush(): void {
    while (this.#takers.length > 0) {
      const change = this.#take()
      if (change === undefined) {
        if (this.#end !== undefined) this.#over(this.#end)
        return
      }
      this.#takers.shift()!.resolve({ value: change, done: false })
    }
  }

  /** No further change comes. Pending changes may still be taken, then the error is thrown once. */
  end(end: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.flush()
  }

  #over(end: { readonly error?: unknown }): void {
    this.#end = {}
    this.#gone(this)
    const takers = this.#takers.splice(0)
    if ('error' in end) takers.shift()?.reject(end.error)
    for (const taker of takers) taker.resolve(OVER)
  }

  #take(): MirrorChange | undefined {
    while (this.#next < this.#initial.length) {
      const id = this.#initial[this.#next++]!
      if (this.#isUnyielded[id] === 0) continue
      this.#isUnyielded[id] = 0
      const node = this.#tree.node(id)
      return { type: 'Added', path: node.path, node }
    }
    if (this.#initial.length > 0) this.#initial = new Uint32Array((this.#next = 0))
    for (const [path, { old }] of this.#pending) {
      this.#pending.delete(path)
      if (path === READY) return { type: 'Ready' }
      const change = this.#difference(path, old)
      if (change !== undefined) return change
    }
    return undefined
  }

  #difference(path: string, old: MirroredNode | undefined): MirrorChange | undefined {
    const id = this.#tree.find(path)
    const node = id === undefined ? undefined : this.#tree.node(id, path)
    if (node === undefined) return old && { type: 'Removed', path, old }
    if (old === undefined) return { type: 'Added', path, node }
    return areSame(old, node) ? undefined : { type: 'Changed', path, old, node }
  }
}

function areSame(one: MirroredNode, other: MirroredNode): boolean {
  return (
    one.stat.czxid === other.stat.czxid &&
    one.stat.mzxid === other.stat.mzxid &&
    // Zxids repeat after an ensemble is set up again, or restored from a backup.
    one.stat.ctime === other.stat.ctime &&
    one.stat.mtime === other.stat.mtime &&
    (one.data === undefined) === (other.data === undefined)
  )
}
