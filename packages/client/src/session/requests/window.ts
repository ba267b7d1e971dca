// Limits how many requests a busy server gets at once: as many as it could execute, and one more each time that it has
// executed them all, until no limit is needed.

export class Window {
  readonly #limit: number
  #size: number
  /** How many it has executed since it was last too busy. */
  #done = 0

  /** `limit` is the most that may be in flight. */
  constructor(limit: number) {
    this.#limit = limit
    this.#size = limit
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  /** The session is at another server. */
  open(): void {
    this.#size = this.#limit
    this.#done = 0
  }

  /** The server has executed a request. */
  done(): void {
    this.#done++
    if (this.#size < this.#limit) this.#size = Math.min(this.#size + 1 / this.#size, this.#limit)
  }

  /** The server was too busy for one of `inFlight`: it gets as many as it has executed before, but at most half of them. */
  tooBusy(inFlight: number): void {
    this.#size = Math.max(1, Math.min(this.#done, this.size / 2, inFlight / 2))
    this.#done = 0
  }
}
