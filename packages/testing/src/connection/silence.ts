export interface Clock {
  readonly now: number
  after(ms: number, action: () => void): () => void
}

/** How long a client may be silent before its handshake, and the step of expiry, in ms (NIOServerCnxnFactory). */
const SESSIONLESS_TIMEOUT = 10_000

/**
 * Notices a client that sends nothing for longer than its session timeout, rounded up to the next 10 s (cnxnExpiryQueue).
 * Most sessions expire earlier, which also ends their connections. So this is mostly for connections without a handshake.
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

  /** The time at which the client will have been silent for too long. */
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

  /** One timer serves many touches: when it is due, it checks whether anything has been heard from the client since. */
  #wait(): () => void {
    return this.#clock.after(this.endsAt - this.#clock.now, () => {
      if (this.endsAt <= this.#clock.now) this.#tooLong()
      else this.#cancel = this.#wait()
    })
  }
}

const roundedUp = (at: number) => (Math.floor(at / SESSIONLESS_TIMEOUT) + 1) * SESSIONLESS_TIMEOUT
