// What arrives at a client, in segments of several frames.
import type { ConnectionHandler, Runtime } from '@zk/client'
import type { VirtualWorld } from './outside.ts'

/** Can join what arrives at a client to one segment: the network delivers frame by frame. */
export class Segments {
  readonly runtime: Runtime
  /** Undefined: everything is delivered as it arrives. */
  #held: Uint8Array[] | undefined
  #deliver: (bytes: Uint8Array) => void = () => {}

  constructor(world: VirtualWorld) {
    const received = (bytes: Uint8Array, handler: ConnectionHandler) => {
      if (this.#held === undefined) return handler.received(bytes)
      this.#deliver = (joined) => handler.received(joined)
      this.#held.push(bytes.slice())
    }
    this.runtime = {
      now: () => world.now(),
      wallNow: () => world.wallNow(),
      setTimer: (delay, callback) => world.setTimer(delay, callback),
      random: () => world.random(),
      uuid: () => world.uuid(),
      dial: (target, handler) =>
        world.dial(target, {
          opened: () => handler.opened(),
          received: (bytes) => received(bytes, handler),
          drained: () => handler.drained(),
          lost: (error) => handler.lost(error),
        }),
    }
  }

  /** Holds back what arrives from now on. */
  hold(): void {
    this.#held = []
  }

  /** Delivers everything that was held back, in one segment. */
  deliver(): void {
    const held = this.#held!
    this.#held = undefined
    if (held.length > 0) this.#deliver(Buffer.concat(held))
  }
}
