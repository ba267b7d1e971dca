import type { ServerAddress } from '@zk/wire'
import type { ConnectAttempt } from '../errors.ts'
import type { Jitter } from './jitter.ts'
import { backoff, deadlines } from './deadlines.ts'

/** Which server is next, and how long to pause before it. Shuffled once, then round robin, as Java's StaticHostProvider. */
export class Hosts {
  readonly #servers: readonly ServerAddress[]
  readonly #jitter: Jitter
  readonly #attempts = new Map<string, ConnectAttempt>()
  #next = 0
  #failuresInRow = 0

  constructor(servers: readonly ServerAddress[], jitter: Jitter) {
    this.#servers = jitter.shuffled(servers)
    this.#jitter = jitter
  }

  get size(): number {
    return this.#servers.length
  }

  /** How the last attempt at each server failed, since a connection last held. */
  get attempts(): readonly ConnectAttempt[] {
    return [...this.#attempts.values()]
  }

  next(): ServerAddress {
    const server = this.#servers[this.#next % this.#servers.length]!
    this.#next++
    return server
  }

  /** A connection stood for a while: what failed before it no longer counts. */
  held(): void {
    this.#failuresInRow = 0
    this.#attempts.clear()
  }

  /** Notes a failed attempt and says how long to pause: not at all within a round, longer after each failed round. */
  failed(server: string, error: Error, T: number): number {
    const before = this.#attempts.get(server)?.attempts ?? 0
    this.#attempts.set(server, { server, attempts: before + 1, error })
    this.#failuresInRow++
    if (this.#failuresInRow % this.size !== 0) return 0
    const round = this.#failuresInRow / this.size
    return this.#jitter.upTo(backoff(round, { T, servers: this.size }))
  }

  /** How long to pause after a connection that had stood. */
  pauseAfterLoss(T: number): number {
    this.held()
    return this.#jitter.upTo(deadlines.reconnect({ T, servers: this.size }))
  }
}
