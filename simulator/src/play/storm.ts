import type { Fault } from '../scenario/fault.ts'
import type { Scenario, ScheduledFault } from '../scenario/scenario.ts'
import { type Heal, strike } from '../strikes/index.ts'
import type { Stage } from './stage.ts'

/** The faults of a scenario, each at its time, until they heal or the storm is over. */
export class Storm {
  /** The true time after which no fault strikes any more, and all are healed. */
  readonly calmAt: number
  readonly #stage: Stage
  readonly #sessionTimeout: number
  readonly #coming = new Set<() => void>()
  readonly #healing = new Set<Heal>()

  constructor(stage: Stage, { faults, sessionTimeout }: Scenario) {
    this.#stage = stage
    this.#sessionTimeout = sessionTimeout
    const from = stage.world.now
    const ends = faults.map(({ at, fault }) => from + at + this.#durationOf(fault))
    this.calmAt = Math.max(from, ...ends)
    for (const fault of faults) this.#schedule(fault, from)
  }

  /** Ends it at once: there is no target left. */
  end(): void {
    for (const cancel of this.#coming) cancel()
    this.#coming.clear()
    for (const heal of this.#healing) heal()
  }

  #schedule({ at, fault }: ScheduledFault, from: number): void {
    const { world } = this.#stage
    const cancel = world.at(from + at, () => {
      this.#coming.delete(cancel)
      this.#strike(fault)
    })
    this.#coming.add(cancel)
  }

  #strike(fault: Fault): void {
    const { recorder, world } = this.#stage
    recorder.add({ type: 'struck', fault })
    const undo = strike(fault, this.#stage)
    if (undo === undefined) return
    const heal = () => {
      if (!this.#healing.delete(heal)) return
      undo()
      recorder.add({ type: 'healed', fault })
    }
    this.#healing.add(heal)
    world.after(this.#durationOf(fault), heal)
  }

  /** A fault for the n-th frame of an operation waits for that frame, for a session timeout at most. */
  #durationOf(fault: Fault): number {
    if ('for' in fault) return fault.for
    return 'nth' in fault && 'op' in fault ? this.#sessionTimeout + ('ms' in fault ? fault.ms : 0) : 0
  }
}
