import { type Runtime } from '@zk/client'
import { elapsedSince, type Timestamp } from '@zk/client/internal'

/** A time during which the ensemble cannot have given away what is held. */
export class Lease {
  readonly #runtime: Runtime
  #from: Timestamp
  #length: () => number

  /** `length` is asked again and again: a reconnection may give the session a smaller timeout. */
  constructor(runtime: Runtime, from: Timestamp, length: () => number) {
    this.#runtime = runtime
    this.#from = from
    this.#length = length
  }

  /** ms that are left, now: compared by both clocks whenever it is asked for. Not above 0 when it is over. */
  get remaining(): number {
    return this.#length() - elapsedSince(this.#runtime, this.#from)
  }

  /** From then, for so many ms, unless it lasts longer already. One that is over stays over. */
  renew(from: Timestamp, length: () => number): void {
    const { remaining } = this
    if (remaining <= 0 || length() - elapsedSince(this.#runtime, from) <= remaining) return
    this.#from = from
    this.#length = length
  }
}
