// The watch that a read sets, as the caller sees it: the promise of its event, and `unwatch`. `unwatch` removes the watcher
// locally at once, and the watch on the server if nothing else of this client needs it.
import { type Chroot, noChroot } from '../base/chroot.ts'
import { fieldsInJson } from '../base/in-json.ts'
import type { WatchKind } from '../operations/operation.ts'
import { removeWatches } from '../operations/remove-watches.ts'
import type { SessionDriver } from '../session/driver/session-driver.ts'
import type { OneShotWatcher, OneShotOutcome } from '../session/watches/watchers.ts'

/** Something happened to a watched node. In JSON `zxid` is text, `0x…`. */
export interface NodeEvent {
  /**
   * `NodeChildrenChanged`: a child was created or deleted. The event does not say which. A change of a child's data does not
   * cause this event.
   */
  readonly type: 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
  /** The path of the event, as the client sees it. With a recursive watch it may be below the watched path. */
  readonly path: string
  /** The zxid of the change. Only servers from 3.9 on send it, but not for changes while the client was disconnected. */
  readonly zxid?: bigint | undefined
}

/** The watch was removed, by `unwatch` or `removeWatches`. */
export interface WatchRemoved {
  /** Which watch was removed. */
  readonly type: 'DataWatchRemoved' | 'ChildWatchRemoved' | 'PersistentWatchRemoved'
  /** The watched path. */
  readonly path: string
}

/** The session ended, and the watch with it: no further event will come. */
export interface SessionEnded {
  /** Distinguishes this from the events of nodes. */
  readonly type: 'SessionEnded'
  /** The watched path. */
  readonly path: string
}

/** How a one-shot watch ends. */
export type WatchedEvent = NodeEvent | WatchRemoved | SessionEnded

/** What a read with a watch returns besides its result. Client and server keep the watch until its event, or `unwatch`. */
export interface Watched {
  /** Resolves with the event, or at the latest when the session ends. Never rejects. */
  readonly changed: Promise<WatchedEvent>
  /**
   * Removes the watch: `changed` resolves with the removal. If nothing else of this client waits for the same event, the watch
   * on the server is removed, too.
   */
  readonly unwatch: () => Promise<void>
}

/** A watcher of one call, with the promise of its event. */
export class CallWatcher implements OneShotWatcher {
  readonly path: string
  kind: WatchKind
  phase: OneShotWatcher['phase'] = 'unsent'
  // If it were added later, V8 would put it into memory of its own.
  isArmed = false
  readonly #caller: string
  readonly #event: Promise<WatchedEvent>
  #resolve!: (event: WatchedEvent) => void

  constructor(kind: WatchKind, path: string, chroot: Chroot) {
    this.kind = kind
    this.path = chroot.absolute(path)
    this.#caller = path
    this.#event = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** Resolves the promise a turn later, as that of every operation: so promises settle in the order of the events. */
  notify(outcome: OneShotOutcome): void {
    const { type } = outcome
    const path = this.#caller
    const event = 'zxid' in outcome ? new FiredEvent(type, path, outcome.zxid) : { type, path }
    void settled.then(() => this.#resolve(event as WatchedEvent))
  }

  /** Adds `changed` and `unwatch` to the result of the read, which is an object of this call alone. */
  addTo<Read extends object>(found: Read, session: SessionDriver): Read & Watched {
    return Object.assign(found, { changed: this.#event, unwatch: () => this.#unwatch(session) })
  }

  async #unwatch(session: SessionDriver): Promise<void> {
    const type = session.unwatch(this)
    try {
      if (type === undefined || session.connection === undefined) return session.notifyTaken()
      const { path } = this
      const removed = session.call(removeWatches, noChroot, [path, type], {}, { type: 'remove', path, watches: type })
      session.notifyTaken()
      await removed
    } catch (error) {
      // If the session has ended, the watch has ended, too.
      if (!session.signal.aborted) throw error
    }
  }
}

const settled = Promise.resolve()

/** A class, so that its `toJSON` costs nothing: 10,000 watches may fire at once. */
class FiredEvent {
  readonly type: string
  readonly path: string
  readonly zxid: bigint | undefined

  constructor(type: string, path: string, zxid: bigint | undefined) {
    this.type = type
    this.path = path
    this.zxid = zxid
  }

  toJSON(): object {
    return fieldsInJson(this)
  }
}
