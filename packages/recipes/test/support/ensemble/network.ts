import type { VirtualWorld } from '../outside.ts'

/** What is under way between clients and servers, frame by frame. */
export class Network {
  /** How long a frame from a server is under way, in ms. Those of clients arrive at once: so long is a round trip. */
  latency: () => number = () => 0
  /** Frames sent so far, either way. */
  frames = 0
  readonly #world: VirtualWorld
  readonly #actions = new Map<number, () => void>()

  constructor(world: VirtualWorld) {
    this.#world = world
  }

  /** Calls `act` just before the n-th frame from now, at least 1, arrives: all before it have been dealt with. */
  before(n: number, act: () => void): void {
    this.#actions.set(this.frames + n, act)
  }

  /** Takes back every `before`. */
  calm(): void {
    this.#actions.clear()
  }

  /** Sends a frame: `arrive` is what happens when it arrives, at `at` or now. */
  send(arrive: () => void, at = this.#world.now()): void {
    const frame = ++this.frames
    const go = () => {
      const action = this.#actions.get(frame)
      this.#actions.delete(frame)
      if (action !== undefined) this.#world.arrive(action)
      this.#world.arrive(arrive)
    }
    if (at <= this.#world.now()) go()
    else this.#world.setTimer(at - this.#world.now(), go)
  }
}
