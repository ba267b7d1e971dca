import type { World } from './world.ts'

/** What happens to segments that are sent. */
export type Flow =
  /** they arrive */
  | 'flowing'
  /** they wait and arrive later, because TCP sends again what was not confirmed */
  | 'held'
  /** they are lost, and so is everything after them */
  | 'lost'

/** One direction of a connection: segments arrive later, in order. */
export class OneWay {
  readonly #world: World
  readonly #latency: () => number
  #flow: Flow = 'flowing'
  #waiting: (() => void)[] = []
  /** The time at which the last segment arrives. No later one may overtake it. */
  #arrivesAt = 0

  constructor(world: World, latency: () => number) {
    this.#world = world
    this.#latency = latency
  }

  /** Segments that are under way still arrive. A direction that is lost stays lost. */
  set flow(flow: Flow) {
    if (this.#flow === 'lost') return
    this.#flow = flow
    const waiting = this.#waiting
    if (flow === 'held') return
    this.#waiting = []
    if (flow === 'flowing') for (const arrive of waiting) this.send(arrive)
  }

  /** Calls `arrive` when the segment arrives. */
  send(arrive: () => void): void {
    if (this.#flow === 'lost') return
    if (this.#flow === 'held') {
      this.#waiting.push(arrive)
      return
    }
    const at = this.#world.now + this.#latency()
    if (at > this.#arrivesAt) this.#arrivesAt = at
    this.#world.at(this.#arrivesAt, arrive)
  }
}
