import type { NodeEvents } from '@zk/client'

/** What a persistent watch has told since it was asked last, in order; the loop over it ends with the watch. */
export class StreamLog {
  /** The watch is over. */
  readonly ended: Promise<void>
  readonly #told: string[] = []

  constructor(events: NodeEvents) {
    this.ended = this.#follow(events)
  }

  async #follow(events: NodeEvents): Promise<void> {
    for await (const event of events) {
      this.#told.push(event.type === 'Gap' ? `Gap ${event.cause}` : `${event.type} ${event.path}`)
    }
  }

  take(): string[] {
    return this.#told.splice(0)
  }

  get last(): string | undefined {
    return this.#told.at(-1)
  }
}
