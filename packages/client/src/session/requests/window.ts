// Limits how many requests may be in flight to a busy server. When the server was too busy, the limit falls. Then it grows by
// one each time the server has executed as many requests as the limit, until it is `maxInFlight` again.

export class Window {
  readonly #limit: number
  #size: number
  /** How many requests the server has executed since it was last too busy. */
  #executed = 0

  /** `limit` is `maxInFlight`. */
  constructor(limit: number) {
    this.#limit = limit
    this.#size = limit
  }

  get size(): number {
    return Math.floor(this.#size)
  }

  /** The session is on another server, which may not be busy. */
  open(): void {
    this.#size = this.#limit
    this.#executed = 0
  }

  /** The server has executed a request. */
  executed(): void {
    this.#executed++
    if (this.#size < this.#limit) this.#size = Math.min(this.#size + 1 / this.#size, this.#limit)
  }

  /**
   * The server was too busy for one of `inFlight` requests. The new limit is the number that it has executed before, but at
   * most half of `inFlight` and half of the old limit.
   */
  tooBusy(inFlight: number): void {
    this.#size = Math.max(1, Math.min(this.#executed, this.size / 2, inFlight / 2))
    this.#executed = 0
  }
}
