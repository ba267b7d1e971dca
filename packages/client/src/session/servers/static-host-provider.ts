// The order in which a client tries its servers, and whether the client moves to another server when the list changes. Just
// enough clients move to give each server an equal share, by the rules of Java's StaticHostProvider (ZOOKEEPER-1355).
import type { ServerAddress } from '@zk/wire'
import type { Jitter } from './jitter.ts'
import { distinct, includes, isSame } from './server-lists.ts'

/**
 * Chooses the next server. `connect` makes a host provider from its list of servers, unless you pass your own, for instance one
 * that asks a service registry. Its methods are called from timers: they must return at once, must not throw, and must not call
 * the client.
 */
export interface HostProvider {
  /** The number of servers, at least 1. It is the number of attempts in a round, and divides the time of a round. */
  readonly size: number
  /** The next server to try. Called for each attempt, in rounds over all servers. */
  next(): ServerAddress
  /** A session is established on this server. */
  connected(server: ServerAddress): void
  /** Takes a new list. Returns whether the client must leave `current`, the server to which it is connected. */
  update(servers: readonly ServerAddress[], current: ServerAddress | undefined): boolean
}

/** The servers to try after a change of the list, before the rounds begin again. */
interface Move {
  readonly added: ServerAddress[]
  readonly kept: ServerAddress[]
  /** The probability with which an added server is tried instead of a kept one. */
  readonly pAdded: number
}

export class StaticHostProvider implements HostProvider {
  readonly #jitter: Jitter
  #servers: readonly ServerAddress[]
  #next = 0
  #connected: ServerAddress | undefined
  #move: Move | undefined

  /** Shuffles the list once, then takes the servers in turn. So clients are spread over the servers. */
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
    // If the client is still moving after an earlier change, it counts as a client of the server to which it moves.
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
    // During a move its target is tried first. Otherwise the current server is tried last.
    this.#next = isUnderWay ? Math.max(at, 0) : at + 1
    this.#move = pAdded === undefined ? undefined : { added, kept, pAdded }
    // During a move `current` is the server that is dialed. The new list may lack it although it has the target of the move.
    return pAdded !== undefined || (current !== undefined && !includes(now, current))
  }

  /** The probability with which the client moves to an added server instead of a kept one; undefined if it stays. */
  #pAdded({ old, kept, now, isMineKept }: Sizes): number | undefined {
    // The list has grown. From each old server just enough clients move to give each new server its share.
    if (now > old) return isMineKept && this.#jitter.upTo(1) >= 1 - old / now ? undefined : 1
    if (isMineKept) return undefined
    // The list has not grown, and our server is gone. Kept servers take just enough of its clients to have their new share.
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
