// The one-shot watches at one server (server/watch/WatchManager.java). A watcher is a connection: however often it asks
// for a watch, it is told once.
import type { EventType } from '@zk/wire'
import { type Change, parentOf } from './tree.ts'

/** The data table holds exist watches too. */
export type WatchTable = 'data' | 'child'

export interface Firing<Watcher> {
  readonly watcher: Watcher
  readonly type: EventType
  readonly path: string
}

export class Watches<Watcher> {
  readonly #tables: Record<WatchTable, Map<string, Set<Watcher>>> = { data: new Map(), child: new Map() }

  add(table: WatchTable, path: string, watcher: Watcher): void {
    const watchers = this.#tables[table].get(path)
    if (watchers === undefined) this.#tables[table].set(path, new Set([watcher]))
    else watchers.add(watcher)
  }

  /** False when there was none. */
  remove(table: WatchTable, path: string, watcher: Watcher): boolean {
    const watchers = this.#tables[table].get(path)
    const removed = watchers?.delete(watcher) ?? false
    if (watchers?.size === 0) this.#tables[table].delete(path)
    return removed
  }

  /** The watcher is gone, and with it all its watches. */
  forget(watcher: Watcher): void {
    for (const { table, path } of this.all().filter((each) => each.watcher === watcher)) {
      this.remove(table, path, watcher)
    }
  }

  all(): { table: WatchTable; path: string; watcher: Watcher }[] {
    return (['data', 'child'] as const).flatMap((table) =>
      [...this.#tables[table]].flatMap(([path, watchers]) =>
        [...watchers].map((watcher) => ({ table, path, watcher })),
      ),
    )
  }

  /** Takes out the watches that a change fires, in ZooKeeper's order. */
  fire({ type, path }: Change): Firing<Watcher>[] {
    switch (type) {
      case 'created':
        return [
          ...this.#take('data', path, 'NodeCreated'),
          ...this.#take('child', parentOf(path), 'NodeChildrenChanged'),
        ]
      case 'dataChanged':
        return this.#take('data', path, 'NodeDataChanged')
      case 'deleted': {
        const told = this.#take('data', path, 'NodeDeleted')
        const others = this.#take('child', path, 'NodeDeleted')
        return [
          ...told,
          ...others.filter(({ watcher }) => !told.some((each) => each.watcher === watcher)),
          ...this.#take('child', parentOf(path), 'NodeChildrenChanged'),
        ]
      }
    }
  }

  #take(table: WatchTable, path: string, type: EventType): Firing<Watcher>[] {
    const watchers = [...(this.#tables[table].get(path) ?? [])]
    this.#tables[table].delete(path)
    return watchers.map((watcher) => ({ watcher, type, path }))
  }
}
