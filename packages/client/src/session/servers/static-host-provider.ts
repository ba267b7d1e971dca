// The servers of a client in the order in which they are tried, and whether it moves when the list changes: so many clients
// move that every server has its share, by the rules of Java's StaticHostProvider (ZOOKEEPER-1355).
import type { ServerAddress } from '@zk/wire'
import type { Jitter } from './jitter.ts'

/**
 * Chooses the next server. `connect` has a provider of its own. Give it another one to decide by yourself, from a service
 * registry for instance. Its methods are called from timers: they must return at once, throw nothing and call nothing of the
 * client.
 */
export interface HostProvider {
  /** The number of servers, at least 1. Each gets its part of the time, and a round has so many attempts. */
  readonly size: number
  /** The next server to try. It is called again and again, in rounds. */
  next(): ServerAddress
  /** A session is established at this server. */
  connected(server: ServerAddress): void
  /** Takes a new list. True when the client must leave `current`, the server to which it is connected. */
  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean
}

/** Where to move after a change of the list, before the rounds begin again. */
interface Move {
  readonly added: ServerAddress[]
  readonly kept: ServerAddress[]
  /** The probability to try an added server. */
  readonly pAdded: number
}

export class StaticHostProvider implements HostProvider {
  readonly #jitter: Jitter
  #servers: readonly ServerAddress[]
  #next = 0
  #connected: ServerAddress | undefined
  #move: Move | undefined

  /** Shuffled once, then round robin: so clients spread, and each keeps its order. */
  constructor(servers: readonly ServerAddress[], jitter: Jitter) {
    this.#jitter = jitter
    this.#servers = jitter.shuffled(distinct(servers))
  }

  get size(): number {
    return this.#servers.length
  }

  next(): ServerAddress {
    const server = this.#takeMove() ?? this.#servers[this.#next % this.size]!
    this.#next = this.#servers.indexOf(server) + 1
    return server
  }

  connected(server: ServerAddress): void {
    this.#connected = server
    this.#move = undefined
  }

  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean {
    const old = this.#servers
    // A client that is moving when the list changes again counts at the server where the move would have ended.
    const isUnderWay = this.#move !== undefined
    const mine = isUnderWay ? this.next() : (current ?? this.#connected ?? old[0]!)
    const now = this.#jitter.shuffled(distinct(servers))
    const kept = now.filter((server) => includes(old, server))
    const added = now.filter((server) => !includes(old, server))
    const pAdded = this.#pAdded({
      old: old.length,
      kept: kept.length,
      now: now.length,
      isMineKept: includes(now, mine),
    })
    this.#servers = now
    const at = now.findIndex((server) => isSame(server, mine))
    // The target of the move comes first, the present server last.
    this.#next = isUnderWay ? Math.max(at, 0) : at + 1
    this.#move = pAdded === undefined ? undefined : { added, kept, pAdded }
    // During a move `current` is the server that is dialed. It may be gone although the target is kept.
    return pAdded !== undefined || (current !== undefined && !includes(now, current))
  }

  /** The probability to move to an added server; undefined to stay. */
  #pAdded({ old, kept, now, isMineKept }: Sizes): number | undefined {
    // The list has grown: from each old server as many clients leave as the new ones need.
    if (now > old) return isMineKept && this.#jitter.upTo(1) >= 1 - old / now ? undefined : 1
    if (isMineKept) return undefined
    // It has not, and our server is gone: the kept servers take as many of its clients as their share has grown.
    const pKept = old > kept ? (kept * (old - now)) / (now * (old - kept)) : 1
    return 1 - pKept
  }

  #takeMove(): ServerAddress | undefined {
    if (this.#move === undefined) return undefined
    const { added, kept, pAdded } = this.#move
    const wantsAdded = this.#jitter.upTo(1) < pAdded
    const server = wantsAdded || kept.length === 0 ? (added.shift() ?? kept.shift()) : kept.shift()
    if (server === undefined) this.#move = undefined
    return server
  }
}

interface Sizes {
  readonly old: number
  readonly kept: number
  readonly now: number
  readonly isMineKept: boolean
}

function isSame(one: ServerAddress, other: ServerAddress): boolean {
  return one.host === other.host && one.port === other.port
}

function includes(servers: readonly ServerAddress[], server: ServerAddress): boolean {
  return servers.some((each) => isSame(each, server))
}

/** A server that is listed twice has one share. */
function distinct(servers: readonly ServerAddress[]): ServerAddress[] {
  return servers.filter((server, index) => servers.findIndex((each) => isSame(each, server)) === index)
}
