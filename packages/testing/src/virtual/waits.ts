import type { World } from './world.ts'

/** A promise that waits for time to pass. */
export interface Wait {
  readonly end: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Lets the time of a world pass as long as a promise waits for it. */
export class Waits {
  readonly #world: World
  readonly #waits = new Set<Wait>()
  #isMoving = false

  constructor(world: World) {
    this.#world = world
  }

  /** Resolves when everything in the next `duration` ms has happened. Rejects with an error that is thrown in this time. */
  async elapse(duration: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.add(duration, resolve, reject)
    })
  }

  add(duration: number, resolve: () => void, reject: (error: unknown) => void): Wait {
    const wait = { end: this.#world.now + duration, resolve, reject }
    this.#waits.add(wait)
    if (!this.#isMoving) void this.#move()
    return wait
  }

  remove(wait: Wait): void {
    this.#waits.delete(wait)
  }

  async #move(): Promise<void> {
    this.#isMoving = true
    try {
      while (this.#waits.size > 0) {
        await this.#world.run(() => this.#nextEnd())
        for (const wait of this.#waits) if (wait.end <= this.#world.now) this.#over(wait).resolve()
      }
    } catch (error) {
      for (const wait of this.#waits) this.#over(wait).reject(error)
    } finally {
      this.#isMoving = false
    }
  }

  #over(wait: Wait): Wait {
    this.#waits.delete(wait)
    return wait
  }

  /** The end of the first wait. If there is none, a time in the past. */
  #nextEnd(): number {
    let next = Infinity
    for (const { end } of this.#waits) if (end < next) next = end
    return next === Infinity ? -1 : next
  }
}
