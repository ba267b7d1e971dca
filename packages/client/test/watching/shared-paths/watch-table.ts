// One of the two tables of watches of a server, for one connection (WatchManager).
import { type EventType, parentOf } from '@zk/wire'

export type Mode = 'standard' | 'persistent' | 'recursive'

/**
 * How many modes a server keeps for a path, a connection and a table: up to 3.8 `one`, the last one set
 * (WatcherModeManager), from 3.9 on `several` (WatchStats, ZOOKEEPER-4466).
 */
export type Kind = 'one' | 'several'

export class WatchTable {
  readonly #kind: Kind
  readonly #modes = new Map<string, Set<Mode>>()

  constructor(kind: Kind) {
    this.#kind = kind
  }

  /** What is watched, and how. */
  get entries(): string[] {
    return [...this.#modes].map(([path, modes]) => `${path} ${[...modes].join('+')}`)
  }

  add(path: string, mode: Mode): void {
    const modes = this.#modes.get(path)
    if (modes === undefined || this.#kind === 'one') this.#modes.set(path, new Set([mode]))
    else modes.add(mode)
  }

  /** Removes one mode, where the server tells them apart, or else all; false when there was none. */
  remove(path: string, mode?: Mode): boolean {
    if (mode === undefined || this.#kind === 'one') return this.#modes.delete(path)
    return this.#drop(path, mode)
  }

  /** Whether the connection is to be notified; one-shot watches go (WatchManager.triggerWatch). */
  trigger(type: EventType, path: string): boolean {
    const own = this.#modes.get(path)
    const isWatched = own?.has('standard') === true || own?.has('persistent') === true
    // A recursive watch is notified of the child alone, where children change.
    const isBelow = type !== 'NodeChildrenChanged' && upFrom(path).some((at) => this.#modes.get(at)?.has('recursive'))
    this.#drop(path, 'standard')
    return isWatched || isBelow
  }

  #drop(path: string, mode: Mode): boolean {
    const modes = this.#modes.get(path)
    const wasThere = modes?.delete(mode) === true
    if (modes?.size === 0) this.#modes.delete(path)
    return wasThere
  }
}

/** `/a/b`, `/a`, `/` (PathParentIterator). */
function upFrom(path: string): string[] {
  return path === '/' ? [path] : [path, ...upFrom(parentOf(path))]
}
