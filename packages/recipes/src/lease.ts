import { elapsedSince, type Moment, type Runtime } from '@zk/client'

/** A time during which the ensemble cannot have given away what is held. It can be made longer, never shorter. */
export class Lease {
  readonly #runtime: Runtime
  #from: Moment
  #length: number

  constructor(runtime: Runtime, from: Moment, length: number) {
    this.#runtime = runtime
    this.#from = from
    this.#length = length
  }

  /** ms that are left, now: compared by both clocks whenever it is asked for. Not above 0 when it is over. */
  get remaining(): number {
    return this.#length - elapsedSince(this.#runtime, this.#from)
  }

  /** From then, for so many ms, unless it lasts longer already. */
  renew(from: Moment, length: number): void {
    if (length - elapsedSince(this.#runtime, from) <= this.remaining) return
    this.#from = from
    this.#length = length
  }
}
