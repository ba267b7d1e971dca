// What one task of a session holds and waits for, with `detectDeadlocks`. When it waits and holds something, its nodes say so, and
// it looks for a cycle.
//
// In a cycle each task has written for what it waits. The one that wrote last looks behind its own write, so it sees what all
// others have written, and the lists with all their nodes. It is the one that rejects; all others ignore what was written after
// them. What it finds it looks for again, behind a sync. Each part of the cycle, one node that waits for another one, is there
// once and never comes back. So what two reads show was there all the time between them, and the whole cycle was there at once.
import { KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import { memoized } from '../memoized.ts'
import { type DeadlockStep, WouldDeadlockError } from '../errors.ts'
import type { Detection } from '../hold-options.ts'
import { type OwnNodes, parentOf } from '../queue/own-node.ts'
import { pinnedTo, retry } from '../calls/retry.ts'
import { absolute, markOf, marksBeside, relative, withMarks } from './marks.ts'
import { Search } from './search.ts'

/** A node that says for what its task waits. */
interface Saying {
  readonly zk: ZooKeeper
  readonly path: string
  readonly label: string
  /** The marks with which it was made. */
  readonly beside: readonly string[]
}

/** A contender that waits. */
export interface TaskWait {
  readonly zk: ZooKeeper
  readonly path: string
  readonly nodes: OwnNodes
  readonly label: string
  /** Watches its nodes: others find it in a cycle by them. May be called again. */
  readonly watchOwn: () => void
  /** It stands in a cycle, or this cannot be found out. */
  readonly failed: (error: unknown) => void
}

const ofSessions = new WeakMap<Session, WeakMap<object, Task>>()

export class Task {
  readonly #session: Session
  /** By the paths of their nodes in the ensemble. */
  readonly #held = new Map<string, Saying>()
  readonly #waits = new Set<TaskWait>()
  /** Whether holds or waits came since the last look. */
  #isNew = false
  #isLooking = false

  static of(session: Session, { task }: Detection): Task {
    const tasks = memoized(ofSessions, session, () => new WeakMap<object, Task>())
    return memoized(tasks, task, () => new Task(session))
  }

  private constructor(session: Session) {
    this.#session = session
  }

  holds(zk: ZooKeeper, nodes: OwnNodes, label: string): void {
    for (const each of sayingsOf(zk, nodes, label)) this.#held.set(absolute(zk, each.path), each)
    this.#changed()
  }

  lost(zk: ZooKeeper, paths: readonly string[]): void {
    for (const path of paths) this.#held.delete(absolute(zk, path))
  }

  begins(wait: TaskWait): void {
    this.#waits.add(wait)
    this.#changed()
  }

  ended(wait: TaskWait): void {
    this.#waits.delete(wait)
  }

  #changed(): void {
    this.#isNew = true
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    try {
      while (this.#isNew) {
        this.#isNew = false
        const written = await this.#write()
        if (written !== undefined) await this.#breakCycle(written)
      }
    } catch (error) {
      // The waits of a session that is over end by themselves.
      if (!this.#session.signal.aborted) for (const { failed } of this.#waits) failed(error)
    } finally {
      this.#isLooking = false
    }
  }

  /** All nodes that stay until the task has what it waits for. */
  get #sayings(): ReadonlyMap<string, Saying> {
    const all = new Map(this.#held)
    for (const { zk, nodes, label } of this.#waits) {
      if (nodes.length === 1) continue
      for (const each of sayingsOf(zk, nodes, label)) all.set(absolute(zk, each.path), each)
    }
    return all
  }

  /**
   * Writes for what the task waits, into all of its nodes in one transaction. Returns its zxid; undefined if it waits for nothing
   * or has no node. Several nodes of one contender alone were made with all that they say.
   */
  async #write(): Promise<bigint | undefined> {
    for (;;) {
      const sayings = [...this.#sayings.values()]
      const [wait, other] = this.#waits
      if (wait === undefined || sayings.length === 0) return undefined
      for (const each of this.#waits) each.watchOwn()
      if (other === undefined && this.#held.size === 0) return wait.nodes[0].czxid
      const marks = [...this.#waits].map(({ zk, nodes: [{ path, name }] }) => markOf(zk, parentOf(path), name))
      // The nodes may be of several views of one client. A transaction has the paths of one. Nodes outside of it say nothing.
      const view = wait.zk
      const writes = sayings.flatMap(({ zk, path, label, beside }) => {
        const own = absolute(zk, path)
        const others = marks.filter((mark) => !own.startsWith(mark) && !beside.includes(mark))
        const readable = relative(view, own)
        return readable === undefined ? [] : [op.setData(readable, withMarks(label, [...beside, ...others]))]
      })
      if (writes.length === 0) return undefined
      try {
        const [stat] = await retry(view, () => view.multi(writes, pinnedTo(this.#session)))
        return stat!.mzxid
      } catch (error) {
        // Its nodes and labels do not fit into one request. Then it is in no cycle that is found.
        if (error instanceof RangeError || KeeperError.is(error, 'RequestTooLarge')) return undefined
        // It is lost, and its hold will learn it.
        if (!KeeperError.is(error, 'NoNode') || error.index === undefined) throw error
        const gone = absolute(view, writes[error.index]!.path)
        this.#held.delete(gone)
        for (const each of this.#waits) {
          if (each.nodes.some(({ path }) => absolute(each.zk, path) === gone)) this.#waits.delete(each)
        }
      }
    }
  }

  async #breakCycle(written: bigint): Promise<void> {
    const own = new Set(this.#sayings.keys())
    for (const wait of this.#waits) {
      const { zk, nodes } = wait
      let first: readonly DeadlockStep[] | undefined
      const search = async () => {
        const searching = new Search(zk, this.#session, written)
        for (const { path } of nodes) {
          const cycle = await searching.cycle(absolute(zk, path), own)
          if (cycle !== undefined) return cycle
        }
        return undefined
      }
      for (let found = await search(); found !== undefined; found = await search()) {
        if (!this.#waits.has(wait) || !own.has(found.at(-1)!.path)) break
        if (first !== undefined && areSame(first, found)) {
          wait.failed(new WouldDeadlockError(wait.path, found))
          break
        }
        first = found
        await retry(zk, () => zk.sync('/', pinnedTo(this.#session)))
      }
    }
  }
}

function areSame(one: readonly DeadlockStep[], other: readonly DeadlockStep[]): boolean {
  return one.length === other.length && one.every(({ path }, index) => path === other[index]!.path)
}

function sayingsOf(zk: ZooKeeper, nodes: OwnNodes, label: string): Saying[] {
  const marks = nodes.map(({ path, name }) => markOf(zk, parentOf(path), name))
  return nodes.map(({ path }, index) => ({ zk, path, label, beside: marksBeside(marks, index) }))
}
