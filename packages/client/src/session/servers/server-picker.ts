import { formatServer, type ServerAddress } from '@zk/wire'
import type { ConnectAttempt } from '../../errors.ts'
import type { Jitter } from './jitter.ts'
import { backoff, deadlines } from '../protocol/deadlines.ts'
import { ReadWriteSearch } from './read-write-search.ts'
import type { HostProvider } from './static-host-provider.ts'

/** A server, and which of its addresses where its name has been resolved. */
export interface Target extends ServerAddress {
  readonly address?: string
}

/** Which address of which server is next, and how long to pause before it. */
export class ServerPicker {
  readonly #provider: HostProvider
  readonly #jitter: Jitter
  readonly #attempts = new Map<string, ConnectAttempt>()
  /** Names with more than one address. */
  readonly #addresses = new Map<string, readonly string[]>()
  /** Addresses of the server under way that have not been tried yet. */
  #untried: Target[] = []
  #preferred: Target | undefined
  /** How many were found to be the right one since one was. */
  #preferences = 0
  #failuresInRound = 0
  #failedRounds = 0

  constructor(provider: HostProvider, jitter: Jitter) {
    this.#provider = provider
    this.#jitter = jitter
  }

  /** How many addresses there are, as far as names have been resolved. */
  get size(): number {
    let size = this.#provider.size
    for (const { length } of this.#addresses.values()) size += length - 1
    return size
  }

  /** How the last attempt at each address failed, since a connection last held. */
  get attempts(): readonly ConnectAttempt[] {
    return [...this.#attempts.values()]
  }

  /** How the last attempt there failed. */
  lastErrorAt(target: Target): Error | undefined {
    return this.#attempts.get(this.#keyOf(target))?.error
  }

  /** One without an address is to be resolved: see `resolved`. */
  next(): Target {
    const preferred = this.#preferred
    this.#preferred = undefined
    return preferred ?? this.#untried.shift() ?? this.#provider.next()
  }

  /** The next server to ask whether it takes writes. */
  nextToAsk(): ServerAddress {
    return this.#provider.next()
  }

  /** It has been found to be the right one: it comes next. */
  prefer(target: Target): void {
    this.#preferred = target
    this.#preferences++
  }

  /** The search that a connection calls for. It is slower the more often a server that was found did not accept us. */
  search(readOnly: boolean, now: number, T: number): ReadWriteSearch | undefined {
    if (readOnly) return new ReadWriteSearch(now, T, this.#jitter, this.#preferences)
    this.#preferences = 0
    return undefined
  }

  /** The addresses of a server: the one to try now. Those left come next, in an order of chance. */
  resolved({ host, port }: ServerAddress, addresses: readonly string[]): Target | undefined {
    const name = formatServer({ host, port })
    this.#addresses.delete(name)
    if (addresses.length > 1) this.#addresses.set(name, addresses)
    // A provider may go on to other names: those of long ago are none of its servers any more.
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size > this.#provider.size) this.#addresses.delete(oldest!)
    const [first, ...others] = this.#jitter.shuffled(addresses).map((address) => ({ host, port, address }))
    this.#untried = others
    return first
  }

  connected(target: Target): void {
    this.#provider.connected({ host: target.host, port: target.port })
  }

  /** A connection stood for a while: what failed before it no longer counts. */
  held(): void {
    this.#failuresInRound = 0
    this.#failedRounds = 0
    this.#attempts.clear()
    // The next attempt resolves the name anew.
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

  /** How long to pause before the next attempt: not at all within a round, longer after each failed round. */
  pause(T: number): number {
    if (this.#failuresInRound > 0) return 0
    const times = { T, servers: this.size }
    return this.#jitter.upTo(this.#failedRounds === 0 ? deadlines.reconnect(times) : backoff(this.#failedRounds, times))
  }

  /** Takes over a new list. True when the client is to leave the server where it is. */
  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean {
    this.#untried = []
    this.#preferred = undefined
    this.#addresses.clear()
    this.#failuresInRound = 0
    this.#failedRounds = 0
    return this.#provider.update(servers, current)
  }

  /** Its address belongs to it where its name has several. */
  #keyOf(target: Target): string {
    const server = formatServer(target)
    return this.#addresses.has(server) && target.address !== undefined ? `${server} ${target.address}` : server
  }
}
