// Events that may be iterated before the server has set the watch, or awaited until it has.
import type { NodeEvents, OpeningNodeEvents } from './node-events.ts'

type Result = Awaited<ReturnType<NodeEvents['next']>>

/** An error of opening rejects the first `next()`, or whatever awaits the events; not both go unhandled. */
export class OpeningEvents implements OpeningNodeEvents {
  readonly #opening: Promise<NodeEvents>
  #events: NodeEvents | undefined
  #hasFailed = false

  constructor(opening: Promise<NodeEvents>) {
    this.#opening = opening
    opening.then(
      (events) => (this.#events = events),
      () => {},
    )
  }

  // eslint-disable-next-line unicorn/no-thenable -- `await zk.watch(…)` waits until the watch is set
  then<Value = NodeEvents, Failure = never>(
    onfulfilled?: ((events: NodeEvents) => Value | PromiseLike<Value>) | null,
    onrejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#opening.then(onfulfilled, onrejected)
  }

  async next(): Promise<Result> {
    if (this.#hasFailed) return OVER
    try {
      return await (this.#events ?? (await this.#opening)).next()
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  async return(): Promise<Result> {
    const events = await this.#opening.catch(() => undefined)
    return (await events?.return()) ?? OVER
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

const OVER = { value: undefined, done: true } as const
