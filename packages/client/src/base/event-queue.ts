/** Makes the item that replaces all others when an `EventQueue` is full. */
type Overflow<T> = () => T

/**
 * The items that were not taken yet, in order. There is room for `limit` items. If one more comes, it and all waiting items are
 * replaced by the item that `overflow` makes.
 */
export class EventQueue<T> {
  readonly #limit: number
  readonly #overflow: Overflow<T>
  #items: T[] = []
  readonly #takers: { resolve: (result: IteratorResult<T, undefined>) => void; reject: (error: unknown) => void }[] = []
  #end: { readonly error?: unknown } | undefined

  constructor(limit: number, overflow: Overflow<T>) {
    this.#limit = limit
    this.#overflow = overflow
  }

  /** Adds an item. A pending `take` gets it first. */
  push(item: T): void {
    if (this.#end !== undefined) return
    const taker = this.#takers.shift()
    if (taker !== undefined) taker.resolve({ value: item, done: false })
    else if (this.#items.length < this.#limit) this.#items.push(item)
    else this.#items = [this.#overflow()]
  }

  /** Ends the queue with `last`, for which there is always room. Items that wait may still be taken. */
  end(...last: [] | [last: T]): void {
    if (this.#end !== undefined) return
    if (this.#takers.length === 0) this.#items.push(...last)
    else for (const item of last) this.push(item)
    this.#over()
  }

  /** Ends the queue with an error, which is thrown once. Items that wait may still be taken before that. */
  fail(error: unknown): void {
    this.#over({ error })
  }

  /** Drops all items, and ends the queue. */
  close(): void {
    this.#items = []
    this.#over()
    this.#end = {}
  }

  take(): IteratorResult<T, undefined> | Promise<IteratorResult<T, undefined>> {
    const [item] = this.#items
    if (item !== undefined) {
      this.#items.shift()
      return { value: item, done: false }
    }
    if (this.#end === undefined) return new Promise((resolve, reject) => this.#takers.push({ resolve, reject }))
    const end = this.#end
    this.#end = {}
    if ('error' in end) throw end.error
    return OVER
  }

  /** Ends the queue. Pending takes get the end. If there is an error, the first of them gets the error instead. */
  #over(end: { readonly error?: unknown } = {}): void {
    if (this.#end !== undefined) return
    const [first, ...others] = this.#takers.splice(0)
    const isNotified = first !== undefined && 'error' in end
    if (isNotified) first.reject(end.error)
    for (const { resolve } of isNotified || first === undefined ? others : [first, ...others]) resolve(OVER)
    this.#end = isNotified ? {} : end
  }
}

/** The result of an iterator's `next` after its last item. */
export const OVER = { value: undefined, done: true } as const
