/** Items in the order in which they came, to be taken one after the other. */
export class Inbox<T> {
  #came: T[] = []
  #waiting: { readonly resolve: (value: T) => void; readonly reject: (error: Error) => void }[] = []
  #failure: Error | undefined

  put(value: T): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#came.push(value)
    else waiting.resolve(value)
  }

  /** No more items will come. Takers that wait are rejected, and later takers, too, if there is no item left. */
  fail(error: Error): void {
    this.#failure = error
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting = []
  }

  take(): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#came.length > 0) resolve(this.#came.shift() as T)
      else if (this.#failure !== undefined) reject(this.#failure)
      else this.#waiting.push({ resolve, reject })
    })
  }

  /** Takes all items that have come. */
  takeAll(): readonly T[] {
    const came = this.#came
    this.#came = []
    return came
  }
}
