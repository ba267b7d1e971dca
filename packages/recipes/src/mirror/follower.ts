// Keeps the copy of a tree up to date. What may have changed is read again, each path by one read at a time, and many paths at
// once. The copy shows what was read, never what an event says: so events may come late, twice or not at all.
//
// Two facts make the copy right. Replies come in the order in which the server has executed the reads, and are handled in
// that order: so each one is newer than all that the copy shows, and a list that does not have a name proves that the node is
// gone. And an event is handled before a reply that shows its change: so when all that was reported is read, no change is
// missing that is older than anything that was seen.
import { type CallOptions, KeeperError, op, type Session, type Stat, type ZooKeeper } from '@zk/client'
import { expecting, isSystemNode, onAbort, wasAborted } from '@zk/client/internal'
import { retry } from '../queue/retry.ts'
import type { Copy } from './copy.ts'
import { type Epoch, Epochs, older } from './epochs.ts'
import { childPath, parentOf } from './tree.ts'
import {
  type DataRead,
  type Handler,
  type ListRead,
  OneShotWatching,
  type StatRead,
  WATCH_REMOVED,
  type WatchedTree,
  type Watching,
  type WatchListener,
  watchRecursively,
} from './watching.ts'

/** How many reads may be under way. A server answers them faster than they come from more. */
const WINDOW = 256
/** As many events may wait in a small tree before all of it is compared. */
const LEAST_WAITING = 1_000

/** What is to be read of a node, as bits. */
const Needs = {
  /** Its data. */
  data: 1,
  /** Its Stat, then its data and its list if the Stat shows that they have changed. */
  comparison: 2,
  /** Its list of children. */
  list: 4,
} as const

/** The reads of one path. */
interface Job {
  readonly path: string
  readonly epoch: Epoch
  needs: number
  /** What has been reported since the reads began. */
  again: number
  /** Counts what has been reported since; undefined if nothing has. */
  againEpoch: Epoch | undefined
}

/** The new names of a list, and which of them is read next. */
interface Listing {
  readonly path: string
  readonly names: readonly string[]
  readonly epoch: Epoch
  next: number
}

/** All nodes of the copy, and which of them is compared next. */
interface Comparison {
  readonly ids: Uint32Array
  readonly epoch: Epoch
  next: number
}

/** A session in which the watches are set. */
interface Reading {
  readonly options: CallOptions
  readonly watching: Watching
  /** Ends the run of the session. */
  readonly fail: (error: unknown) => void
}

/** What comes in place of a result. */
type Refusal = 'NoNode' | 'NoAuth'

export interface FollowerOptions {
  /** How many levels below the root are mirrored. */
  readonly depth: number
  readonly filter: ((path: string) => boolean) | undefined
}

export class Follower {
  readonly #zk: ZooKeeper
  readonly #copy: Copy
  readonly #options: FollowerOptions
  readonly #tree: WatchedTree
  readonly #epochs = new Epochs()
  /** What was reported, in the order in which it is read. */
  readonly #waiting = new Map<string, Job>()
  readonly #underWay = new Map<string, Job>()
  readonly #listings: Listing[] = []
  #comparison: Comparison | undefined
  /** undefined while there is no session in which the watches are set. */
  #reading: Reading | undefined
  #isPumpDue = false
  #hasOneShotWatches = false
  #latest = 0n
  #zxid = 0n
  #isAdvancing = false
  /** When it became stale, in ms since the epoch; undefined while it is not. */
  #staleSince: number | undefined
  /** Counts how often it was to become whole: only the last time counts. */
  #settling = 0
  /** Those that wait until the content is whole. */
  readonly #awaitingWhole = new Set<() => void>()
  /** Called when the content is whole, after it was not. */
  readonly #becameWhole: () => void
  readonly #closing = new AbortController()

  constructor(zk: ZooKeeper, copy: Copy, options: FollowerOptions, becameWhole: () => void) {
    this.#zk = zk
    this.#copy = copy
    this.#options = options
    this.#becameWhole = becameWhole
    this.#tree = { zk, root: copy.tree.root, isFlat: options.depth === 0 }
    this.#staleSince = zk.runtime.wallNow()
    copy.removed = (path) => this.#reading?.watching.forget(path)
  }

  /** Every change up to this transaction is in the copy. */
  get zxid(): bigint {
    return this.#zxid
  }

  get staleSince(): number | undefined {
    return this.#staleSince
  }

  /** Follows from session to session. Rejects when that can go on no longer. Resolves after `close`. */
  async follow(): Promise<void> {
    const { signal } = this.#closing
    for (let isFirst = true; ; isFirst = false) {
      const { session } = this.#zk
      try {
        await this.#followIn(session, isFirst)
      } catch (error) {
        if (signal.aborted) return
        const hasNextSession = KeeperError.is(error, 'SessionExpired') && this.#zk.session !== session
        if (!hasNextSession && error !== WATCH_REMOVED) throw error
      } finally {
        this.#stopReading()
      }
    }
  }

  /** Removes the watches. Reads that are under way are given up. */
  close(): void {
    this.#stale()
    this.#closing.abort()
  }

  /** Resolves when the content is whole, and has all that was reported until now. After the abort it never does. */
  recent(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        this.#awaitingWhole.delete(look)
        if (this.#staleSince === undefined) this.#epochs.barrier(resolve)
        else if (!signal.aborted) this.#awaitingWhole.add(look)
      }
      onAbort(signal, () => this.#awaitingWhole.delete(look))
      look()
    })
  }

  // --- sessions and connections -----------------------------------------------------------------------------------

  async #followIn(session: Session, isFirst: boolean): Promise<never> {
    const ending = new AbortController()
    const unlisten: (() => void)[] = []
    let fail!: (error: unknown) => void
    const broken = new Promise<never>((_, reject) => {
      fail = reject
      for (const signal of [session.signal, this.#closing.signal]) unlisten.push(onAbort(signal, reject))
    })
    try {
      const options = expecting({ session, signal: ending.signal, timeout: Infinity }, 'NoNode', 'NoAuth')
      await Promise.race([broken, this.#begin(options, fail, isFirst)])
      this.#watchConnection(session, options).catch(fail)
      return await broken
    } finally {
      for (const each of unlisten) each()
      ending.abort()
      this.#stale()
    }
  }

  async #begin(options: CallOptions, fail: (error: unknown) => void, isFirst: boolean): Promise<void> {
    // The servers of two sessions may be at different transactions, and the client asks only within one session for a server
    // that is not behind. A sync does not do: a leader that is behind answers it at once. A committed request does.
    if (!isFirst) await this.#commit(options)
    const watching = await this.#watch(options, fail)
    if (options.signal!.aborted) return watching.stop()
    this.#reading = { options, watching, fail }
    this.#compare()
  }

  async #commit(options: CallOptions): Promise<void> {
    const { zk, root } = this.#tree
    try {
      await retry(zk, () => zk.multi([op.check(root)], options), options.signal)
    } catch (error) {
      // A refusal is committed, too.
      if (wasAborted(error, options.signal) || !KeeperError.is(error, 'NoNode', 'NoAuth')) throw error
    }
  }

  async #watch(options: CallOptions, fail: (error: unknown) => void): Promise<Watching> {
    const listener: WatchListener = {
      changed: (path) => this.#report(path, Needs.data),
      childrenChanged: (path) => this.#report(path, Needs.list),
      seen: (zxid) => this.#seen(zxid),
      missed: () => this.#compare(),
      lost: (error) => {
        // A server before 3.6, in an ensemble of several releases, refuses to set the watch again.
        this.#hasOneShotWatches = KeeperError.is(error, 'Unimplemented')
        fail(this.#hasOneShotWatches ? WATCH_REMOVED : error)
      },
    }
    if (!this.#hasOneShotWatches) {
      try {
        return await retry(this.#zk, () => watchRecursively(this.#tree, options, listener), options.signal)
      } catch (error) {
        if (wasAborted(error, options.signal) || !KeeperError.is(error, 'Unimplemented')) throw error
        this.#hasOneShotWatches = true
      }
    }
    return new OneShotWatching(this.#tree.zk, options.session!, listener)
  }

  #stopReading(): void {
    this.#reading?.watching.stop()
    this.#reading = undefined
  }

  /** From one connection to the next: the copy is stale in between. */
  async #watchConnection(session: Session, options: CallOptions): Promise<void> {
    const { signal: ending } = options
    while (!ending!.aborted) {
      // On a new connection this comes behind the watches, which report what they have missed, and all that they report.
      await retry(this.#zk, () => this.#zk.exists(this.#tree.root, options), options.signal)
      const { connection } = session
      if (connection === undefined) continue
      // A server without a quorum is at an old transaction.
      if (!connection.readOnly) this.#settle()
      await either(connection.signal, ending!)
      this.#stale()
    }
  }

  #stale(): void {
    this.#settling++
    this.#staleSince ??= this.#zk.runtime.wallNow()
  }

  #settle(): void {
    const settling = ++this.#settling
    this.#epochs.barrier(() => {
      if (settling !== this.#settling) return
      this.#staleSince = undefined
      this.#becameWhole()
      for (const look of this.#awaitingWhole) look()
    })
  }

  // --- what was reported ------------------------------------------------------------------------------------------

  #report(path: string, needs: number): void {
    if (!this.#isInside(path)) return
    const { tree } = this.#copy
    if (this.#copy.hasPlaceFor(path)) return this.#enqueue(path, needs)
    // Its parent is not there, but may be read just now, too early to have it in its list. If the parent was not found yet
    // either, its list is read later.
    const parent = parentOf(path)
    if (this.#underWay.has(parent) && tree.find(parent) === undefined) this.#enqueue(parent, Needs.comparison)
  }

  #enqueue(path: string, needs: number): void {
    const job = this.#underWay.get(path)
    if (job !== undefined) {
      job.again |= needs
      job.againEpoch ??= this.#epochs.begin()
      return
    }
    const waiting = this.#waiting.get(path)
    if (waiting !== undefined) {
      waiting.needs |= needs
      return
    }
    const job_ = newJob(path, needs, this.#epochs.begin())
    this.#waiting.set(path, job_)
    // A comparison costs as many reads as there are nodes.
    if (this.#waiting.size > Math.max(LEAST_WAITING, this.#copy.tree.size)) this.#compare()
    this.#pumpSoon()
  }

  /** Whether a path below the root may be mirrored. What the filter says is asked when it is read. */
  #isInside(path: string): boolean {
    const { zk, root } = this.#tree
    if (path === root) return true
    let levels = 1
    for (let at = path.indexOf('/', root === '/' ? 1 : root.length + 1); at !== -1; at = path.indexOf('/', at + 1))
      levels++
    return levels <= this.#options.depth && (!isSystemNode(zk, path) || isSystemNode(zk, root))
  }

  /** All nodes are compared with those of the servers, and only what has changed is read. */
  #compare(): void {
    const { tree } = this.#copy
    // Those that wait are compared, too.
    let epoch = this.#comparison?.epoch ?? this.#epochs.begin()
    for (const job of this.#waiting.values()) {
      // A node that is not in the copy is found in the list of its parent.
      const parent = tree.find(job.path) === undefined ? tree.find(parentOf(job.path)) : undefined
      if (parent !== undefined) tree.setPzxid(parent, -1n)
      const first = older(epoch, job.epoch)
      this.#epochs.end(first === epoch ? job.epoch : epoch)
      epoch = first
    }
    this.#waiting.clear()
    for (const { path } of this.#underWay.values()) {
      if (tree.find(path) === undefined) this.#enqueue(path, Needs.comparison)
    }
    this.#comparison = { ids: tree.ids(), epoch, next: 0 }
    if (tree.size === 0 && !this.#underWay.has(tree.root)) this.#enqueue(tree.root, Needs.comparison)
    this.#pumpSoon()
  }

  #seen(zxid: bigint): void {
    if (zxid <= this.#latest) return
    this.#latest = zxid
    if (!this.#isAdvancing) this.#advance()
  }

  #advance(): void {
    this.#isAdvancing = true
    const upTo = this.#latest
    this.#epochs.barrier(() => {
      this.#zxid = upTo
      this.#isAdvancing = false
      if (this.#latest > upTo) this.#advance()
    })
  }

  // --- the window of reads ----------------------------------------------------------------------------------------

  /** Once in a turn: several events of a node are one read. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    void Promise.resolve().then(() => {
      this.#isPumpDue = false
      this.#pump()
    })
  }

  #pump(): void {
    const reading = this.#reading
    while (reading !== undefined && this.#underWay.size < WINDOW) {
      const job = this.#nextJob()
      if (job === undefined) return
      this.#underWay.set(job.path, job)
      this.#read(job, reading).then(
        () => this.#done(job),
        (error: unknown) => {
          this.#putBack(job)
          reading.fail(error)
        },
      )
    }
  }

  #nextJob(): Job | undefined {
    for (const [path, job] of this.#waiting) {
      this.#waiting.delete(path)
      return job
    }
    return this.#nextOfListings() ?? this.#nextOfComparison()
  }

  #nextOfListings(): Job | undefined {
    for (let listing = this.#listings.at(-1); listing !== undefined; listing = this.#listings.at(-1)) {
      const { path: parent, names, epoch } = listing
      while (listing.next < names.length) {
        const path = childPath(parent, names[listing.next++]!)
        const isKnown = this.#underWay.has(path) || this.#copy.tree.find(path) !== undefined
        if (!isKnown) return newJob(path, Needs.data, this.#epochs.begin(epoch))
      }
      this.#listings.pop()
      this.#epochs.end(epoch)
    }
    return undefined
  }

  #nextOfComparison(): Job | undefined {
    if (this.#comparison === undefined) return undefined
    const { tree } = this.#copy
    const { ids, epoch } = this.#comparison
    while (this.#comparison.next < ids.length) {
      const id = ids[this.#comparison.next++]!
      if (!tree.has(id)) continue
      const path = tree.path(id)
      if (!this.#underWay.has(path)) return newJob(path, Needs.comparison, this.#epochs.begin(epoch))
      this.#enqueue(path, Needs.comparison)
    }
    this.#comparison = undefined
    this.#epochs.end(epoch)
    return undefined
  }

  #done(job: Job): void {
    this.#underWay.delete(job.path)
    const { path, again, againEpoch } = job
    if (againEpoch !== undefined) this.#waiting.set(path, newJob(path, again, againEpoch))
    this.#epochs.end(job.epoch)
    this.#pump()
  }

  /** The session has ended: it is read again in the next one. */
  #putBack({ path, needs, epoch, again, againEpoch }: Job): void {
    this.#underWay.delete(path)
    this.#waiting.set(path, newJob(path, needs | again, epoch))
    if (againEpoch !== undefined) this.#epochs.end(againEpoch)
    this.#pumpSoon()
  }

  // --- the reads of a path ----------------------------------------------------------------------------------------

  async #read(job: Job, reading: Reading): Promise<void> {
    const { path, needs } = job
    const { tree } = this.#copy
    const id = tree.find(path)
    if (id === undefined && !this.#isWanted(path)) return
    const isDataNeeded = id === undefined || !tree.isReadable(id) || (needs & Needs.data) !== 0
    let next: Next = isDataNeeded ? 'data' : (needs & Needs.comparison) === 0 ? 'list' : 'stat'
    if (next === 'stat') next = await this.#readStat(path, reading)
    if (next === 'data') next = await this.#readData(job, reading)
    if (next === 'refused' || next === 'missing') await this.#readRefused(path, next === 'missing', reading)
    if (next === 'list') await this.#readList(job, reading)
  }

  #isWanted(path: string): boolean {
    const { filter } = this.#options
    if (!this.#copy.hasPlaceFor(path)) return false
    return path === this.#tree.root || filter === undefined || filter(path)
  }

  #readStat(path: string, reading: Reading): Promise<Next> {
    const { tree } = this.#copy
    const { watching } = reading
    return this.#ask<StatRead, Next>(
      reading,
      (options, handler) => watching.stat(path, options, handler),
      (read): Next => {
        const stat = typeof read === 'string' ? undefined : this.#kept(path, reading, read)
        if (stat === undefined) return this.#gone(path, watching)
        const id = tree.find(path)
        if (id === undefined || !tree.isAt(id, stat)) return 'data'
        return this.#mustList(path, stat, watching) ? 'list' : 'nothing'
      },
    )
  }

  #readData({ path, needs }: Job, reading: Reading): Promise<Next> {
    const { tree } = this.#copy
    const { watching } = reading
    return this.#ask<DataRead, Next>(
      reading,
      (options, handler) => watching.data(path, options, handler),
      (read): Next => {
        if (read === 'NoAuth') return 'refused'
        if (read === 'NoNode') return this.#gone(path, watching)
        const stat = this.#kept(path, reading, read)!
        const id = tree.find(path)
        const isKnown = id !== undefined && tree.czxid(id) === stat.czxid && tree.pzxid(id) >= 0n
        if (!this.#put(path, stat, read.data, watching)) return 'nothing'
        // Events show which children come and go, so the list of a node that is known is not read with its data.
        if (isKnown && (needs & ~Needs.data) === 0) return 'nothing'
        return this.#mustList(path, stat, watching) ? 'list' : 'nothing'
      },
    )
  }

  /** Everybody may ask whether a node exists. `isMissing`: it is asked in order to wait for the node. */
  #readRefused(path: string, isMissing: boolean, reading: Reading): Promise<void> {
    const { watching } = reading
    return this.#ask<StatRead, void>(
      reading,
      (options, handler) => watching.stat(path, options, handler),
      (read) => {
        const isThere = typeof read !== 'string' && read.stat !== undefined
        // What is still to be read is noted before the transaction is seen.
        if (isThere && isMissing) this.#enqueue(path, Needs.data)
        const stat = typeof read === 'string' ? undefined : this.#kept(path, reading, read)
        if (isMissing) return
        if (stat === undefined) this.#gone(path, watching)
        else this.#put(path, stat, undefined, watching)
      },
    )
  }

  async #readList(job: Job, reading: Reading): Promise<void> {
    const { path } = job
    const { tree } = this.#copy
    const { watching } = reading
    await this.#ask<ListRead, void>(
      reading,
      (options, handler) => watching.list(path, options, handler),
      (list) => {
        const id = tree.find(path)
        const isThere = typeof list !== 'string' && id !== undefined && list.stat.czxid === tree.czxid(id)
        // It was deleted, made again, or may not be read any more.
        if (!isThere) return this.#enqueue(path, Needs.data | Needs.comparison)
        watching.keep(path, 'list', list)
        const added = this.#listed(id, path, list.children, list.stat.pzxid)
        this.#seenIn(list.stat)
        if (this.#options.filter === undefined) this.#copy.check(added.length)
        if (added.length === 0) return
        this.#listings.push({ path, names: added, epoch: this.#epochs.begin(job.epoch), next: 0 })
      },
    )
  }

  /** Whether the list of the children must be read. Without children it is known. */
  #mustList(path: string, stat: Stat, watching: Watching): boolean {
    const { tree } = this.#copy
    const id = tree.find(path)
    if (id === undefined || !this.#isInside(childPath(path, 'x'))) return false
    // Containers and nodes with a TTL have a negative owner.
    if (!watching.isRecursive) return stat.ephemeralOwner <= 0n && !watching.watchesList(path)
    if (tree.pzxid(id) === stat.pzxid) return false
    if (stat.numChildren === 0) this.#listed(id, path, [], stat.pzxid)
    // One of the children may be that of the system.
    else if (tree.childCount(id) === 0 && this.#options.filter === undefined) this.#copy.check(stat.numChildren - 1)
    return stat.numChildren > 0
  }

  /** The names that are new. */
  #listed(id: number, path: string, children: readonly string[], pzxid: bigint): readonly string[] {
    const { tree } = this.#copy
    const names = new Set(children)
    for (const name of tree.childNames(id)) {
      const child = childPath(path, name)
      if (!names.has(name)) this.#copy.remove(child)
      // Servers may send no events of a node that may not be read: it may have been made again.
      else if (!tree.isReadable(tree.find(child)!)) this.#enqueue(child, Needs.data)
    }
    tree.setPzxid(id, pzxid)
    return children.filter((name) => {
      const child = childPath(path, name)
      return this.#isInside(child) && tree.find(child) === undefined
    })
  }

  #kept(path: string, { watching }: Reading, read: StatRead): Stat | undefined {
    watching.keep(path, 'data', read)
    if (read.stat !== undefined) this.#seenIn(read.stat)
    return read.stat
  }

  /** False if there is no place for it any more: then its parent is read again. */
  #put(path: string, stat: Stat, data: Uint8Array | undefined, watching: Watching): boolean {
    const hasPlace = this.#copy.hasPlaceFor(path)
    if (hasPlace) this.#copy.put(path, stat, data)
    else watching.forget(path)
    return hasPlace
  }

  /** A one-shot watch must wait for the root. Others are in the list of their parent when they come again. */
  #gone(path: string, watching: Watching): Next {
    this.#copy.remove(path)
    const isAwaited = path === this.#tree.root && !watching.isRecursive
    if (!isAwaited) watching.forget(path)
    return isAwaited ? 'missing' : 'nothing'
  }

  #seenIn({ czxid, mzxid, pzxid }: Stat): void {
    this.#seen(czxid)
    this.#seen(mzxid)
    this.#seen(pzxid)
  }

  /**
   * Reads, and handles the reply in the turn of the client's promise: so replies are handled in their order, which is that of
   * the server's states.
   */
  #ask<T, R>(
    { options }: Reading,
    call: (options: CallOptions, handler: Handler<T, R>) => Promise<R>,
    handle: (read: T | Refusal) => R,
  ): Promise<R> {
    const { signal } = options
    const refused = (error: unknown): R => {
      if (KeeperError.is(error, 'NoNode', 'NoAuth') && !wasAborted(error, signal)) return handle(error.code)
      throw error
    }
    return retry(this.#zk, () => call(options, { read: handle, refused }), signal)
  }
}

/** What is read next of a path. */
type Next = 'stat' | 'data' | 'refused' | 'missing' | 'list' | 'nothing'

function newJob(path: string, needs: number, epoch: Epoch): Job {
  return { path, needs, epoch, again: 0, againEpoch: undefined }
}

/** Resolves when one of the signals aborts. */
function either(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const unlisten: (() => void)[] = []
    const end = () => {
      for (const each of unlisten) each()
      resolve()
    }
    for (const signal of signals) unlisten.push(onAbort(signal, end))
  })
}
