import type { World } from './world.ts'

/** What becomes of what is sent. */
export type Flow =
  /** it arrives */
  | 'flowing'
  /** it waits, as TCP sends again what was not confirmed, and arrives once it flows again */
  | 'held'
  /** it is lost, and so is all that follows */
  | 'lost'

/** One way of a connection: what is sent arrives later, in order. */
export class OneWay {
  readonly #world: World
  readonly #latency: () => number
  #flow: Flow = 'flowing'
  #waiting: (() => void)[] = []
  /** When the last arrives: none overtakes it. */
  #arrivesAt = 0

  constructor(world: World, latency: () => number) {
    this.#world = world
    this.#latency = latency
  }

  /** What is under way arrives all the same; what is lost stays lost. */
  set flow(flow: Flow) {
    if (this.#flow === 'lost') return
    this.#flow = flow
    const waiting = this.#waiting
    if (flow === 'held') return
    this.#waiting = []
    if (flow === 'flowing') for (const arrive of waiting) this.send(arrive)
  }

  /** `arrive` is what happens when it arrives. */
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
