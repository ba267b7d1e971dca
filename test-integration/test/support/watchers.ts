// Watchers of a few nodes, of every kind, several of them in one client; they come and go.
import { KeeperError, type Stat, type Watched, type ZooKeeper } from '@zk/client'
import type { Random } from '../../src/random.ts'
import { StreamLog } from './stream-log.ts'

const kinds = ['data', 'exist', 'children'] as const
const types = ['Data', 'Children', 'Persistent', 'PersistentRecursive', 'Any'] as const

interface Waiting {
  readonly path: string
  readonly kind: (typeof kinds)[number]
  /** The last transaction that its read saw on the node; undefined if there was no node. */
  readonly known: bigint | undefined
  readonly watched: Watched
}

interface Following {
  readonly path: string
  readonly log: StreamLog
  readonly leave: () => Promise<unknown>
}

/** The watchers of one client on few paths. */
export class Watchers {
  /** One-shot watches that are set. */
  readonly waiting = new Set<Waiting>()
  /** How many of them received an event. */
  notified = 0
  /** Persistent ones. */
  readonly following = new Set<Following>()
  readonly #zk: ZooKeeper
  readonly #paths: readonly string[]
  readonly #random: Random
  #calls: Promise<unknown>[] = []

  constructor(zk: ZooKeeper, paths: readonly string[], random: Random) {
    this.#zk = zk
    this.#paths = paths
    this.#random = random
  }

  /** Some of them come or go, in one turn. */
  turn(): void {
    const random = this.#random
    for (let count = 1 + random.below(3); count > 0; count--) {
      const call = this.#call(random.weighted({ wait: 50, follow: 20, unwatch: 10, leave: 20, remove: 5 }))
      this.#calls.push(call.catch(onlyExpected))
    }
  }

  /** Waits until all calls have settled. */
  async settled(): Promise<void> {
    const calls = this.#calls
    this.#calls = []
    await Promise.all(calls)
  }

  /** Watchers that still wait although the current state shows that their event has happened. */
  async missed(now: ZooKeeper): Promise<string[]> {
    const stats = new Map<string, Stat | undefined>()
    for (const path of this.#paths) stats.set(path, await now.exists(path))
    return [...this.waiting]
      .filter(({ path, kind, known }) => known !== latest(kind, stats.get(path)))
      .map(({ path, kind, known }) => `${kind} ${path}, known as of ${known}, waits`)
  }

  /** Ends all watchers. */
  async leave(): Promise<void> {
    await Promise.all([...this.waiting].map(({ watched }) => watched.unwatch()))
    await Promise.all([...this.following].map((each) => each.leave()))
  }

  async #call(what: 'wait' | 'follow' | 'unwatch' | 'leave' | 'remove'): Promise<void> {
    const random = this.#random
    const path = random.pick(this.#paths)
    switch (what) {
      case 'wait':
        return await this.#wait(path, random.pick(kinds), this.#signal())
      case 'follow':
        return await this.#follow(path, random.percent(50), this.#signal())
      case 'unwatch':
        return await [...this.waiting].at(random.below(this.waiting.size + 1) - 1)?.watched.unwatch()
      case 'leave':
        return void (await [...this.following].at(random.below(this.following.size + 1) - 1)?.leave())
      case 'remove':
        return await this.#zk.removeWatches(path, random.pick(types))
    }
  }

  async #wait(path: string, kind: Waiting['kind'], signal: AbortSignal): Promise<void> {
    const zk = this.#zk
    const read = { data: 'getDataAndWatch', exist: 'existsAndWatch', children: 'getChildrenAndWatch' } as const
    const watched = await zk[read[kind]](path, { signal })
    const waiting = { path, kind, known: latest(kind, watched.stat), watched }
    this.waiting.add(waiting)
    void watched.changed.then(({ type }) => {
      this.waiting.delete(waiting)
      if (type.startsWith('Node')) this.notified++
    })
  }

  async #follow(path: string, recursive: boolean, signal: AbortSignal): Promise<void> {
    const events = await this.#zk.watch(path, { recursive, signal })
    const following: Following = { path, log: new StreamLog(events), leave: () => events.return() }
    this.following.add(following)
    void following.log.ended.then(() => this.following.delete(following))
  }

  /** Some calls are aborted, before or after they are sent. */
  #signal(): AbortSignal {
    const abort = new AbortController()
    const when = this.#random.weighted({ never: 80, atOnce: 10, soon: 10 })
    if (when === 'atOnce') queueMicrotask(() => abort.abort(GIVEN_UP))
    if (when === 'soon') setImmediate(() => abort.abort(GIVEN_UP))
    return abort.signal
  }
}

const GIVEN_UP = new Error('given up')

/** The last transaction that triggers a watch of this kind. */
function latest(kind: Waiting['kind'], stat: Stat | undefined): bigint | undefined {
  return kind === 'children' ? stat?.pzxid : stat?.mzxid
}

function onlyExpected(error: unknown): void {
  if (error !== GIVEN_UP && !KeeperError.is(error, 'NoNode', 'NoWatcher')) throw error
}
