/** Runs one task after the other. A task that is added meanwhile runs after all that are already there. */
export class SerialExecutor<T> {
  readonly #perform: (item: T) => void
  readonly #batches: (readonly T[])[] = []

  constructor(perform: (item: T) => void) {
    this.#perform = perform
  }

  /** False when it was added during a run: then the outer call runs it. */
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
