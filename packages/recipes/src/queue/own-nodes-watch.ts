// Watches the nodes of a holder or of a contender that waits, to notice that another client has deleted one.
import type { Session, Watched, ZooKeeper } from '@zk/client'
import { ifMissing } from '../kernel/if-missing.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import { unawaited, unwatch } from '../kernel/promises.ts'

/** The time in ms until the watches are set. So shorter holds need none. */
const WATCHED_AFTER = 50

export class OwnNodesWatch {
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #cancelTimer: () => void
  #watches: Map<string, Watched> | undefined
  #stopped = false

  /** Calls `onGone` when the first of these nodes is gone, unless the watch is stopped before. */
  constructor(zk: ZooKeeper, session: Session, paths: readonly string[], onGone: () => void) {
    this.#zk = zk
    this.#session = session
    this.#cancelTimer = zk.runtime.setTimer(WATCHED_AFTER, () => {
      for (const path of paths) {
        // After an error that `retry` does not repeat, no watch is possible: the session is over, or the right to read was removed.
        unawaited(this.#untilGone(path, onGone))
      }
    })
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer()
    for (const watch of this.#watches?.values() ?? []) unwatch(watch)
  }

  async #untilGone(path: string, onGone: () => void): Promise<void> {
    const pinned = pinnedTo(this.#session)
    const watching = () => ifMissing((options) => this.#zk.getDataAndWatch(path, options), pinned, undefined)
    while (!this.#stopped) {
      const watch = await retry(this.#zk, watching)
      if (watch === undefined) break
      this.#watches ??= new Map()
      this.#watches.set(path, watch)
      if (this.#stopped) return this.stop()
      // An operator may have created a node of that name in place of ours, from a backup for instance. Checks of the path do not show it.
      if (watch.stat.ephemeralOwner !== this.#session.id) break
      const event = await watch.changed
      if (event.type === 'SessionEnded') return
      // After any other event the node is watched again.
      if (event.type === 'NodeDeleted') break
    }
    if (!this.#stopped) onGone()
  }
}
