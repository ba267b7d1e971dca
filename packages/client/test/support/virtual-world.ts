// The virtual world of @zk/testing with one process in it. Time passes only when a test lets it pass.
import { formatServer } from '@zk/wire'
import { SimProcess, Waits, World } from '@zk/testing/internal'
import type { ConnectionHandler, DialTarget, RuntimeConnection } from '../../src/index.ts'
import { Link, type Listener } from './link.ts'
import { SeededRandom } from './random.ts'

/** Resolves when no microtask is left, however long the chains of promises are. */
const drain = () => new Promise<void>((resolve) => setImmediate(resolve))

export class VirtualWorld extends SimProcess {
  /** Every attempt to connect: to which server, and when. */
  readonly dials: { readonly server: string; readonly at: number }[] = []
  readonly #listeners = new Map<string, Listener>()
  readonly #world: World
  readonly #waits: Waits

  constructor(seed = 1) {
    // Its servers live by its timers.
    const world = new World({ deadline: () => Infinity, elapse() {} }, drain)
    const dialer = {
      dial: (self: SimProcess, target: DialTarget, handler: ConnectionHandler) =>
        (self as VirtualWorld).#dial(target, handler),
      killed: () => {},
    }
    super(world, { name: 'client', random: new SeededRandom(seed), dialer, clockRate: 1, leastDelay: 0 })
    this.#world = world
    this.#waits = new Waits(world)
  }

  /** Lets `ms` pass: timers fire in order, and everything they cause happens. */
  advance(ms: number): Promise<void> {
    return this.#waits.elapse(ms)
  }

  /** Lets everything happen that is due now, until nothing is. The clock stands still. */
  settle(): Promise<void> {
    return this.advance(0)
  }

  /** The process stands still: time passes, and no timer fires nor is a byte read until the next `settle`. */
  override stall(ms: number): void {
    super.stall(ms)
    this.#world.jump(ms)
  }

  /** From now on the listener decides about connections to `server` (`host:port`). */
  listen(server: string, listener: Listener): void {
    this.#listeners.set(server, listener)
  }

  /** Something comes in over the network, in the next turn. */
  override arrive(callback: () => void): void {
    this.#world.at(this.#world.now, () => super.arrive(callback))
  }

  /** Calls `action` in `delay` ms. It must settle no promise of the process: microtasks are not awaited after it. */
  elsewhere(delay: number, action: () => void): () => void {
    return this.#world.after(delay, action)
  }

  #dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    const server = formatServer(target)
    this.dials.push({ server, at: this.#world.now })
    const link = new Link(this, handler)
    const listener = this.#listeners.get(server)
    if (listener === undefined) link.lose(new Error(`getaddrinfo ENOTFOUND ${target.host}`))
    else listener.dialed(link)
    return link
  }
}
