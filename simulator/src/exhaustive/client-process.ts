import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '@zk/client'
import { type ServerEnd, Random } from '@zk/testing/internal'
import { Cable } from './cable.ts'

/**
 * Timers longer than this, in ms, never fire: heartbeats and session timeouts. No client needs them to go on, as long as it
 * is notified of every lost connection. Pauses before the next connection are shorter.
 */
const LONGEST_DELAY = 1_000

export interface Timer {
  /** The number of the timer, from 0, in the order in which timers were set. */
  readonly number: number
  readonly at: number
  readonly isLong: boolean
  readonly callback: () => void
}

export interface ClientProcessOptions {
  readonly client: number
  readonly accept: (cable: Cable) => ServerEnd | undefined
  readonly keepsSegments: boolean
}

/**
 * The Runtime of one client. Its clock moves only when timers fire. So the actions of a client depend only on its inputs and
 * their order.
 */
export class ClientProcess implements Runtime {
  /** The connections that are open at one end at least. */
  cables: Cable[] = []
  /** How often this Runtime was called. A promise that goes on after a drain would show here. */
  activity = 0
  readonly #options: ClientProcessOptions
  readonly #random: Random
  readonly #timers = new Set<Timer>()
  #now = 0
  #dialed = 0
  #timersSet = 0

  constructor(options: ClientProcessOptions) {
    this.#options = options
    this.#random = new Random(1, `client ${options.client}`)
  }

  /** How many items are under way to the client. */
  get incoming(): number {
    return this.cables.reduce((sum, { down }) => sum + down.length, 0)
  }

  /** The timer to fire first, among those that may fire at all. */
  get nextTimer(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (!timer.isLong && (next === undefined || timer.at < next.at)) next = timer
    return next
  }

  /** Whether the timer is due. */
  isDue({ at }: Timer): boolean {
    return at <= this.#now
  }

  /** Makes the timer due, if it is not yet. */
  fire(timer: Timer): void {
    if (timer.at > this.#now) this.#now = timer.at
    this.#timers.delete(timer)
    timer.callback()
  }

  // --- Runtime ------------------------------------------------------------------------------------------------------

  now(): number {
    this.activity++
    return this.#now
  }

  wallNow(): number {
    this.activity++
    return this.#now
  }

  setTimer(delay: number, callback: () => void): () => void {
    this.activity++
    const timer = {
      number: this.#timersSet++,
      at: this.#now + Math.max(delay, 0),
      isLong: delay > LONGEST_DELAY,
      callback,
    }
    this.#timers.add(timer)
    return () => {
      this.activity++
      this.#timers.delete(timer)
    }
  }

  random(): number {
    this.activity++
    return this.#random.next()
  }

  uuid(): string {
    this.activity++
    return this.#random.uuid()
  }

  dial(_: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    this.activity++
    const cable = new Cable({ ...this.#options, number: ++this.#dialed, handler })
    this.cables.push(cable)
    return cable
  }
}
