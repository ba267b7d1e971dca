// What a program gets of a read with a watch: the promise of its one event, and the way to take the watch back. Watches are taken
// back here at once, and at the server where nothing else of this client needs them.
import { type Chroot, wholeTree } from '../chroot.ts'
import { prepare } from '../operations/operation.ts'
import { type RemovableWatches, removedWatches, removeWatches } from '../operations/remove-watches.ts'
import type { SessionDriver } from '../session/driver/session-driver.ts'
import type { WatchKind, Watcher, WatcherOutcome } from '../session/watches/one-shot-watches.ts'
import type { PersistentOutcome } from '../session/watches/persistent-watches.ts'

/** Something happened to a watched node. */
export interface NodeEvent {
  /** `NodeChildrenChanged`: a child was created or deleted; which one is not told, nor is a change of its data. */
  readonly type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
  /** Where it happened, as the client sees it: of a recursive watch it may be below the watched one. */
  readonly path: string
  /** The transaction that did it; only servers from 3.9 on say it, and none for what happened while disconnected. */
  readonly zxid?: bigint
}

/** The watch was taken back, by `unwatch` or `removeWatches`. */
export interface WatchRemoved {
  readonly type: 'DataWatchRemoved' | 'ChildWatchRemoved' | 'PersistentWatchRemoved'
  /** The watched one. */
  readonly path: string
}

/** The session ended with the watch still set: the event, if there is one, will never come. */
export interface SessionEnded {
  readonly type: 'SessionEnded'
  /** The watched one. */
  readonly path: string
}

/** What ends a one-shot watch. */
export type WatchedEvent = NodeEvent | WatchRemoved | SessionEnded

/** What a read with a watch gives besides its result. Client and server keep the watch until its event, or `unwatch`. */
export interface Watched {
  /** The one event. It never rejects, and settles at the latest when the session ends. */
  readonly changed: Promise<WatchedEvent>
  /**
   * Waits no longer: `changed` resolves with its removal, and when nobody else of this client waits for the same the
   * server is told to forget the watch.
   */
  readonly unwatch: () => Promise<void>
}

/** A watcher of one call, with the promise of its event. */
export class CallWatcher implements Watcher {
  readonly path: string
  kind: WatchKind
  phase: Watcher['phase'] = 'asked'
  readonly #caller: string
  readonly #event: Promise<WatchedEvent>
  #resolve: (event: WatchedEvent) => void = () => {}

  constructor(kind: WatchKind, path: string, chroot: Chroot) {
    this.kind = kind
    this.path = chroot.absolute(path)
    this.#caller = path
    this.#event = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  notify(outcome: WatcherOutcome): void {
    this.#resolve({ ...outcome, path: this.#caller })
  }

  /** One await, as every operation has: promises then settle in the order of what they tell. */
  async changed(): Promise<WatchedEvent> {
    return await this.#event
  }
}

/** What a read gives besides its result, for the watch that it has set. */
export function watchedBy(watcher: CallWatcher, session: SessionDriver): Watched {
  return {
    changed: watcher.changed(),
    unwatch: async () => {
      const isWaiting = watcher.phase === 'set'
      const wasLast = session.watches.unwatch(watcher)
      if (isWaiting) tellRemoved(watcher, session)
      if (!wasLast || session.connection === undefined) return
      const type = watcher.kind === 'child' ? 'Children' : 'Data'
      try {
        const removes = { path: watcher.path, type } as const
        await session.call(prepare(removeWatches, wholeTree, [watcher.path, type], { removes }), {})
      } catch (error) {
        // It went with the session.
        if (!session.signal.aborted) throw error
      }
    },
  }
}

/** Takes these watchers of a server's path out, and tells them. Says whether there were any. */
export function takeWatchers(session: SessionDriver, path: string, type: RemovableWatches): boolean {
  const { watches } = session
  const { tables, modes } = removedWatches(type)
  const once = watches.take(path, tables)
  const forGood = watches.persistentAt(path, modes)
  for (const watcher of once) tellRemoved(watcher, session)
  for (const watcher of forGood) tell(watcher, { type: 'PersistentWatchRemoved' }, session)
  return once.length + forGood.length > 0
}

function tellRemoved(watcher: Watcher, session: SessionDriver): void {
  tell(watcher, { type: watcher.kind === 'child' ? 'ChildWatchRemoved' : 'DataWatchRemoved' }, session)
}

function tell<Outcome extends WatcherOutcome | PersistentOutcome>(
  watcher: { readonly path: string; notify(outcome: Outcome): void },
  outcome: Outcome,
  session: SessionDriver,
): void {
  session.telemetry.notified(watcher, outcome, session)
  watcher.notify(outcome)
}
