// What a server watches on behalf of one connection, and what it tells (DataTree).
import { type EventType, parentOf, type SetWatches2, type TypeOf, WatcherType } from '@zk/wire'
import type { Change, Nodes } from './nodes.ts'
import { type Kind, type Mode, WatchTable } from './watch-table.ts'

export type Lists = TypeOf<typeof SetWatches2>

/** Without a zxid it is about the past. */
export type Tell = (type: EventType, path: string, zxid?: bigint) => void

export class Watches {
  readonly #nodes: Nodes
  readonly #kind: Kind
  readonly #tell: Tell
  readonly #data: WatchTable
  readonly #child: WatchTable

  constructor(nodes: Nodes, kind: Kind, tell: Tell) {
    this.#nodes = nodes
    this.#kind = kind
    this.#tell = tell
    this.#data = new WatchTable(kind)
    this.#child = new WatchTable(kind)
  }

  get entries(): string[] {
    return [
      ...this.#data.entries.map((entry) => `data ${entry}`),
      ...this.#child.entries.map((entry) => `child ${entry}`),
    ]
  }

  /** In the order of createNode, setData and deleteNode. */
  happened({ type, path, zxid }: Change): void {
    const isNotified = this.#data.trigger(type, path)
    // For a deletion a connection is notified once.
    const isNotifiedByChild = type === 'NodeDeleted' && this.#child.trigger(type, path)
    if (isNotified || isNotifiedByChild) this.#tell(type, path, zxid)
    if (type === 'NodeDataChanged') return
    const parent = parentOf(path)
    if (this.#child.trigger('NodeChildrenChanged', parent)) this.#tell('NodeChildrenChanged', parent, zxid)
  }

  addOnce(table: 'data' | 'child', path: string): void {
    if (table === 'data') this.#data.add(path, 'standard')
    else this.#child.add(path, 'standard')
  }

  /** addWatch: from 3.9 on a recursive watch is in the data table alone. */
  addForGood(path: string, mode: Mode): void {
    this.#data.add(path, mode)
    if (mode === 'persistent' || this.#kind === 'one') this.#child.add(path, mode)
  }

  /** removeWatches: says whether one was there; undefined for a type that the server does not know. */
  remove(path: string, type: number): boolean | undefined {
    const [data, child] = [this.#data, this.#child]
    switch (type) {
      case WatcherType.Children:
        return child.remove(path, 'standard')
      case WatcherType.Data:
        return data.remove(path, 'standard')
      case WatcherType.Any:
        return [child.remove(path), data.remove(path)].includes(true)
    }
    // WatcherType.fromInt knows the others from 3.9 on.
    if (this.#kind === 'one') return undefined
    if (type === WatcherType.PersistentRecursive) return data.remove(path, 'recursive')
    return [child.remove(path, 'persistent'), data.remove(path, 'persistent')].includes(true)
  }

  /** setWatches: tells what was missed, and watches where nothing was. */
  setAgain(lists: Lists): void {
    const { relativeZxid, dataWatches, existWatches, childWatches } = lists
    for (const path of pathsOf(dataWatches)) {
      const node = this.#nodes.get(path)
      if (node === undefined) this.#tell('NodeDeleted', path)
      else if (node.mzxid > relativeZxid) this.#tell('NodeDataChanged', path)
      else this.#data.add(path, 'standard')
    }
    for (const path of pathsOf(existWatches)) {
      if (this.#nodes.get(path) === undefined) this.#data.add(path, 'standard')
      else this.#tell('NodeCreated', path)
    }
    for (const path of pathsOf(childWatches)) {
      const node = this.#nodes.get(path)
      if (node === undefined) this.#tell('NodeDeleted', path)
      else if (node.pzxid > relativeZxid) this.#tell('NodeChildrenChanged', path)
      else this.#child.add(path, 'standard')
    }
    for (const path of pathsOf(lists.persistentWatches)) this.addForGood(path, 'persistent')
    for (const path of pathsOf(lists.persistentRecursiveWatches)) this.addForGood(path, 'recursive')
  }
}

/** setWatches has no lists of persistent watches. */
function pathsOf(list: Lists['dataWatches'] | undefined): string[] {
  return (list ?? []).map((path) => path!)
}
