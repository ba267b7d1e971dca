import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '@zk/client'
import { type ServerEnd, Random } from '@zk/testing/internal'
import { Cable } from './cable.ts'

/**
 * Timers longer than this, in ms, never fire: heartbeats and session timeouts, which no client must need for going on as long
 * as every loss of a connection is told. Pauses before the next connection are shorter.
 */
const LONGEST_DELAY = 1_000

export interface Timer {
  /** From 0, in the order in which they were set. */
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
 * The Runtime of one client. Its clock is its own and stands still, but for timers that fire: so what a client does depends
 * on nothing but what came to it, and in which order.
 */
export class ClientProcess implements Runtime {
  /** Those that one of their ends still has. */
  cables: Cable[] = []
  /** Calls of this Runtime, counted: what is left of promises after a drain would show here. */
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

  /** The timer to fire first, among those that may fire at all. */
  get nextTimer(): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (!timer.isLong && (next === undefined || timer.at < next.at)) next = timer
    return next
  }

  /** Whether its time has come. */
  isDue({ at }: Timer): boolean {
    return at <= this.#now
  }

  /** Its time comes, if it has not yet. */
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
