import type { CallOptions, ZooKeeper } from '@zk/client'
import { hex, onAbort, throwIfAborted } from '@zk/client/internal'
import type { ChangeFeed } from './change-feed.ts'
import { checkMirror, checkSynced } from './checks.ts'
import { Copy } from './copy.ts'
import { Follower } from './follower.ts'
import type { MirrorChange, MirroredNode } from './mirrored-node.ts'
import { retryAcrossSessions } from '../kernel/retry.ts'
import { serverTimeout, withLimit } from '../kernel/limit.ts'

const MAX_NODES = 1_000_000
const MAX_BYTES = 256 * 1024 * 1024

/** What is mirrored, and its limits. */
export interface MirrorOptions {
  /** How many levels below the node are mirrored; 0 for only the node. @default all */
  depth?: number | undefined
  /**
   * Whether the node of this path, and what is below it, is mirrored. It is called once each time a node appears, except for the
   * top node, and must always return the same result for a path. If it throws, the mirror ends with that error. @default all
   */
  filter?: ((path: string) => boolean) | undefined
  /** The maximum number of nodes, at least 1. One more ends the mirror with a `MirrorTooLargeError`. @default 1_000_000 */
  maxNodes?: number | undefined
  /**
   * The maximum number of bytes of data plus characters of names, at least 1. One more ends the mirror with a
   * `MirrorTooLargeError`. @default 256 MiB
   */
  maxBytes?: number | undefined
  /** Closes the mirror. If it aborts before the mirror is open, `open` rejects with its reason. */
  signal?: AbortSignal | undefined
}

/**
 * The changes of a mirror for one reader. It ends when you leave the loop, by `return()`, by `await using`, and with the
 * mirror. An iterator that you only drop keeps what it has not yielded until the mirror is closed.
 */
export interface MirrorChanges extends AsyncIterableIterator<MirrorChange>, AsyncDisposable {
  // Before TypeScript 5.6 an AsyncIterableIterator has no type parameter for its return value.
  /** The next change. Rejects once with the error that has ended the mirror, after the changes before it. */
  next(): Promise<IteratorResult<MirrorChange, undefined>>
  /** Ends the iterator. A `next` that waits resolves with the end. */
  return(): Promise<IteratorResult<MirrorChange, undefined>>
}

/**
 * A live copy of a node and of all nodes below it, in the memory of this program.
 *
 *     await using mirror = await Mirror.open(zk, '/config')
 *     mirror.get('/config/limits')?.text
 *     for await (const change of mirror.changes()) { … }
 *
 * It follows the servers across lost connections and expired sessions. It shows each node as the servers had it at one time, and
 * never goes back to an older state. Two nodes may be from different times, one round trip apart, or as far apart as `staleSince`
 * says while the mirror is stale.
 *
 * What it does not notice: changes to ACLs, which cause no events. A node that this client may not read has no data here, and
 * nothing below it is mirrored. When this client may read it again, the mirror notices that with its next change, or after the
 * next lost connection. Servers from 3.8.4 and 3.9.2 on send no events for such nodes at all.
 */
export class Mirror {
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

  /**
   * Resolves when the content is whole: as recent as the server of this client was at some time after the call. Rejects with a
   * `MirrorTooLargeError` when the tree exceeds a limit, with `ResponseTooLarge` when a list of children exceeds the client's
   * `maxResponseSize`, with the reason of the signal, and with any permanent error (`Closed`, `AuthFailed` …). Then no watch is
   * left. It waits for servers without a time limit.
   */
  static async open(zk: ZooKeeper, path: string, options: MirrorOptions = {}): Promise<Mirror> {
    checkMirror(zk, path, options)
    throwIfAborted(options.signal)
    const mirror = new Mirror(zk, path, options)
    const opened = new Promise<void>((resolve, reject) => {
      mirror.#hasOpened = resolve
      onAbort(mirror.signal, reject)
    })
    mirror.#start(options.signal)
    await opened
    return mirror
  }

  private constructor(zk: ZooKeeper, path: string, options: MirrorOptions) {
    const { depth = Infinity, filter, maxNodes = MAX_NODES, maxBytes = MAX_BYTES } = options
    this.path = path
    this.#zk = zk
    this.#copy = new Copy(path, { maxNodes, maxBytes })
    this.#follower = new Follower(zk, this.#copy, { depth, filter }, () => {
      this.#hasOpened()
      this.#copy.whole()
    })
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
   *
   * A slow reader costs no more memory than the content that was yielded: several changes to a node are combined into one, from
   * what was yielded to the current state, and a node that was added and removed in between is not yielded. The changes of one
   * node are in order, and so are a parent and its children. Changes to different nodes come in the order of each node's first change that was
   * not yielded.
   */
  changes(): MirrorChanges {
    const feed = this.#copy.feed(!this.isStale)
    if (this.#end !== undefined) feed.end(this.#end)
    return iterate(feed)
  }

  /**
   * Resolves when the mirror is as recent as a read after a `sync` sent at the time of this call would be. It is not stale then. After
   * `timeout`, the session timeout by default, it rejects with `RequestTimeout`.
   */
  async synced(options: Pick<CallOptions, 'timeout' | 'signal'> = {}): Promise<void> {
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

  #start(signal: AbortSignal | undefined): void {
    if (signal !== undefined) this.#unlisten = onAbort(signal, (reason) => this.#close(reason))
    this.#follower.follow().catch((error: unknown) => this.#over({ error }))
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

function iterate(feed: ChangeFeed): MirrorChanges {
  const changes: MirrorChanges = {
    next: () => feed.take(),

    async return() {
      feed.leave()
      return { value: undefined, done: true }
    },

    async [Symbol.asyncDispose]() {
      feed.leave()
    },

    [Symbol.asyncIterator]: () => changes,
  }
  return changes
}
