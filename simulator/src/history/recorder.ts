import type { World } from '../world/world.ts'
import type { Happening, Recorded } from './history.ts'

/** Writes the history, in true time. */
export class Recorder {
  readonly history: Recorded[] = []
  readonly #world: World
  #attempts = 0

  constructor(world: World) {
    this.#world = world
  }

  newAttempt(): number {
    return this.#attempts++
  }

  add(happening: Happening): void {
    this.#world.activity++
    this.history.push({ ...happening, at: this.#world.now })
  }
}
