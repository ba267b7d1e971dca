// Watches a holder's node, to notice that another client has deleted it.
import type { Session, Watched, ZooKeeper } from '@zk/client'
import { ifMissing } from '../calls/if-missing.ts'
import { pinnedTo, retry } from '../calls/retry.ts'

/** The time in ms from the grant to the watch. So shorter holds need no watch. */
const OWN_WATCH_AFTER = 50

export class OwnNodeWatch {
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #path: string
  readonly #cancelTimer: () => void
  #watch: Watched | undefined
  #stopped = false

  /** Calls `onGone` once when the node is gone, unless it is stopped first. */
  constructor(zk: ZooKeeper, session: Session, path: string, onGone: () => void) {
    this.#zk = zk
    this.#session = session
    this.#path = path
    this.#cancelTimer = zk.runtime.setTimer(OWN_WATCH_AFTER, () => {
      // After an error that is not repeated no watch is possible: the session is over, or the right to read was removed.
      this.#untilGone(onGone).catch(() => {})
    })
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer()
    this.#watch?.unwatch().catch(() => {})
  }

  async #untilGone(onGone: () => void): Promise<void> {
    const pinned = pinnedTo(this.#session)
    const watching = () => ifMissing((options) => this.#zk.getDataAndWatch(this.#path, options), pinned, undefined)
    while (!this.#stopped) {
      const watch = await retry(this.#zk, watching)
      this.#watch = watch
      if (this.#stopped) return this.stop()
      // An operator may have made a node of that name in place of ours, from a backup for instance. Checks of the path do not show it.
      if (watch?.stat.ephemeralOwner !== this.#session.id) break
      const event = await watch.changed
      if (event.type === 'SessionEnded') return
      // After any other event the node is watched again.
      if (event.type === 'NodeDeleted') break
    }
    if (!this.#stopped) onGone()
  }
}
