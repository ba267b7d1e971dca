import type { WaitOptions, WatchIterator, ZooKeeper } from '@zk/client'
import { hex, onAbort } from '@zk/client/internal'
import type { ChangeFeed } from './change-feed.ts'
import { checkSynced } from './checks.ts'
import { Copy } from './copy.ts'
import { Follower } from './follower.ts'
import type { MirrorChange, MirroredNode } from './mirrored-node.ts'
import { retryAcrossSessions } from '../kernel/retry.ts'
import { serverTimeout, withLimit } from '../kernel/limit.ts'

interface MirrorBounds {
  readonly depth: number
  readonly filter: ((path: string) => boolean) | undefined
  readonly maxNodes: number
  readonly maxBytes: number
}

/** The content of a mirror, until `close`. */
export class OpenMirror implements AsyncDisposable {
  /** The path of the top node. It need not exist: the mirror is then empty. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #copy: Copy
  readonly #follower: Follower
  readonly #ended = new AbortController()
  /** What ends the iterators after the last content; undefined before the end. */
  #end: { readonly error?: unknown } | undefined
  #unlisten: () => void = () => {}
  #hasOpened: () => void = () => {}

  /** @internal */
  constructor(zk: ZooKeeper, path: string, { depth, filter, maxNodes, maxBytes }: MirrorBounds) {
    this.path = path
    this.#zk = zk
    this.#copy = new Copy(path, { maxNodes, maxBytes })
    this.#follower = new Follower(zk, this.#copy, { depth, filter }, () => {
      this.#hasOpened()
      this.#copy.whole()
    })
  }

  /** @internal Resolves when the content is whole. */
  async opened(signal: AbortSignal | undefined): Promise<this> {
    const opened = new Promise<void>((resolve, reject) => {
      this.#hasOpened = resolve
      onAbort(this.signal, reject)
    })
    if (signal !== undefined) this.#unlisten = onAbort(signal, (reason) => this.#close(reason))
    this.#follower.follow().catch((error: unknown) => this.#over({ error }))
    await opened
    return this
  }

  /** The node, if it exists. Its data is a copy. */
  get(path: string): MirroredNode | undefined {
    const id = this.#copy.tree.find(path)
    return id === undefined ? undefined : this.#copy.tree.node(id, path)
  }

  /** The names of the children, in no particular order; empty if the node does not exist. */
  children(path: string): string[] {
    const id = this.#copy.tree.find(path)
    return id === undefined ? [] : this.#copy.tree.childNames(id)
  }

  /** All nodes at this moment, each before the nodes below it. A node that is removed while the loop runs is left out. */
  *entries(): Generator<MirroredNode, void, undefined> {
    const { tree } = this.#copy
    for (const id of tree.ids()) if (tree.has(id)) yield tree.node(id)
  }

  /** The number of nodes. */
  get size(): number {
    return this.#copy.tree.size
  }

  /**
   * Every change up to and including this transaction is in the mirror. Some nodes may be from later transactions. The value
   * rises with changes to the mirrored tree. A change elsewhere in ZooKeeper does not raise it, nor does a deletion by itself (before
   * 3.9 an event does not show its transaction).
   */
  get zxid(): bigint {
    return this.#follower.zxid
  }

  /** Whether changes that are older than a round trip may be missing. */
  get isStale(): boolean {
    return this.staleSince !== undefined
  }

  /**
   * Since when it is stale, by this client's clock, in ms since the epoch. It is stale from the loss of the connection until all
   * nodes have been compared on the next one, while connected to a read-only server, and after the end. undefined while it is not stale.
   */
  get staleSince(): number | undefined {
    return this.#follower.staleSince
  }

  /** Aborts when the mirror ends. Its reason is the error that has ended it; an `AbortError` after `close`. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * The content as `Added`, parents first, then `Ready`, then the changes from now on. Each iterator gets all of it.
   * An iterator that is only dropped keeps what it has not yielded until the mirror is closed. `next` rejects once with the error
   * that has ended the mirror, after the changes before it.
   *
   * A slow reader costs no more memory than the content that was yielded: several changes to a node are combined into one, from
   * what was yielded to the current state, and a node that was added and removed in between is not yielded. The changes of one
   * node are in order, and so are a parent and its children. Changes to different nodes come in the order of each node's
   * first change that was not yielded.
   */
  watchChanges(): WatchIterator<MirrorChange> {
    const feed = this.#copy.feed(!this.isStale)
    if (this.#end !== undefined) feed.end(this.#end)
    return new MirrorChanges(feed, this)
  }

  /**
   * Resolves when the mirror is as recent as a read after a `sync` sent at the time of this call would be. It is not stale then. After
   * `timeout`, the session timeout by default, it rejects with `RequestTimeout`.
   */
  async synced(options: WaitOptions = {}): Promise<void> {
    checkSynced(options)
    const zk = this.#zk
    const { timeout = zk.session.timeout, signal } = options
    const limits = { signals: [signal, this.signal], timeout: serverTimeout('synced', this.path, timeout) }
    await withLimit(zk.runtime, limits, (limit) =>
      limit.asking(async (over) => {
        await retryAcrossSessions(zk, () => zk.sync(this.path, { signal: over, timeout: Infinity }), over)
        await this.#follower.recent(over)
      }),
    )
  }

  /** Ends the mirror and its iterators, and removes its watches. It shows its last content from then on. */
  async close(): Promise<void> {
    this.#close()
  }

  /** Like `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** For logs: no content. */
  toJSON(): object {
    const { path, size, zxid, isStale, staleSince } = this
    return { path, size, zxid: hex(zxid), isStale, staleSince }
  }

  #close(reason?: unknown): void {
    this.#over({}, reason)
    this.#copy.close()
  }

  #over(end: { readonly error?: unknown }, reason = end.error): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#unlisten()
    this.#follower.close()
    this.#copy.end(end)
    this.#ended.abort(reason)
  }
}

/** An iterator that is only dropped keeps what it has not yielded until the mirror is closed. */
class MirrorChanges implements WatchIterator<MirrorChange> {
  readonly #feed: ChangeFeed
  readonly #mirror: OpenMirror

  constructor(feed: ChangeFeed, mirror: OpenMirror) {
    this.#feed = feed
    this.#mirror = mirror
  }

  get isStale(): boolean {
    return this.#mirror.isStale
  }

  next(): Promise<IteratorResult<MirrorChange, undefined>> {
    return this.#feed.take()
  }

  async return(): Promise<IteratorResult<MirrorChange, undefined>> {
    this.#feed.leave()
    return { value: undefined, done: true }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#feed.leave()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
