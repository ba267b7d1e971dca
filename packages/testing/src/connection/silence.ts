export interface Clock {
  readonly now: number
  after(ms: number, action: () => void): () => void
}

/** NIOServerCnxnFactory: how long a client may send nothing before its handshake; also the step of expiry. */
const SESSIONLESS_TIMEOUT = 10_000

/**
 * Notices a client that sends nothing for longer than its session timeout, rounded up to the next 10 s (cnxnExpiryQueue).
 * Most sessions expire earlier, and their connections end with them. So this is mostly for connections without a handshake.
 */
export class Silence {
  readonly #clock: Clock
  readonly #tooLong: () => void
  #timeout = SESSIONLESS_TIMEOUT
  #lastHeard: number
  #cancel: () => void

  constructor(clock: Clock, tooLong: () => void) {
    this.#clock = clock
    this.#tooLong = tooLong
    this.#lastHeard = clock.now
    this.#cancel = this.#wait()
  }

  /** When the silence will be too long. */
  get endsAt(): number {
    return roundedUp(this.#lastHeard + this.#timeout)
  }

  broken(): void {
    this.#lastHeard = this.#clock.now
  }

  expectWithin(timeout: number): void {
    this.#cancel()
    this.#timeout = timeout
    this.#cancel = this.#wait()
  }

  stop(): void {
    this.#cancel()
  }

  /** One timer serves many touches: it checks again when it is due. */
  #wait(): () => void {
    return this.#clock.after(this.endsAt - this.#clock.now, () => {
      if (this.endsAt <= this.#clock.now) this.#tooLong()
      else this.#cancel = this.#wait()
    })
  }
}

const roundedUp = (at: number) => (Math.floor(at / SESSIONLESS_TIMEOUT) + 1) * SESSIONLESS_TIMEOUT
