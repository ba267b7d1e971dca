const COMPACT_AT = 1_024

/** A queue whose first item is taken in constant time. */
export class Fifo<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    // A taken item must not be kept alive until the next compaction.
    this.#items[this.#head++] = undefined as T
    if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) this.#items = this.drop()
    return item
  }

  /** Removes and returns the first item that fulfils the condition. */
  take(isSo: (item: T) => boolean): T | undefined {
    const index = this.#items.findIndex((item, at) => at >= this.#head && isSo(item))
    return index === -1 ? undefined : this.#items.splice(index, 1)[0]
  }

  /** Removes and returns all items, in order. */
  drop(): T[] {
    const rest = this.#items.slice(this.#head)
    this.#items = []
    this.#head = 0
    return rest
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#head)[Symbol.iterator]()
  }
}
