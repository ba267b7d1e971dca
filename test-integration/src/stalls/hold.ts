import { type Held, LostError } from '@zk/recipes'
import { machineTime } from '../history/index.ts'
import type { HoldReport, Told } from './stall.ts'
import { waitedForCpu } from './waited-for-cpu.ts'

/** A hold, and what its holder has learned about it. */
export class Hold {
  readonly #held: Held
  readonly #from = machineTime()
  #until = this.#from
  #leaseEnd = this.#from
  #waited = waitedForCpu('self')
  #notified: Told | undefined

  constructor(held: Held) {
    this.#held = held
    const { signal } = held
    const notify = () => {
      const { reason } = signal
      if (!LostError.is(reason)) throw reason
      if (reason.code === 'Released') return
      this.#notified = { at: machineTime(), reason: reason.code, waited: waitedForCpu('self') }
    }
    if (signal.aborted) notify()
    else signal.addEventListener('abort', notify, { once: true })
  }

  get isNotified(): boolean {
    return this.#notified !== undefined
  }

  get leaseEnd(): number {
    return this.#leaseEnd
  }

  /** Checks the hold. Returns the time left on its lease, in ms; 0 if it is lost. */
  ask(): number {
    // The clock is read first: if the lock is held after that, it was held at this time, too.
    const at = machineTime()
    if (!this.#held.isHeld()) return 0
    const remaining = this.#held.leaseRemaining()
    this.#until = at
    this.#leaseEnd = Math.max(this.#leaseEnd, at + remaining)
    this.#waited = waitedForCpu('self')
    return remaining
  }

  async release(): Promise<void> {
    // The loss is reported already. What remains of the node is deleted in the background.
    await this.#held.release().catch(() => {})
  }

  report(): HoldReport {
    const base = {
      token: String(this.#held.fencingToken),
      from: this.#from,
      until: this.#until,
      leaseEnd: this.#leaseEnd,
      waited: this.#waited,
    }
    return this.#notified === undefined ? base : { ...base, notified: this.#notified }
  }
}
