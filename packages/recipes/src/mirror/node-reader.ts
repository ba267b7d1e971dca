// The reads in one session, and what their replies change in the copy.
import { type CallOptions, isTransient, KeeperError, type NodeData, op, type Stat, type ZooKeeper } from '@zk/client'
import { type ReadResult, throwIfAborted, wasAborted } from '@zk/client/internal'
import { retry } from '../kernel/retry.ts'
import { unknownStat } from '../kernel/unreadable.ts'
import type { Copy } from './copy.ts'
import type { MirroredPaths } from './mirrored-paths.ts'
import { type Job, Needs, type ReadQueue } from './read-queue.ts'
import { childPath, type WrittenStat } from './tree.ts'
import type { DataRead, Handler, ListRead, StatRead, Watching } from './watching.ts'

/** What comes instead of a result. */
type Refusal = 'NoNode' | 'NoAuth'

/** What is read next of a path. */
type Next = 'all' | 'stat' | 'data' | 'refused' | 'missing' | 'list' | 'nothing'

/** How many new nodes one request reads, and how many bytes its answer has if these nodes are like the others: at most. */
const BATCH = 32
const BATCH_BYTES = 64 * 1024

export interface NodeReaderOptions {
  readonly zk: ZooKeeper
  readonly copy: Copy
  readonly paths: MirroredPaths
  readonly queue: ReadQueue
  /** Called with the transactions that replies show. */
  readonly seen: (zxid: bigint) => void
  /** The options of the calls, with the session. */
  readonly options: CallOptions
  readonly watching: Watching
}

export class NodeReader {
  readonly #zk: ZooKeeper
  readonly #copy: Copy
  readonly #paths: MirroredPaths
  readonly #queue: ReadQueue
  readonly #seen: (zxid: bigint) => void
  readonly #options: CallOptions
  readonly #watching: Watching

  constructor({ zk, copy, paths, queue, seen, options, watching }: NodeReaderOptions) {
    this.#zk = zk
    this.#copy = copy
    this.#paths = paths
    this.#queue = queue
    this.#seen = seen
    this.#options = options
    this.#watching = watching
  }

  /** How many new nodes are read together. One-shot watches are set by a read of each node. */
  get most(): number {
    return this.#watching.isRecursive ? Math.max(1, Math.min(BATCH, this.#copy.tree.nodesIn(BATCH_BYTES))) : 1
  }

  /** Reads what the jobs need, and puts it into the copy. If there are several, their nodes are new. */
  async read(jobs: readonly Job[]): Promise<void> {
    const wanted = jobs.filter(({ path }) => this.#isWanted(path))
    const [job] = wanted
    if (job === undefined) return
    const first = this.#firstOf(job)
    const next = first === 'all' ? await this.#readAll(wanted) : [first]
    const steps = [...next.entries()].filter(([, each]) => each !== 'nothing')
    await Promise.all(steps.map(([index, each]) => this.#goOn(wanted[index]!, each)))
  }

  #isWanted(path: string): boolean {
    return this.#copy.tree.find(path) !== undefined || (this.#copy.hasPlaceFor(path) && this.#paths.isWanted(path))
  }

  #firstOf({ path, needs }: Job): Next {
    const { tree } = this.#copy
    const id = tree.find(path)
    if (id === undefined || !tree.isReadable(id)) return this.#watching.isRecursive ? 'all' : 'data'
    if ((needs & Needs.data) !== 0) return 'data'
    return (needs & Needs.comparison) === 0 ? 'list' : 'stat'
  }

  async #goOn(job: Job, first: Next): Promise<void> {
    let next = first
    if (next === 'stat') next = await this.#readStat(job)
    if (next === 'data') next = await this.#readData(job)
    if (next === 'refused' || next === 'missing') await this.#readRefused(job.path, next === 'missing')
    if (next === 'list') await this.#readList(job)
  }

  #readStat(job: Job): Promise<Next> {
    const { path } = job
    const { tree } = this.#copy
    return this.#ask<StatRead, Next>(
      (options, handler) => this.#watching.stat(path, options, handler),
      (read): Next => {
        if (read === 'NoAuth') return 'data'
        const stat = typeof read === 'string' ? undefined : this.#kept(path, read)
        if (stat === undefined) return this.#gone(path)
        const id = tree.find(path)
        if (id === undefined || !tree.isAt(id, stat)) return 'data'
        return this.#mustList(job, stat) ? 'list' : 'nothing'
      },
    )
  }

  /** Reads new nodes with one request, and their children with them: so each level of a tree takes one round trip. */
  #readAll(jobs: readonly Job[]): Promise<readonly Next[]> {
    const options = this.#options
    const { signal } = options
    const haveLists = jobs.map(({ path }) => this.#mayHaveChildren(path))
    const ops = jobs.flatMap(({ path }, index) =>
      haveLists[index] ? [op.getData(path), op.getChildren(path)] : [op.getData(path)],
    )
    const read = (results: readonly ReadResult<NodeData | string[]>[]): readonly Next[] => {
      throwIfAborted(signal)
      let at = 0
      return jobs.map((job, index) => this.#takeAll(job, results[at++]!, haveLists[index] ? results[at++] : undefined))
    }
    // The answer may be too large, for instance. Then the nodes are read one by one.
    const refused = (error: unknown): readonly Next[] => {
      if (isTransient(error) || wasAborted(error, signal)) throw error
      return jobs.map(() => 'data')
    }
    return retry(this.#zk, () => this.#zk.multiRead(ops, options).then(read, refused), signal)
  }

  #takeAll(job: Job, data: ReadResult<NodeData | string[]>, list?: ReadResult<NodeData | string[]>): Next {
    if (data.error !== undefined && !KeeperError.is(data.error, 'NoNode', 'NoAuth')) return 'data'
    const read = (data.value as NodeData | undefined) ?? data.error!.code
    const next = this.#takeData(job, read)
    const children = list?.value as string[] | undefined
    if (next !== 'list' || children === undefined) return next
    // Both are from the same moment.
    this.#takeList(job, this.#copy.tree.find(job.path)!, children, (read as NodeData).stat.pzxid)
    return 'nothing'
  }

  #readData(job: Job): Promise<Next> {
    return this.#ask<DataRead, Next>(
      (options, handler) => this.#watching.data(job.path, options, handler),
      (read) => this.#takeData(job, read),
    )
  }

  #takeData(job: Job, read: DataRead | Refusal): Next {
    const { path, needs } = job
    const { tree } = this.#copy
    if (read === 'NoAuth') return 'refused'
    if (read === 'NoNode') return this.#gone(path)
    const stat = this.#kept(path, read)!
    const id = tree.find(path)
    const isKnown = id !== undefined && tree.isSame(id, stat) && tree.pzxid(id) >= 0n
    if (!this.#put(path, stat, read.data)) return 'nothing'
    // Events show which children come and go, so the list of a node that is known is not read with its data.
    if (isKnown && (needs & ~Needs.data) === 0) return 'nothing'
    return this.#mustList(job, stat) ? 'list' : 'nothing'
  }

  /**
   * The client has no right to read the node. `exists` shows whether it exists, or is refused because the node exists.
   * `isMissing`: the caller waits for the node.
   */
  #readRefused(path: string, isMissing: boolean): Promise<void> {
    return this.#ask<StatRead, void>(
      (options, handler) => this.#watching.stat(path, options, handler),
      (read) => {
        const isThere = read === 'NoAuth' || (read !== 'NoNode' && read.stat !== undefined)
        // What is still to be read is noted before the transaction is seen.
        if (isThere && isMissing) this.#queue.enqueue(path, Needs.data)
        const stat = typeof read === 'string' ? undefined : this.#kept(path, read)
        if (isMissing) return
        if (isThere) this.#put(path, stat ?? this.#lastStat(path), undefined)
        else this.#gone(path)
      },
    )
  }

  async #readList(job: Job): Promise<void> {
    const { path } = job
    const { tree } = this.#copy
    await this.#ask<ListRead, void>(
      (options, handler) => this.#watching.list(path, options, handler),
      (list) => {
        const id = tree.find(path)
        const isThere = typeof list !== 'string' && id !== undefined && tree.isSame(id, list.stat)
        // The node was deleted, created again, or may no longer be read.
        if (!isThere) {
          if (typeof list !== 'string') this.#discard(path, list)
          return this.#queue.enqueue(path, Needs.data | Needs.comparison, job.epoch)
        }
        this.#watching.keep(path, 'list', list)
        this.#takeList(job, id, list.children, list.stat.pzxid)
        this.#seenIn(list.stat)
      },
    )
  }

  #takeList(job: Job, id: number, children: readonly string[], pzxid: bigint): void {
    const added = this.#listed(id, job, children, pzxid)
    this.#checkRoom(job, added.length)
    this.#queue.addChildren(job, added)
  }

  /** Removes the watches of the path. Otherwise the watch of this list would count as the watch of the next list. */
  #discard(path: string, list: ListRead): void {
    this.#watching.keep(path, 'list', list)
    this.#watching.forget(path)
  }

  /** Whether the list of the children must be read. Without children the list is known. */
  #mustList(job: Job, stat: Stat): boolean {
    const { path } = job
    const { tree } = this.#copy
    const id = tree.find(path)
    if (id === undefined || !this.#mayHaveChildren(path)) return false
    // Containers and nodes with a TTL have a negative owner.
    if (!this.#watching.isRecursive) return stat.ephemeralOwner <= 0n && !this.#watching.watchesList(path)
    if (tree.pzxid(id) === stat.pzxid) return false
    if (stat.numChildren === 0) this.#listed(id, job, [], stat.pzxid)
    // One of the children may be the system node.
    else if (tree.childCount(id) === 0) this.#checkRoom(job, stat.numChildren - 1)
    return stat.numChildren > 0
  }

  /** Whether nodes below this one are mirrored. */
  #mayHaveChildren(path: string): boolean {
    return this.#paths.isInside(childPath(path, 'x'))
  }

  /** Throws before this many more nodes are read, if they are certainly too many. */
  #checkRoom(job: Job, more: number): void {
    if (this.#paths.hasNoFilter) this.#copy.check(more, () => this.#queue.isComparing(job))
  }

  /** Returns the new names. */
  #listed(id: number, { path, epoch }: Job, children: readonly string[], pzxid: bigint): readonly string[] {
    const { tree } = this.#copy
    const names = new Set(children)
    for (const name of tree.childNames(id)) {
      const child = childPath(path, name)
      if (!names.has(name)) this.#copy.remove(child)
      // Servers may send no events of a node that this client may not read: it may have been created again.
      else if (!tree.isReadable(tree.find(child)!)) this.#queue.enqueue(child, Needs.data, epoch)
    }
    tree.setPzxid(id, pzxid)
    return children.filter((name) => {
      const child = childPath(path, name)
      return this.#paths.isInside(child) && tree.find(child) === undefined
    })
  }

  #kept(path: string, read: StatRead): Stat | undefined {
    this.#watching.keep(path, 'data', read)
    if (read.stat !== undefined) this.#seenIn(read.stat)
    return read.stat
  }

  #lastStat(path: string): WrittenStat {
    const { tree } = this.#copy
    const id = tree.find(path)
    return id === undefined ? unknownStat : tree.node(id, path).stat
  }

  /** False if there is no longer a place for it: then its parent is read again. */
  #put(path: string, stat: WrittenStat, data: Uint8Array | undefined): boolean {
    const hasPlace = this.#copy.hasPlaceFor(path)
    if (hasPlace) this.#copy.put(path, stat, data)
    else this.#watching.forget(path)
    return hasPlace
  }

  /** Only the root needs a one-shot watch that waits for it. Other nodes are in the list of their parent when they exist again. */
  #gone(path: string): Next {
    this.#copy.remove(path)
    const isAwaited = path === this.#paths.root && !this.#watching.isRecursive
    if (!isAwaited) this.#watching.forget(path)
    return isAwaited ? 'missing' : 'nothing'
  }

  #seenIn({ czxid, mzxid, pzxid }: Stat): void {
    for (const zxid of [czxid, mzxid, pzxid]) this.#seen(zxid)
  }

  /**
   * Reads, and handles the reply in the turn of the client's promise: so replies are handled in their order, which is the order
   * of the server's states.
   */
  #ask<T, R>(
    call: (options: CallOptions, handler: Handler<T, R>) => Promise<R>,
    handle: (read: T | Refusal) => R,
  ): Promise<R> {
    const options = this.#options
    const { signal } = options
    const refused = (error: unknown): R => {
      if (KeeperError.is(error, 'NoNode', 'NoAuth') && !wasAborted(error, signal)) return handle(error.code)
      throw error
    }
    return retry(this.#zk, () => call(options, { read: handle, refused }), signal)
  }
}
