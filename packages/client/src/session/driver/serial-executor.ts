/** Performs one item after another. An item that is added meanwhile comes after all waiting items. */
export class SerialExecutor<T> {
  readonly #perform: (item: T) => void
  #isPerforming = false
  /** What was added while an item was performed. */
  #later: (readonly T[])[] = []

  constructor(perform: (item: T) => void) {
    this.#perform = perform
  }

  /** Performs these items. Returns false if it is called while an item is performed: then the outer call performs them. */
  do(items: readonly T[]): boolean {
    if (this.#isPerforming) {
      this.#later.push(items)
      return false
    }
    this.#isPerforming = true
    try {
      for (const item of items) this.#perform(item)
      for (const batch of this.#later) for (const item of batch) this.#perform(item)
    } finally {
      if (this.#later.length > 0) this.#later = []
      this.#isPerforming = false
    }
    return true
  }
}
