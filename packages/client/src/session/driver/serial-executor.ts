/** Does one thing after the other; what comes up meanwhile is done behind all that is there already. */
export class SerialExecutor<T> {
  readonly #perform: (item: T) => void
  readonly #batches: (readonly T[])[] = []

  constructor(perform: (item: T) => void) {
    this.#perform = perform
  }

  /** False when it came up meanwhile: then an outer call does it. */
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
