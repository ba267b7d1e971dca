// Keeps the copy of a tree up to date, from session to session and from connection to connection. What may have changed is read
// again (`ReadQueue`, `NodeReader`). The copy shows what was read, never what an event says: so events may come late, twice or not
// at all.
//
// Two facts make the copy right. Replies come in the order in which the server has executed the reads, and are handled in that
// order: so each one is newer than all that the copy shows, and a list without a name proves that the node is gone. And an event
// is handled before a reply that shows its change: so once everything that was reported has been read, the copy has every change
// that is older than the newest one seen.
import { type CallOptions, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { expecting, onAbort, throwIfAborted, wasAborted } from '@zk/client/internal'
import { afterCommit } from '../kernel/committed.ts'
import { retry, throwUnlessTransient } from '../kernel/retry.ts'
import { undefinedIfAborted } from '../kernel/limit.ts'
import { BeginAnew, inEachSession } from '../kernel/sessions.ts'
import { isUnreadable } from '../kernel/unreadable.ts'
import type { Copy } from './copy.ts'
import { Epochs } from './epochs.ts'
import { MirroredPaths, type PathOptions } from './mirrored-paths.ts'
import { NodeReader } from './node-reader.ts'
import { Pace } from './pace.ts'
import { Needs, ReadQueue } from './read-queue.ts'
import { OneShotWatching, type WatchedTree, type Watching, type WatchListener, watchRecursively } from './watching.ts'

/** What servers without recursive watches answer: those before 3.6, and those with WatchManagerOptimized. */
const lacking = ['Unimplemented', 'MarshallingError'] as const

export class Follower {
  readonly #zk: ZooKeeper
  readonly #copy: Copy
  readonly #paths: MirroredPaths
  readonly #tree: WatchedTree
  readonly #epochs = new Epochs()
  readonly #queue: ReadQueue
  /** The session of the last reads. */
  #session: Session | undefined
  /** undefined while there is no session in which the watches are set. */
  #watching: Watching | undefined
  #hasOneShotWatches = false
  #latest = 0n
  #zxid = 0n
  #isAdvancing = false
  /** When it became stale, in ms since the epoch; undefined while it is not. */
  #staleSince: number | undefined
  /** Numbers the attempts to make the content whole: only the latest counts. */
  #settleAttempt = 0
  /** The calls that wait until the content is whole. */
  readonly #awaitingWhole = new Set<() => void>()
  /** Called whenever the content becomes whole. */
  readonly #becameWhole: () => void
  readonly #closing = new AbortController()

  constructor(zk: ZooKeeper, copy: Copy, options: PathOptions, becameWhole: () => void) {
    this.#zk = zk
    this.#copy = copy
    this.#becameWhole = becameWhole
    const { root } = copy.tree
    this.#paths = new MirroredPaths(zk, root, options)
    this.#tree = { zk, root, isFlat: this.#paths.isFlat }
    this.#queue = new ReadQueue(copy, this.#paths, this.#epochs)
    this.#staleSince = zk.runtime.wallNow()
    copy.removed = (path) => this.#watching?.forget(path)
  }

  /** Every change up to this transaction is in the copy. */
  get zxid(): bigint {
    return this.#zxid
  }

  get staleSince(): number | undefined {
    return this.#staleSince
  }

  /** Follows from session to session. Rejects if it cannot continue. Resolves after `close`. */
  async follow(): Promise<void> {
    const { signal } = this.#closing
    const followIn = async (session: Session) => {
      throwIfAborted(signal)
      try {
        await this.#followIn(session)
      } catch (error) {
        if (wasAborted(error, signal)) throw error
        await throwUnlessTransient(this.#zk, error, undefined, signal)
        throw new BeginAnew()
      }
    }
    await inEachSession(this.#zk, followIn).catch(undefinedIfAborted(signal))
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
        if (signal.aborted) return
        if (this.#staleSince !== undefined) return void this.#awaitingWhole.add(look)
        // The last read that the barrier waits for may be one of the next connection, before the comparison there has ended.
        this.#epochs.barrier(() => (this.#staleSince === undefined ? resolve() : look()))
      }
      onAbort(signal, () => this.#awaitingWhole.delete(look))
      look()
    })
  }

  // --- sessions and connections -----------------------------------------------------------------------------------

  async #followIn(session: Session): Promise<never> {
    const ending = new AbortController()
    const unlisten: (() => void)[] = []
    let fail!: (error: unknown) => void
    const broken = new Promise<never>((_, reject) => {
      // At once: no later reply makes the content whole.
      fail = (error) => {
        reject(error)
        ending.abort()
      }
      for (const signal of [session.signal, this.#closing.signal]) unlisten.push(onAbort(signal, reject))
    })
    try {
      const options = expecting({ session, signal: ending.signal, timeout: Infinity }, 'NoNode', 'NoAuth')
      await Promise.race([broken, this.#begin(session, options, fail)])
      this.#watchConnection(session, options).catch(fail)
      return await broken
    } finally {
      for (const each of unlisten) each()
      ending.abort()
      // Before any pause: reads that are given up at once would be repeated at once, and never let the process do anything else.
      this.#stopReading()
      this.#stale()
    }
  }

  /** Asks for the watch, and for the first nodes in the same segment. */
  async #begin(session: Session, options: CallOptions, fail: (error: unknown) => void): Promise<void> {
    // The servers of two sessions may be at different transactions, and only within one session does the client ask for a server
    // that does not lag.
    if (this.#session !== undefined && this.#session !== session) await afterCommit(this.#zk, this.#tree.root, options)
    if (options.signal!.aborted) return
    this.#session = session
    const watching = (this.#watching = this.#watch(options, fail))
    const seen = (zxid: bigint) => this.#seen(zxid)
    const of = { zk: this.#zk, copy: this.#copy, paths: this.#paths, queue: this.#queue }
    const reader = new NodeReader({ ...of, seen, options, watching })
    const now = () => this.#zk.runtime.now()
    this.#queue.start({ reader, fail, pace: Pace.of(session), now })
  }

  #watch(options: CallOptions, fail: (error: unknown) => void): Watching {
    const listener: WatchListener = {
      changed: (path) => this.#queue.report(path, Needs.data),
      childrenChanged: (path) => this.#queue.report(path, Needs.list),
      seen: (zxid) => this.#seen(zxid),
      missed: () => this.#queue.compareAll(),
      lost: (error) => {
        // In an ensemble of several releases or settings, the server of a later connection may be the first without such watches.
        this.#hasOneShotWatches = KeeperError.is(error, ...lacking)
        fail(this.#hasOneShotWatches ? new BeginAnew() : error)
      },
    }
    return this.#hasOneShotWatches
      ? new OneShotWatching(this.#zk, options.session!, listener)
      : watchRecursively(this.#tree, options, listener)
  }

  #stopReading(): void {
    this.#queue.stop()
    this.#watching?.stop()
    this.#watching = undefined
  }

  /** Watches one connection after another: the copy is stale in between. */
  async #watchConnection(session: Session, options: CallOptions): Promise<void> {
    const { signal: ending } = options
    while (!ending!.aborted) {
      // On a new connection this is answered after the watches have been set, and after everything they report as missed.
      await retry(this.#zk, () => this.#zk.exists(this.#tree.root, options), options.signal).catch((error: unknown) => {
        // A refusal is an answer, too.
        if (!isUnreadable(error, options)) throw error
      })
      if (ending!.aborted) return
      const { connection } = session
      if (connection === undefined) continue
      // A server without a quorum is at an old transaction.
      if (!connection.readOnly) this.#settle()
      await either(connection.signal, ending!)
      this.#stale()
    }
  }

  #stale(): void {
    this.#settleAttempt++
    this.#staleSince ??= this.#zk.runtime.wallNow()
  }

  #settle(): void {
    const attempt = ++this.#settleAttempt
    this.#epochs.barrier(() => {
      if (attempt !== this.#settleAttempt) return
      this.#staleSince = undefined
      this.#becameWhole()
      for (const look of this.#awaitingWhole) look()
    })
  }

  // --- the transactions that the copy has -------------------------------------------------------------------------

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
