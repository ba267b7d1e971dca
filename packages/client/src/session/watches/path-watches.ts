// The watches of one path: the wanted ones, the requested ones, and the confirmed ones; and what to send so that the server
// has the wanted ones.
//
// Up to 3.8 a server keeps one watch for a path, a table and a connection: the last one that was set. From 3.9 on it keeps
// all, and a client cannot know which server it has. So:
//
// - A read sets a one-shot watch only where no persistent one already has the same events.
// - When a persistent watch is set or removed, the one-shot watches of its path may be lost, and are set again.
// - For a path with persistent and recursive watchers only the recursive watch is set. It has all events of the other kind
//   but one: NodeChildrenChanged, which follows from the creation or deletion of a child.
import { Few } from './few.ts'
import {
  type FiredType,
  modeFor,
  type OneShotWatcher,
  type PersistentWatcher,
  tableOf,
  type WatchKind,
  type WatchMode,
  type WatchTable,
} from './watchers.ts'

/** The one-shot watches that a node event ends (ZKWatchManager.materialize). */
const firedBy: Record<FiredType, readonly WatchKind[]> = {
  NodeCreated: ['data', 'exist'],
  NodeDataChanged: ['data', 'exist'],
  NodeDeleted: ['data', 'exist', 'child'],
  NodeChildrenChanged: ['child'],
  DataWatchRemoved: ['data', 'exist'],
  ChildWatchRemoved: ['child'],
}

export class PathWatches {
  readonly path: string
  readonly oneShot = new Few<OneShotWatcher>()
  #persistent = noPersistent
  /** The persistent watch that the server has when it has executed everything that was sent. */
  requested: WatchMode | undefined
  /** The persistent watch that the server has confirmed. */
  confirmed: WatchMode | undefined
  /** Whether the server may have a one-shot watch that nothing waits for. */
  hasLeftover = false

  constructor(path: string) {
    this.path = path
  }

  get persistent(): Pick<Few<PersistentWatcher>, 'size' | 'delete' | 'list' | 'some'> {
    return this.#persistent
  }

  /** Most paths never have one, and have no list for them. */
  addPersistent(watcher: PersistentWatcher): void {
    if (this.#persistent === noPersistent) this.#persistent = new Few()
    this.#persistent.add(watcher)
  }

  /** The persistent watch that serves all watchers whose requests were sent, or that were set before. */
  get wanted(): WatchMode | undefined {
    return this.persistent.size === 0
      ? undefined
      : modeFor(this.persistent.list().filter(({ phase }) => phase !== 'unsent'))
  }

  /** The persistent watch that the server has, or will have when it has answered. */
  get mode(): WatchMode | undefined {
    return this.confirmed ?? this.requested
  }

  /** Whether a persistent watch has all events of a one-shot watch. */
  get isCovered(): boolean {
    return this.requested !== undefined
  }

  get isEmpty(): boolean {
    const isWatched = this.mode !== undefined || this.hasLeftover
    return !isWatched && this.oneShot.size === 0 && this.persistent.size === 0
  }

  /** Whether a persistent watcher needs the watch in the server's table, which must then stay. */
  needs(table: WatchTable): boolean {
    return this.persistent.some(({ mode }) => mode === 'persistent' || table === 'data')
  }

  /** The one-shot watchers in one of the server's tables, those without a reply included. */
  in(table: WatchTable): OneShotWatcher[] {
    return this.oneShot.list().filter(({ kind }) => tableOf(kind) === table)
  }

  /** Whether a read with a watch is under way. */
  get hasReadUnderWay(): boolean {
    return this.oneShot.some(({ phase }) => phase === 'sent')
  }

  /** Whether the server has a watch for such an event from a watcher that is gone: a read under way shares it. */
  sharesWatch(type: FiredType): boolean {
    return this.oneShot.some(({ sharesWatch, kind }) => sharesWatch === true && firedBy[type].includes(kind))
  }

  /** Removes the one-shot watchers that an event of this type concerns. */
  fire(type: FiredType): readonly OneShotWatcher[] {
    const kinds = firedBy[type]
    const fired: OneShotWatcher[] = []
    for (const watcher of this.oneShot.list()) {
      if (!kinds.includes(watcher.kind)) continue
      // The server's watch was used up. A read that it executes from now on sets its own.
      if (watcher.sharesWatch === true) watcher.sharesWatch = false
      if (watcher.phase !== 'set') continue
      watcher.phase = 'gone'
      this.oneShot.delete(watcher)
      fired.push(watcher)
    }
    return fired
  }

  /** The connection is gone, with all watches at its server. Requests that were sent are sent again. */
  interrupted(): void {
    this.requested = undefined
    this.confirmed = undefined
    this.hasLeftover = false
    for (const watcher of this.oneShot.list()) if (watcher.phase === 'sent') watcher.phase = 'unsent'
    for (const watcher of this.persistent.list()) {
      if (watcher.phase === 'sent') watcher.phase = 'unsent'
      else if (watcher.phase === 'set') watcher.phase = 'away'
    }
  }

  /** A change is sent: the server will execute it. */
  apply(change: Change): void {
    switch (change.type) {
      case 'clear':
        this.requested = undefined
        this.hasLeftover = false
        return this.#disarm()
      case 'add':
        this.requested = change.mode
        return this.#disarm()
      case 'drop':
        return
      case 'set':
        for (const watcher of change.watchers) watcher.isArmed = true
    }
  }

  #disarm(): void {
    for (const watcher of this.oneShot.list()) watcher.isArmed = false
  }
}

const noPersistent = new Few<PersistentWatcher>()

/** A change of the server's watches. */
export type Change =
  /** remove all watches of the path: the only removal of persistent ones that all servers know */
  | { readonly type: 'clear' }
  | { readonly type: 'add'; readonly mode: WatchMode }
  /** remove one of two persistent watches */
  | { readonly type: 'drop'; readonly mode: WatchMode }
  /** set one-shot watches again */
  | { readonly type: 'set'; readonly watchers: readonly OneShotWatcher[] }

type Known = Pick<PathWatches, 'wanted' | 'requested' | 'hasLeftover' | 'oneShot'>

/** The changes after which the server has the wanted watches, in order. */
export function reconcile(known: Known): Change[] {
  const { wanted, requested, hasLeftover } = known
  if (wanted === undefined && (requested !== undefined || hasLeftover)) return [{ type: 'clear' }, ...afterClear(known)]
  if (wanted !== undefined && wanted !== requested) return [{ type: 'add', mode: wanted }, ...afterAdd(known, wanted)]
  return requested === undefined ? setAgain(known, ({ isArmed }) => isArmed === false) : []
}

/** What follows right after a change to this mode. One-shot watches need nothing: the persistent one has their events. */
export function afterAdd({ requested }: Known, mode: WatchMode): Change[] {
  // From 3.9 on the other mode is still there. Earlier servers do not know the type.
  return requested === undefined || requested === mode ? [] : [{ type: 'drop', mode: requested }]
}

/** What follows right after a removal of all watches. */
export function afterClear(known: Known): Change[] {
  return setAgain(known, () => true)
}

function setAgain({ oneShot }: Known, isLost: (watcher: OneShotWatcher) => boolean): Change[] {
  const watchers = oneShot.list().filter((watcher) => watcher.phase === 'set' && isLost(watcher))
  return watchers.length === 0 ? [] : [{ type: 'set', watchers }]
}
