// A world in which nothing happens by itself: the clock moves when a test moves it, and the network is in memory.
import { formatServer } from '@zk/wire'
import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '../../src/index.ts'
import { Link, type Listener } from './link.ts'
import { SeededRandom } from './random.ts'

/** When the world begins by the clock on the wall; its other clock begins at 0. */
const WALL_START = Date.UTC(2024, 0, 1)
/** A world that needs more turns at one instant never comes to rest. */
const MOST_TURNS = 10_000

interface Timer {
  readonly at: number
  readonly callback: () => void
}

export class VirtualWorld implements Runtime {
  /** Every attempt to connect: to which server, and when. */
  readonly dials: { readonly server: string; readonly at: number }[] = []
  /** How far the clock on the wall has been set, in ms. */
  wallOffset = 0
  readonly #random: SeededRandom
  readonly #listeners = new Map<string, Listener>()
  readonly #timers = new Set<Timer>()
  #arrived: (() => void)[] = []
  #now = 0

  constructor(seed = 1) {
    this.#random = new SeededRandom(seed)
  }

  // --- for the test -----------------------------------------------------------------------------------------------

  /** Lets `ms` pass: timers fire in order, and everything they cause happens. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.settle()
    for (let next = this.#nextTimer(); next <= end; next = this.#nextTimer()) {
      this.#now = next
      await this.settle()
    }
    this.#now = end
  }

  /** Lets everything happen that is due now, until nothing is. The clock stands still. */
  async settle(): Promise<void> {
    await drainMicrotasks()
    for (let turns = 0; this.#arrived.length > 0 || this.#nextTimer() <= this.#now; turns++) {
      if (turns === MOST_TURNS)
        throw new Error(`after ${MOST_TURNS} turns there is still something to do at ${this.#now} ms`)
      await this.#turn()
    }
  }

  /** The process stands still: time passes, and no timer fires nor is a byte read until the next `settle`. */
  stall(ms: number): void {
    this.#now += ms
  }

  /** Timers that are set. */
  get timers(): number {
    return this.#timers.size
  }

  // --- for the network --------------------------------------------------------------------------------------------

  /** From now on the listener decides about connections to `server` (`host:port`). */
  listen(server: string, listener: Listener): void {
    this.#listeners.set(server, listener)
  }

  /** Something comes in over the network, in the next turn. */
  arrive(callback: () => void): void {
    this.#arrived.push(callback)
  }

  // --- for the client: Runtime ------------------------------------------------------------------------------------

  now(): number {
    return this.#now
  }

  wallNow(): number {
    return WALL_START + this.#now + this.wallOffset
  }

  setTimer(delay: number, callback: () => void): () => void {
    // Whole milliseconds, as the timers of the machine.
    const timer = { at: this.#now + Math.max(Math.ceil(delay), 0), callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  random(): number {
    return this.#random.next()
  }

  uuid(): string {
    return this.#random.uuid()
  }

  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    const server = formatServer(target)
    this.dials.push({ server, at: this.#now })
    const link = new Link(this, handler)
    const listener = this.#listeners.get(server)
    if (listener === undefined) link.lose(new Error(`getaddrinfo ENOTFOUND ${target.host}`))
    else listener.dialed(link)
    return link
  }

  /** One turn of the event loop, in the order of Node: timers that are due, then what the network brought. */
  async #turn(): Promise<void> {
    const due = [...this.#timers].filter(({ at }) => at <= this.#now).sort((one, other) => one.at - other.at)
    for (const timer of due) {
      if (!this.#timers.delete(timer)) continue
      timer.callback()
      await drainMicrotasks()
    }
    const arrived = this.#arrived
    this.#arrived = []
    for (const callback of arrived) {
      callback()
      await drainMicrotasks()
    }
  }

  #nextTimer(): number {
    return Math.min(...[...this.#timers].map(({ at }) => at))
  }
}

/** A turn of the real event loop: every promise that can settle has settled by then. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
