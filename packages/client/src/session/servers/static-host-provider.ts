// The servers of a client in the order they are tried, and whether it moves when the list changes: as many clients as it takes
// for every server to have its share, by the rules of Java's StaticHostProvider (ZOOKEEPER-1355).
import type { ServerAddress } from '@zk/wire'
import type { Jitter } from './jitter.ts'

/**
 * Which server is next. `connect` has one of its own; give it another to decide yourself, from a service registry for
 * instance. Its methods are called from timers: they answer at once, throw nothing and call nothing of the client.
 */
export interface HostProvider {
  /** How many servers there are, at least 1: each gets its part of the time, and a round has so many attempts. */
  readonly size: number
  /** The server to try now; again and again, in rounds. */
  next(): ServerAddress
  /** A session stands at this server. */
  connected(server: ServerAddress): void
  /** Takes over a new list. True when the client is to leave `current`, the server it is connected to. */
  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean
}

/** Where to go after a change of the list, before the rounds begin again. */
interface Move {
  readonly added: ServerAddress[]
  readonly kept: ServerAddress[]
  /** The probability to try one of the added. */
  readonly pAdded: number
}

export class StaticHostProvider implements HostProvider {
  readonly #jitter: Jitter
  #servers: readonly ServerAddress[]
  #next = 0
  #connected: ServerAddress | undefined
  #move: Move | undefined

  /** Shuffled once, then round robin: clients spread, each keeps its order. */
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
    // Under way from one list to the next: it stands for the server where the move would have ended.
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
    // Where it was going to it goes first; where it is, last.
    this.#next = isUnderWay ? Math.max(at, 0) : at + 1
    this.#move = pAdded === undefined ? undefined : { added, kept, pAdded }
    // On the way `current` is where it is being dialed: it may be gone though the server stood for is kept.
    return pAdded !== undefined || (current !== undefined && !includes(now, current))
  }

  /** The probability to go to an added server; undefined to stay. */
  #pAdded({ old, kept, now, isMineKept }: Sizes): number | undefined {
    // The list grew: of each old server's clients as many leave as the new ones need.
    if (now > old) return isMineKept && this.#jitter.upTo(1) >= 1 - old / now ? undefined : 1
    if (isMineKept) return undefined
    // It did not, and ours is gone: the kept ones take as many of its clients as their share has grown by.
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

/** One that is named twice has no share for two. */
function distinct(servers: readonly ServerAddress[]): ServerAddress[] {
  return servers.filter((server, index) => servers.findIndex((each) => isSame(each, server)) === index)
}
