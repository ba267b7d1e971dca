import type { Chroot } from '../chroot.ts'
import type { WatchKind, Watcher, WatcherOutcome } from '../session/watches/one-shot-watches.ts'

/** Something happened to a watched node. */
export interface NodeEvent {
  readonly type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
  readonly path: string
  /** The transaction that did it; only servers from 3.9 on say it, and none for what happened while disconnected. */
  readonly zxid?: bigint
}

/** The watch was taken back, by `unwatch` or `removeWatches`. */
export interface WatchRemoved {
  readonly type: 'DataWatchRemoved' | 'ChildWatchRemoved' | 'PersistentWatchRemoved'
  readonly path: string
}

/** The session ended with the watch still set: the event, if there is one, will never come. */
export interface SessionEnded {
  readonly type: 'SessionEnded'
  readonly path: string
}

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
