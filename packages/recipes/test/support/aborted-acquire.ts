import type { AcquireOptions } from '../../src/index.ts'
import type { InterruptibleWorld, Moment } from './interruptible-world.ts'
import { type Outcome, outcome } from './outside.ts'

/** An acquire whose signal aborts at one moment. */
export class AbortedAcquire<H> {
  readonly acquiring: Outcome<H>
  /** Whether it was not settled when its signal aborted. */
  wasPending = false
  /** How often `onQueued` was called after it had settled. */
  calledLate = 0

  constructor(
    world: InterruptibleWorld,
    moment: Moment,
    reason: unknown,
    acquire: (options: AcquireOptions) => Promise<H>,
  ) {
    const aborting = new AbortController()
    const onQueued = () => {
      if (this.acquiring.status !== 'pending') this.calledLate++
    }
    this.acquiring = outcome(acquire({ signal: aborting.signal, onQueued }))
    world.interrupt(moment, () => {
      this.wasPending = this.acquiring.status === 'pending'
      aborting.abort(reason)
    })
  }
}
