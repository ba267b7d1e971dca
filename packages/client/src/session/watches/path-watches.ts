// The watches of one path: which watches are wanted, which were requested, and which the server has confirmed. `reconcile`
// computes what to send so that the server has the wanted watches.
//
// Up to 3.8 a server keeps only one watch for each path, table and connection: the last one that was set. From 3.9 on it keeps
// all of them. A client cannot know the version of its server. So:
//
// - If a path has a persistent watch, reads set no one-shot watch: the persistent watch has the same events.
// - When a persistent watch is set or removed, the one-shot watches of its path may be lost, and are set again.
// - If a path has persistent and recursive watchers, only the recursive watch is set. It has all events of the persistent
//   watch except NodeChildrenChanged, which follows from the creation or deletion of a child.
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

/** The kinds of one-shot watches that each event ends (ZKWatchManager.materialize). */
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
  /** The persistent watch that the server will have when it has executed everything that was sent. */
  requested: WatchMode | undefined
  /** The persistent watch that the server has confirmed. */
  confirmed: WatchMode | undefined
  /** Whether the server may have a one-shot watch for which no watcher is left. */
  hasLeftover = false

  constructor(path: string) {
    this.path = path
  }

  get persistent(): Pick<Few<PersistentWatcher>, 'delete' | 'list'> {
    return this.#persistent
  }

  /** Adds a persistent watcher. Most paths never have one, so the list is made for the first one. */
  addPersistent(watcher: PersistentWatcher): void {
    if (this.#persistent === noPersistent) this.#persistent = new Few()
    this.#persistent.add(watcher)
  }

  /** The persistent watch that has the events of all persistent watchers, except those whose requests were not sent yet. */
  get wanted(): WatchMode | undefined {
    return modeFor(this.persistent.list().filter(({ phase }) => phase !== 'unsent'))
  }

  /** The persistent watch that the server has confirmed, or else the one that was requested. */
  get mode(): WatchMode | undefined {
    return this.confirmed ?? this.requested
  }

  /** Whether a persistent watch has the events of the one-shot watches. */
  get isCovered(): boolean {
    return this.requested !== undefined
  }

  get isEmpty(): boolean {
    const isWatched = this.mode !== undefined || this.hasLeftover
    return !isWatched && this.oneShot.list().length === 0 && this.persistent.list().length === 0
  }

  /** Whether a persistent watcher needs the watch in this table of the server, so that the watch must stay. */
  needs(table: WatchTable): boolean {
    return this.persistent.list().some(({ mode }) => mode === 'persistent' || table === 'data')
  }

  /** The one-shot watchers in one of the server's tables, including those whose reads have no reply yet. */
  in(table: WatchTable): OneShotWatcher[] {
    return this.oneShot.list().filter(({ kind }) => tableOf(kind) === table)
  }

  /** Whether a read with a watch is under way. */
  get hasReadUnderWay(): boolean {
    return this.oneShot.list().some(({ phase }) => phase === 'sent')
  }

  /**
   * Removes and returns the one-shot watchers that an event of this type fires. Undefined if the event belongs neither to a
   * watcher here nor to the watch of a removed watcher that another one shares (`sharesWatch`).
   */
  fire(type: FiredType): readonly OneShotWatcher[] | undefined {
    const kinds = firedBy[type]
    let fired: OneShotWatcher[] | undefined
    for (const watcher of this.oneShot.list()) {
      if (!kinds.includes(watcher.kind)) continue
      if (watcher.sharesWatch === true) {
        // The shared watch has fired. Reads that the server executes from now on set watches of their own.
        watcher.sharesWatch = false
        fired ??= []
      }
      if (watcher.phase !== 'set') continue
      watcher.phase = 'gone'
      this.oneShot.delete(watcher)
      // Not a push onto an empty list, which takes memory for 17 items.
      if (fired === undefined) fired = [watcher]
      else fired.push(watcher)
    }
    return fired
  }

  /** The connection is gone, with all watches on its server. Reads that were sent will be sent again. */
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

  /** Records a change that is sent, and that the server will execute. */
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
  /** remove all watches of the path (not all servers can remove persistent watches alone) */
  | { readonly type: 'clear' }
  | { readonly type: 'add'; readonly mode: WatchMode }
  /** remove one of two persistent watches */
  | { readonly type: 'drop'; readonly mode: WatchMode }
  /** set one-shot watches again */
  | { readonly type: 'set'; readonly watchers: readonly OneShotWatcher[] }

type Known = Pick<PathWatches, 'wanted' | 'requested' | 'hasLeftover' | 'oneShot'>

/** The changes, in order, after which the server has the wanted watches. */
export function reconcile(known: Known): Change[] {
  const { wanted, requested, hasLeftover } = known
  if (wanted === undefined && (requested !== undefined || hasLeftover)) return [{ type: 'clear' }, ...afterClear(known)]
  if (wanted !== undefined && wanted !== requested) return [{ type: 'add', mode: wanted }, ...afterAdd(known, wanted)]
  return requested === undefined ? setAgain(known, ({ isArmed }) => isArmed === false) : []
}

/**
 * The changes that must follow right after a persistent watch was set or changed to this mode. One-shot watches need none,
 * because the persistent watch has their events.
 */
export function afterAdd({ requested }: Known, mode: WatchMode): Change[] {
  // From 3.9 on the watch of the other mode is still there. Earlier servers refuse this removal, and do not need it.
  return requested === undefined || requested === mode ? [] : [{ type: 'drop', mode: requested }]
}

/** The changes that must follow right after a removal of all watches: one-shot watches are set again. */
export function afterClear(known: Known): Change[] {
  return setAgain(known, () => true)
}

function setAgain({ oneShot }: Known, isLost: (watcher: OneShotWatcher) => boolean): Change[] {
  const watchers = oneShot.list().filter((watcher) => watcher.phase === 'set' && isLost(watcher))
  return watchers.length === 0 ? [] : [{ type: 'set', watchers }]
}
