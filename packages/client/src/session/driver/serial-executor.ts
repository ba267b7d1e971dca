/** Performs one item after another. An item that is added meanwhile comes after all waiting items. */
export class SerialExecutor<T> {
  readonly #perform: (item: T) => void
  readonly #batches: (readonly T[])[] = []

  constructor(perform: (item: T) => void) {
    this.#perform = perform
  }

  /** Performs these items. Returns false if it is called while an item is performed: then the outer call performs them. */
  do(items: readonly T[]): boolean {
    this.#batches.push(items)
    if (this.#batches.length > 1) return false
    try {
      for (const batch of this.#batches) for (const item of batch) this.#perform(item)
    } finally {
      this.#batches.length = 0
    }
    return true
  }
}
