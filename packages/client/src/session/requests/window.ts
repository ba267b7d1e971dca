// How many requests a server that is too busy gets at once: as many as it could do, and then one more each time that it
// has done them all, until there is no need to count.

export class Window {
  readonly #limit: number
  #size: number
  /** Done since it last was too busy. */
  #done = 0

  /** `limit`: the most that may be in flight. */
  constructor(limit: number) {
    this.#limit = limit
    this.#size = limit
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  /** Another server. */
  open(): void {
    this.#size = this.#limit
    this.#done = 0
  }

  /** The server has done one. */
  done(): void {
    this.#done++
    if (this.#size < this.#limit) this.#size = Math.min(this.#size + 1 / this.#size, this.#limit)
  }

  /** It was too busy for one of so many: what it has done before is what it can do, but no more than half of them. */
  tooBusy(inFlight: number): void {
    this.#size = Math.max(1, Math.min(this.#done, this.size / 2, inFlight / 2))
    this.#done = 0
  }
}
