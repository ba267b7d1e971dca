/**
 * A set that nearly always has one item or none. It makes a `Set` only for the second item: when each of 100,000 watched
 * paths had two `Set`s, these took most of the memory.
 */
export class Few<T extends object> {
  #only: T | undefined
  #all: Set<T> | undefined

  add(item: T): void {
    if (this.#all !== undefined) this.#all.add(item)
    else if (this.#only === undefined || this.#only === item) this.#only = item
    else {
      this.#all = new Set([this.#only, item])
      this.#only = undefined
    }
  }

  /** False if the item was not there. */
  delete(item: T): boolean {
    if (this.#all !== undefined) return this.#all.delete(item)
    if (this.#only !== item) return false
    this.#only = undefined
    return true
  }

  /** The items, in the order in which they were added. Later changes of the set do not change the list. */
  list(): readonly T[] {
    if (this.#all !== undefined) return [...this.#all]
    return this.#only === undefined ? none : [this.#only]
  }
}

const none: readonly never[] = []
