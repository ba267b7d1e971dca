// Writes the changes of one `Counter`. All changes that wait are combined into one write. At most one write is under way.
import { type ACL, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { internalsOf, pause, throwIfAborted } from '@zk/client/internal'
import { inEachSession } from '../kernel/sessions.ts'
import { throwUnlessTransient } from '../kernel/retry.ts'
import type { Change, CounterState, UnconfirmedWrite } from './change.ts'
import { WriterNode } from './writer-node.ts'

/** How long the writer node stays after a write, in ms. Until then the next write needs no read before it. */
const LINGER = 1_000
/** The longest pause between two writes of a program, in ms. */
const LONGEST_PAUSE = 1_000

/** The changes of one write. */
interface Batch {
  readonly entries: readonly { readonly change: Change; readonly result: bigint }[]
  /** The value that it writes. */
  readonly value: bigint
}

/**
 * How a write ended: it was applied, another program was faster, or no server has executed it and it must be repeated. `state` is
 * the state after it; undefined if it is not known.
 */
interface Written {
  readonly end: 'applied' | 'outrun' | 'refused'
  readonly state: CounterState | undefined
}

export class CounterWriter {
  readonly #zk: ZooKeeper
  readonly #path: string
  readonly #acl: readonly ACL[] | undefined
  /** In the order of the calls. A change is removed when it settles, or when its caller gives up. */
  readonly #waiting = new Set<Change>()
  #isRunning = false
  #writes = 0
  /** The counter once existed. Until then each first write begins with its creation, which costs servers a transaction. */
  #hasFound = false
  /** Aborts when a change comes. */
  #wake = new AbortController()

  constructor(zk: ZooKeeper, path: string, acl: readonly ACL[] | undefined) {
    this.#zk = zk
    this.#path = path
    this.#acl = acl
  }

  add(change: Change): void {
    this.#waiting.add(change)
    this.#wake.abort()
    if (!this.#isRunning) void this.#run()
  }

  /** The caller no longer waits. If the change was sent, it may still happen. */
  drop(change: Change): void {
    this.#waiting.delete(change)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    try {
      while (this.#waiting.size > 0) await inEachSession(this.#zk, (session) => this.#writeIn(session))
    } catch (error) {
      for (const change of this.#waiting) this.#reject(change, error)
    } finally {
      this.#isRunning = false
    }
  }

  /** Writes with one writer node, until no change has come for a while. */
  async #writeIn(session: Session): Promise<void> {
    if (this.#waiting.size === 0) return
    throwIfAborted(session.detaching)
    const node = new WriterNode(this.#zk, this.#path, this.#acl)
    const writing = this.#writeWith(node)
    internalsOf(session).waitUntil(writing)
    await writing
  }

  async #writeWith(node: WriterNode): Promise<void> {
    const { runtime } = this.#zk
    const { session } = node
    try {
      let state: CounterState | undefined = await node.create(!this.#hasFound)
      this.#hasFound = true
      let conflicts = 0
      for (;;) {
        while (this.#waiting.size > 0) {
          throwIfAborted(session.detaching)
          state ??= await node.read()
          const batch = this.#batch(state)
          if (batch === undefined) continue
          const began = runtime.now()
          const written = await this.#write(node, state, batch)
          if (written.end === 'refused') {
            state = written.state
            continue
          }
          conflicts = written.end === 'applied' ? 0 : conflicts + 1
          const others = Math.max((written.state ?? state).writers, conflicts) - 1
          state = written.state
          if (others <= 0) continue
          // Another program writes, too. A writer that continues at once would always be ahead of writers that must read first.
          const longest = others * (runtime.now() - began) * 2 ** conflicts
          await this.#pause(session, runtime.random() * Math.min(longest, LONGEST_PAUSE))
          state = undefined
        }
        this.#wake = new AbortController()
        await this.#pause(session, LINGER, this.#wake.signal)
        if (this.#waiting.size === 0) return
      }
    } finally {
      // In the background: the next writer node has another name.
      const deleting = node.delete()
      internalsOf(session).waitUntil(deleting)
    }
  }

  #pause({ signal, detaching }: Session, delay: number, wake?: AbortSignal): Promise<void> {
    return pause(this.#zk.runtime, delay, signal, detaching, wake)
  }

  /** The changes that wait, up to a change that fails after others: it is tried again on their result. */
  #batch({ value, version, czxid }: CounterState): Batch | undefined {
    const entries: Batch['entries'][number][] = []
    for (const change of this.#waiting) {
      // What was written before the counter was deleted is gone with it.
      if (change.unconfirmed?.from.czxid !== czxid) change.unconfirmed = undefined
      if (change.unconfirmed !== undefined && change.unconfirmed.from.version !== version) {
        // Either this write has changed the counter, or another one. The node that would show which is gone.
        this.#reject(change, change.unconfirmed.cause)
        continue
      }
      try {
        value = change.apply(value)
        entries.push({ change, result: value })
      } catch (error) {
        if (entries.length > 0) break
        this.#reject(change, change.unconfirmed?.cause ?? error)
      }
    }
    return entries.length === 0 ? undefined : { entries, value }
  }

  /** Sends one write, and repeats it until it is known whether it has happened, or until no caller waits for it. */
  async #write(node: WriterNode, from: CounterState, { entries, value }: Batch): Promise<Written> {
    const id = String(++this.#writes)
    const certain = entries.map(({ change }) => change).filter(({ unconfirmed }) => unconfirmed === undefined)
    const markAll = (unconfirmed: UnconfirmedWrite | undefined) =>
      certain.forEach((change) => (change.unconfirmed = unconfirmed))
    let unanswered: KeeperError | undefined
    for (;;) {
      markAll({ from, cause: unanswered })
      try {
        const state = await node.write(from, value, id)
        return this.#applied(entries, state)
      } catch (error) {
        if (KeeperError.is(error) && error.outcomeUnknown) unanswered = error
        markAll(unanswered && { from, cause: unanswered })
        if (KeeperError.is(error, 'BadVersion')) {
          // The repeated write is refused if the first one has happened.
          if (unanswered !== undefined && (await node.shows(id))) return this.#applied(entries)
          markAll(undefined)
          return { end: 'outrun', state: undefined }
        }
        const isWaitedFor = ({ change }: Batch['entries'][number]) => this.#waiting.has(change)
        if (!entries.some(isWaitedFor)) return { end: 'refused', state: undefined }
        await throwUnlessTransient(this.#zk, error)
        // A call that was given up during the pause has rejected: its change has not happened. So it must not be sent again.
        if (unanswered === undefined && !entries.every(isWaitedFor)) return { end: 'refused', state: from }
      }
    }
  }

  #applied(entries: Batch['entries'], state?: CounterState): Written {
    for (const { change, result } of entries) {
      this.#waiting.delete(change)
      change.resolve(result)
    }
    return { end: 'applied', state }
  }

  #reject(change: Change, error: unknown): void {
    this.#waiting.delete(change)
    change.reject(error)
  }
}
