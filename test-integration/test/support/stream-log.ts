import type { PersistentWatchEvent, WatchIterator } from '@zk/client'

/** The events of a persistent watch since the last call, in order; the loop over it ends with the watch. */
export class StreamLog {
  readonly #notified: string[] = []

  constructor(events: WatchIterator<PersistentWatchEvent>) {
    void this.#follow(events)
  }

  async #follow(events: WatchIterator<PersistentWatchEvent>): Promise<void> {
    for await (const event of events) {
      this.#notified.push(event.type === 'Gap' ? `Gap ${event.cause}` : `${event.type} ${event.path}`)
    }
  }

  take(): string[] {
    return this.#notified.splice(0)
  }
}
