// What a program gets of a read with a watch: the promise of its one event, and the way to take the watch back. It is taken
// back here at once, and at the server where nothing else of this client needs it.
import { type Chroot, wholeTree } from '../chroot.ts'
import { prepare } from '../operations/operation.ts'
import { removeWatches } from '../operations/remove-watches.ts'
import type { SessionDriver } from '../session/driver/session-driver.ts'
import type { WatchKind, OneShotWatcher, OneShotOutcome } from '../session/watches/watchers.ts'

/** Something happened to a watched node. */
export interface NodeEvent {
  /**
   * `NodeChildrenChanged`: a child was created or deleted; the event does not say which. A change of its data is no such
   * event.
   */
  readonly type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
  /** Where it happened, as the client sees it: of a recursive watch it may be below the watched one. */
  readonly path: string
  /** The transaction that did it; only servers from 3.9 on say it, and none for what happened while disconnected. */
  readonly zxid?: bigint | undefined
}

/** The watch was taken back, by `unwatch` or `removeWatches`. */
export interface WatchRemoved {
  /** Which watch was removed. */
  readonly type: 'DataWatchRemoved' | 'ChildWatchRemoved' | 'PersistentWatchRemoved'
  /** The watched one. */
  readonly path: string
}

/** The session ended with the watch still set: the event, if there is one, will never come. */
export interface SessionEnded {
  /** Distinguishes this from the events of nodes. */
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
   * Waits no longer: `changed` resolves with its removal, and when nothing else of this client waits for the same, the
   * server is asked to remove the watch.
   */
  readonly unwatch: () => Promise<void>
}

/** A watcher of one call, with the promise of its event. */
export class CallWatcher implements OneShotWatcher {
  readonly path: string
  kind: WatchKind
  phase: OneShotWatcher['phase'] = 'asked'
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

  notify(outcome: OneShotOutcome): void {
    this.#resolve({ ...outcome, path: this.#caller })
  }

  /** One await, as every operation has: promises then settle in the order of the events. */
  async changed(): Promise<WatchedEvent> {
    return await this.#event
  }
}

/** What a read gives besides its result, for the watch that it has set. */
export function watchedBy(watcher: CallWatcher, session: SessionDriver): Watched {
  return {
    changed: watcher.changed(),
    unwatch: async () => {
      const type = session.unwatch(watcher)
      if (type === undefined || session.connection === undefined) return
      try {
        const removes = { path: watcher.path, type }
        await session.call(prepare(removeWatches, wholeTree, [watcher.path, type], { removes }), {})
      } catch (error) {
        // It went with the session.
        if (!session.signal.aborted) throw error
      }
    },
  }
}
