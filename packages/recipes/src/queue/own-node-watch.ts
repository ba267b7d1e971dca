// Notices that another client has deleted the holder's node.
import type { Session, Watched, ZooKeeper } from '@zk/client'
import { ifMissing } from './if-missing.ts'
import { pinnedTo, retry } from './retry.ts'

/** A hold shorter than this, in ms, does without a watch on its own node. */
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
      // A lasting error means that the session is over, or that the right to read was removed. Then no watch is possible.
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
      this.#watch = await retry(this.#zk, watching)
      if (this.#stopped) return this.stop()
      const event = await this.#watch?.changed
      if (event?.type === 'SessionEnded') return
      // After any other event the node is watched again.
      if (event === undefined || event.type === 'NodeDeleted') break
    }
    if (!this.#stopped) onGone()
  }
}
