import { formatServer, type ServerAddress } from '@zk/wire'
import type { ConnectAttempt } from '../../errors.ts'
import type { Jitter } from './jitter.ts'
import { backoff, deadlines } from '../protocol/deadlines.ts'
import { ReadWriteSearch } from './read-write-search.ts'
import type { HostProvider } from './static-host-provider.ts'

/** A server, and one of its addresses if its host name was resolved. */
export interface Target extends ServerAddress {
  readonly address?: string
}

/** Chooses the next server and one of its addresses, and the pause before the attempt to connect. */
export class ServerPicker {
  readonly #provider: HostProvider
  readonly #jitter: Jitter
  readonly #attempts = new Map<string, ConnectAttempt>()
  /** The addresses of each server (`host:port`) that has more than one. */
  readonly #addresses = new Map<string, readonly string[]>()
  /** The addresses of the present server that were not tried yet. */
  #untried: Target[] = []
  #preferred: Target | undefined
  /** How many times `prefer` was called since the last connection that was not read-only. */
  #preferences = 0
  #failuresInRound = 0
  #failedRounds = 0

  constructor(provider: HostProvider, jitter: Jitter) {
    this.#provider = provider
    this.#jitter = jitter
  }

  /** The number of addresses of all servers. A server whose name was not resolved counts as one. */
  get size(): number {
    let { size } = this.#provider
    if (this.#addresses.size === 0) return size
    for (const { length } of this.#addresses.values()) size += length - 1
    return size
  }

  /** The last failed attempt at each address, since the last call of `lasted`. */
  get attempts(): readonly ConnectAttempt[] {
    return [...this.#attempts.values()]
  }

  /** The error of the last attempt at this target. */
  lastErrorAt(target: Target): Error | undefined {
    return this.#attempts.get(this.#keyOf(target))?.error
  }

  /** The next target. If it has no address, its host name must be resolved: see `resolved`. */
  next(): Target {
    const preferred = this.#preferred
    this.#preferred = undefined
    return preferred ?? this.#untried.shift() ?? this.#provider.next()
  }

  /** The next server to ask whether it takes writes. */
  nextToAsk(): ServerAddress {
    return this.#provider.next()
  }

  /** Makes this target the next one: it takes writes. */
  prefer(target: Target): void {
    this.#preferred = target
    this.#preferences++
  }

  /**
   * The search for a server that takes writes; undefined if the connection is not read-only. Its pauses are longer if earlier
   * searches found a server, but the session is at a read-only server again.
   */
  search(readOnly: boolean, now: number, T: number): ReadWriteSearch | undefined {
    if (readOnly) return new ReadWriteSearch(now, T, this.#jitter, this.#preferences)
    this.#preferences = 0
    return undefined
  }

  /** Takes the addresses of a server. Returns the address to try now. The others come next, in a random order. */
  resolved({ host, port }: ServerAddress, addresses: readonly string[]): Target | undefined {
    const name = formatServer({ host, port })
    this.#addresses.delete(name)
    if (addresses.length > 1) this.#addresses.set(name, addresses)
    // A host provider may have changed its servers, so the oldest entries are dropped.
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size > this.#provider.size) this.#addresses.delete(oldest!)
    const [first, ...others] = this.#jitter.shuffled(addresses).map((address) => ({ host, port, address }))
    this.#untried = others
    return first
  }

  connected(target: Target): void {
    this.#provider.connected({ host: target.host, port: target.port })
  }

  /** A connection was established for some time, or was left on purpose. Earlier failures do not count any more. */
  lasted(): void {
    this.#failuresInRound = 0
    this.#failedRounds = 0
    this.#attempts.clear()
    // The next attempt resolves the host name again.
    this.#untried = []
  }

  failed(target: Target, error: Error): void {
    const server = formatServer(target)
    const key = this.#keyOf(target)
    const attempts = (this.#attempts.get(key)?.attempts ?? 0) + 1
    this.#attempts.set(key, { server, ...(key === server ? {} : { address: target.address! }), attempts, error })
    if (++this.#failuresInRound < this.size) return
    this.#failuresInRound = 0
    this.#failedRounds++
  }

  /** The pause before the next attempt: none within a round over all servers, and a longer one after each failed round. */
  pause(T: number): number {
    if (this.#failuresInRound > 0) return 0
    const times = { T, servers: this.size }
    return this.#jitter.upTo(this.#failedRounds === 0 ? deadlines.reconnect(times) : backoff(this.#failedRounds, times))
  }

  /** Takes a new list. Returns whether the client must leave its present server. */
  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean {
    this.#untried = []
    this.#preferred = undefined
    this.#addresses.clear()
    this.#failuresInRound = 0
    this.#failedRounds = 0
    return this.#provider.update(servers, current)
  }

  /** The key of a target in `#attempts`. It has the address if the host name has several. */
  #keyOf(target: Target): string {
    const server = formatServer(target)
    return this.#addresses.has(server) && target.address !== undefined ? `${server} ${target.address}` : server
  }
}
