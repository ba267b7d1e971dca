import type { World } from '@zk/testing/internal'
import type { CallHappening } from './calls.ts'
import type { GroupHappening } from './group.ts'
import type { Happening, Recorded } from './history.ts'
import type { Moment } from './line.ts'
import type { MirrorHappening } from './mirror.ts'

/** Writes the history, in true time. */
export class Recorder {
  readonly history: Recorded[] = []
  readonly #world: World
  /** The client of each attempt. */
  readonly #holders = new Map<number, number>()
  #attempts = 0
  #order = 0

  constructor(world: World) {
    this.#world = world
  }

  newAttempt(): number {
    return this.#attempts++
  }

  /** The client with the latest grant among those that hold. */
  get holder(): number | undefined {
    return [...this.#holders.values()].at(-1)
  }

  add(happening: Happening | GroupHappening | MirrorHappening): void {
    this.#world.activity++
    if (happening.type === 'granted') this.#holders.set(happening.attempt, happening.client)
    if (happening.type === 'lost') this.#holders.delete(happening.attempt)
    this.history.push({ ...happening, at: this.#world.now })
  }

  /** Records an event of plain calls. */
  note(happening: CallHappening): void {
    this.#world.activity++
    this.history.push({ ...happening, ...this.moment() })
  }

  /** The present place in the order, which no other event has. */
  moment(): Moment {
    return { at: this.#world.now, step: this.#world.events, order: this.#order++ }
  }
}
