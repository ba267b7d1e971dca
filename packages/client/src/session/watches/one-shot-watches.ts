// One-shot watches. A watcher is registered when its read is called, counts from the reply that says it is set, and is
// told once: the event, its removal, or the end of the session.
import type { EventType } from '@zk/wire'

export type WatchKind = 'data' | 'exist' | 'child'
/** The server keeps two tables; its data table holds exist watches too. */
export type WatchTable = 'data' | 'child'

export function tableOf(kind: WatchKind): WatchTable {
  return kind === 'child' ? 'child' : 'data'
}

export interface Watcher {
  /** The server's path. */
  readonly path: string
  /** What the reply made of it: `exist` becomes `data` when the node is there. */
  kind: WatchKind
  /** `sent` with its read, on this connection. */
  phase: 'asked' | 'sent' | 'set' | 'gone'
  /** The server has a watch for it already, from one that is gone. */
  inherits?: boolean
  /** Whether it asked the server for a watch; where a persistent one tells the same it does not. */
  isArmed?: boolean
  /** Tells the caller; at most once. */
  notify(event: WatcherOutcome): void
}

export type FiredType = Exclude<EventType, 'None' | 'PersistentWatchRemoved'>
export type WatcherOutcome = { readonly type: FiredType; readonly zxid?: bigint } | { readonly type: 'SessionEnded' }

/** The watches that a node event takes with it (ZKWatchManager.materialize). */
const firedBy: Record<FiredType, readonly WatchKind[]> = {
  NodeCreated: ['data', 'exist'],
  NodeDataChanged: ['data', 'exist'],
  NodeDeleted: ['data', 'exist', 'child'],
  NodeChildrenChanged: ['child'],
  DataWatchRemoved: ['data', 'exist'],
  ChildWatchRemoved: ['child'],
}

/** The list of setWatches that names a watch of this kind. */
const listOf = { data: 'dataWatches', exist: 'existWatches', child: 'childWatches' } as const

export class OneShotWatches {
  readonly #byPath = new Map<string, Set<Watcher>>()

  add(watcher: Watcher): void {
    const watchers = this.#byPath.get(watcher.path)
    if (watchers === undefined) this.#byPath.set(watcher.path, new Set([watcher]))
    else watchers.add(watcher)
  }

  remove(watcher: Watcher): void {
    watcher.phase = 'gone'
    const watchers = this.#byPath.get(watcher.path)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#byPath.delete(watcher.path)
  }

  /** Takes out the set watchers that an event of this type on this path concerns. */
  fired(type: FiredType, path: string): Watcher[] {
    const concerned = [...(this.#byPath.get(path) ?? [])].filter(
      ({ phase, kind }) => phase === 'set' && firedBy[type].includes(kind),
    )
    for (const watcher of concerned) this.remove(watcher)
    return concerned
  }

  /** All watchers of a path in one of the server's tables, those only asked for included. */
  at(path: string, table: WatchTable): Watcher[] {
    return [...(this.#byPath.get(path) ?? [])].filter(({ kind }) => tableOf(kind) === table)
  }

  /** All watchers of a path, those only asked for included. */
  on(path: string): Watcher[] {
    return [...(this.#byPath.get(path) ?? [])]
  }

  /** Whether a read of this path is on its way. */
  awaits(path: string): boolean {
    return this.on(path).some(({ phase }) => phase === 'sent')
  }

  /** The connection is gone: what was on its way is asked again. */
  interrupted(): void {
    for (const watchers of this.#byPath.values()) {
      for (const watcher of watchers) if (watcher.phase === 'sent') watcher.phase = 'asked'
    }
  }

  /** Takes out all. */
  clear(): Watcher[] {
    const all = [...this.#byPath.values()].flatMap((watchers) => [...watchers])
    for (const watcher of all) this.remove(watcher)
    return all
  }

  /** What a new connection must be told: one-shots that are set. Those still asked for are asked again. */
  standing(): Record<(typeof listOf)[WatchKind], string[]> {
    const all = [...this.#byPath.values()].flatMap((watchers) => [...watchers])
    return OneShotWatches.lists(all.filter(({ phase }) => phase === 'set'))
  }

  /** The lists of setWatches that name these watchers' watches. */
  static lists(watchers: readonly Watcher[]): Record<(typeof listOf)[WatchKind], string[]> {
    const lists = {
      dataWatches: new Set<string>(),
      existWatches: new Set<string>(),
      childWatches: new Set<string>(),
    }
    for (const { kind, path } of watchers) lists[listOf[kind]].add(path)
    const { dataWatches, existWatches, childWatches } = lists
    return { dataWatches: [...dataWatches], existWatches: [...existWatches], childWatches: [...childWatches] }
  }
}
