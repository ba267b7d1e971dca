import { formatServer, type ServerAddress } from '@zk/wire'
import type { ConnectAttempt } from '../../base/errors.ts'
import type { Jitter } from './jitter.ts'
import { backoff, deadlines } from '../protocol/deadlines.ts'
import { isSame, type ListSource, type ServerLists } from './server-lists.ts'
import type { HostProvider } from './static-host-provider.ts'

/** A server, and one of its addresses if its host name was resolved. */
export interface Target extends ServerAddress {
  readonly address?: string
}

/** The server without its address: an attempt looks its name up. */
export const serverOf = ({ host, port }: Target): ServerAddress => ({ host, port })

/** Chooses the next server and one of its addresses, and the pause before the attempt to connect. */
export class ServerPicker {
  readonly #provider: HostProvider
  readonly #jitter: Jitter
  readonly #attempts = new Map<string, ConnectAttempt>()
  /** The addresses of each server (`host:port`) that has more than one. */
  readonly #addresses = new Map<string, readonly string[]>()
  readonly #lists: ServerLists
  /** Whether fallbacks are tried: not if the program has its own host provider. */
  readonly #fallsBack: boolean
  /** The addresses of the current server that were not tried yet. */
  #untried: Target[] = []
  /** The targets to try first. */
  #preferred: Target[] = []
  /** The servers that were skipped because no address of their name was known. */
  #postponed: ServerAddress[] = []
  /** How many servers of this round had their turn. */
  #turns = 0
  #foundSinceWrites = 0
  #failuresInRound = 0
  #failedRounds = 0
  #slowRounds = 0
  /** The targets that closed the connection at the handshake, since one has answered or failed in another way. */
  readonly #closed = new Set<string>()
  /** Whether an attempt of this round ran out of time. */
  #isRoundSlow = false

  constructor(
    provider: HostProvider,
    jitter: Jitter,
    { lists, fallsBack }: { lists: ServerLists; fallsBack: boolean },
  ) {
    this.#provider = provider
    this.#jitter = jitter
    this.#lists = lists
    this.#fallsBack = fallsBack
  }

  /** The number of addresses of all servers. A server whose name was not resolved counts as one. */
  get size(): number {
    let size = this.#servers
    if (this.#addresses.size === 0) return size
    for (const { length } of this.#addresses.values()) size += length - 1
    return size
  }

  /** The last failed attempt at each address, since the last call of `lasted`. */
  get attempts(): readonly ConnectAttempt[] {
    return [...this.#attempts.values()]
  }

  /** How many failed rounds had an attempt that ran out of time, since the last call of `lasted`. */
  get slowRounds(): number {
    return this.#slowRounds
  }

  /** The error of the last attempt at this target. */
  lastErrorAt(target: Target): Error | undefined {
    return this.#attempts.get(this.#keyOf(target))?.error
  }

  /** The next target. If it has no address, its host name must be resolved: see `resolved`. */
  next(): Target {
    return this.#preferred.shift() ?? this.#untried.shift() ?? this.nextInTurn()
  }

  /** The next server of the current list. */
  nextListed(): ServerAddress {
    return this.#provider.next()
  }

  /** The next server of a round: the servers of the list come first, and then the fallbacks. */
  nextInTurn(): ServerAddress {
    if (this.#turns >= this.#servers) this.#turns = 0
    const fallback = this.#fallbacks[this.#turns++ - this.#provider.size]
    return fallback ?? this.#provider.next()
  }

  /** The number of servers in a round. */
  get #servers(): number {
    return this.#provider.size + this.#fallbacks.length
  }

  get #fallbacks(): readonly ServerAddress[] {
    return this.#fallsBack ? this.#lists.fallbacks : []
  }

  /** Makes this target the next one, and `orElse` the one after it, if that fails. */
  prefer(target: Target, orElse?: Target): void {
    this.#preferred = orElse === undefined ? [target] : [target, orElse]
  }

  /** The number of servers in the current list. */
  get listed(): number {
    return this.#provider.size
  }

  /** Whether a server is in the current list. */
  isListed(server: ServerAddress): boolean {
    return this.#lists.present.some((each) => isSame(each, server))
  }

  /** How many searches have found a server that takes writes since the session was last connected to such a server. */
  get foundSinceWrites(): number {
    return this.#foundSinceWrites
  }

  /** A search has found a server that takes writes. */
  foundWrites(): void {
    this.#foundSinceWrites++
  }

  /** The session is connected to a server that takes writes. */
  takesWrites(): void {
    this.#foundSinceWrites = 0
  }

  /** Whether a server is not in the current list, but is tried when no server of the list can be reached. */
  isFallback(server: ServerAddress): boolean {
    return this.#fallbacks.some((each) => isSame(each, server))
  }

  /** The server is skipped, because no address of its name is known. */
  postponed({ host, port }: ServerAddress): void {
    const server = { host, port }
    this.#forgetPostponed(server)
    this.#postponed.push(server)
    if (this.#postponed.length > this.#servers) this.#postponed.shift()
  }

  /** A name has addresses. Returns whether servers were skipped for lack of them: those servers are tried next. */
  found(host: string, addresses: readonly string[]): boolean {
    const ready = this.#postponed.filter((server) => server.host === host)
    this.#postponed = this.#postponed.filter((server) => server.host !== host)
    for (const server of ready) {
      this.#note(server, addresses)
      this.#preferred.unshift(...this.#targetsOf(server, addresses))
    }
    return ready.length > 0
  }

  /** Takes the addresses of a server. Returns the address to try now. The others come next, in a random order. */
  resolved(server: ServerAddress, addresses: readonly string[]): Target | undefined {
    this.#forgetPostponed(server)
    this.#note(server, addresses)
    const [first, ...others] = this.#targetsOf(server, addresses)
    this.#untried = others
    return first
  }

  /** One of the addresses of a server, at random. */
  anyOf(server: ServerAddress, addresses: readonly string[]): Target {
    return {
      host: server.host,
      port: server.port,
      address: addresses[Math.floor(this.#jitter.upTo(addresses.length))]!,
    }
  }

  #forgetPostponed(server: ServerAddress): void {
    this.#postponed = this.#postponed.filter((each) => !isSame(each, server))
  }

  #targetsOf({ host, port }: ServerAddress, addresses: readonly string[]): Target[] {
    return this.#jitter.shuffled(addresses).map((address) => ({ host, port, address }))
  }

  #note({ host, port }: ServerAddress, addresses: readonly string[]): void {
    const name = formatServer({ host, port })
    this.#addresses.delete(name)
    if (addresses.length > 1) this.#addresses.set(name, addresses)
    // A host provider may have changed its servers, so the oldest entries are dropped.
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size > this.#servers) this.#addresses.delete(oldest!)
  }

  connected({ host, port }: Target): void {
    const server = { host, port }
    this.#provider.connected(server)
    this.#lists.worked(server)
    this.#preferred = []
    this.#postponed = []
    this.#closed.clear()
  }

  /** A connection was established for some time, or was left on purpose. Earlier failures do not count any more. */
  lasted(): void {
    this.#beginAnew()
    this.#attempts.clear()
    // The next attempt resolves the host name again.
    this.#untried = []
  }

  /** Earlier rounds do not count any more. */
  #beginAnew(): void {
    this.#failuresInRound = 0
    this.#failedRounds = 0
    this.#slowRounds = 0
    this.#isRoundSlow = false
    this.#turns = 0
  }

  /** The attempt under way, which fails now, ran out of time. */
  tooSlow(): void {
    this.#isRoundSlow = true
  }

  failed(target: Target, error: Error): void {
    const server = formatServer(target)
    const key = this.#keyOf(target)
    const attempts = (this.#attempts.get(key)?.attempts ?? 0) + 1
    this.#attempts.set(key, { server, ...(key === server ? {} : { address: target.address! }), attempts, error })
    if (++this.#failuresInRound < this.size) return
    this.#failuresInRound = 0
    this.#failedRounds++
    if (this.#isRoundSlow) this.#slowRounds++
    this.#isRoundSlow = false
  }

  /**
   * An attempt at this target has failed: the server closed the connection at the handshake, or something else went wrong.
   * Returns whether every server has closed it, one after the other.
   */
  hasClosed(target: Target, atHandshake: boolean): boolean {
    if (atHandshake) this.#closed.add(this.#keyOf(target))
    else this.#closed.clear()
    return this.#closed.size >= this.size
  }

  /** The pause before the next attempt: none within a round over all servers, and a longer one after each failed round. */
  pause(T: number): number {
    if (this.#failuresInRound > 0) return 0
    const times = { T, servers: this.size }
    return this.#jitter.upTo(this.#failedRounds === 0 ? deadlines.reconnect(times) : backoff(this.#failedRounds, times))
  }

  /** Takes a new list. Returns whether the client should leave its current server. */
  update(servers: readonly ServerAddress[], source: ListSource, current: ServerAddress | undefined): boolean {
    this.#lists.replace(servers, source)
    this.#untried = []
    this.#preferred = []
    this.#postponed = []
    this.#addresses.clear()
    this.#closed.clear()
    this.#beginAnew()
    return this.#provider.update(servers, current)
  }

  /** The key of a target in `#attempts`. It has the address if the host name has several. */
  #keyOf(target: Target): string {
    const server = formatServer(target)
    return this.#addresses.has(server) && target.address !== undefined ? `${server} ${target.address}` : server
  }
}
