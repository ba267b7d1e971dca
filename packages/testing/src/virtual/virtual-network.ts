import { checkKeys, checkMember, show } from '../connection/fault.ts'
import { type MemberLike, nameOf } from '../controls/test-network.ts'
import { checkDuration } from '../options.ts'
import type { Network } from './network.ts'
import type { Route } from './route.ts'
import type { SimProcess } from './sim-process.ts'
import type { VirtualProcess } from './virtual-process.ts'

/** Selects routes: those between each given process and each given member. */
export interface RouteMatch {
  /** A process. @default all current processes */
  readonly process?: VirtualProcess | undefined
  /** A member, or its name. @default all */
  readonly member?: MemberLike | undefined
}

/**
 * The network between processes and members. Segments that are on their way when a fault begins still arrive, unless the
 * fault is a reset. (The network between members is `world.ensemble.network`.)
 *
 *     world.network.cut({ process: world.runtime, member: 'zk1' })
 *
 * Throws a `TypeError` or `RangeError` for a process or member that is not of this world.
 */
export class VirtualNetwork {
  readonly #network: Network
  readonly #processes: readonly SimProcess[]
  readonly #members: readonly string[]
  readonly #slowed = new Map<Route, (() => void)[]>()

  /** @internal */
  constructor(network: Network, processes: readonly SimProcess[], members: readonly string[]) {
    this.#network = network
    this.#processes = processes
    this.#members = members
  }

  /** Nothing passes until `heal`, and neither end notices. Segments and new connections wait, as TCP would repeat them. */
  cut(match: RouteMatch = {}): void {
    this.#hold(match, { up: true, down: true })
  }

  /** Does the same in one direction: for `'requests'` of processes, or for `'replies'` and watch events of members. */
  stall(way: 'requests' | 'replies', match: RouteMatch = {}): void {
    if (way !== 'requests' && way !== 'replies') {
      throw new TypeError(`what is stalled must be 'requests' or 'replies', not ${show(way)}`)
    }
    this.#hold(match, way === 'requests' ? { up: true } : { down: true })
  }

  /** In each direction a segment takes up to `latency` ms until `heal`, or up to `clientLatency` if that is longer. */
  delay(latency: number, match: RouteMatch = {}): void {
    checkDuration('latency', latency)
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      this.#slowed.set(route, [...(this.#slowed.get(route) ?? []), route.slow(latency)])
    }
  }

  /** Everything passes again, at the usual speed. What has waited comes first. */
  heal(match: RouteMatch = {}): void {
    this.#hold(match, { up: false, down: false })
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      for (const end of this.#slowed.get(route) ?? []) end()
      this.#slowed.delete(route)
    }
  }

  /** Resets the current connections at both ends. Segments on their way are lost. This works even if the network is cut. */
  reset(match: RouteMatch = {}): void {
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      // A copy of the list: connections that are opened meanwhile are not reset.
      const links = [...this.#network.linksOf(process)].filter((link) => link.route === route)
      for (const link of links) link.reset()
    }
  }

  #hold(match: RouteMatch, held: { readonly up?: boolean; readonly down?: boolean }): void {
    for (const [process, member] of this.#matching(match)) this.#network.hold(process, member, held)
  }

  #matching(match: RouteMatch): [process: SimProcess, member: string][] {
    checkKeys('a route', match, ['process', 'member'])
    const { process, member } = match
    if (member !== undefined) checkMember(nameOf(member), this.#members)
    const processes = this.#processes.filter((each) => process === undefined || each === process)
    if (processes.length === 0) throw new TypeError('process must be one of this world')
    const members = member === undefined ? this.#members : [nameOf(member)]
    return processes.flatMap((each) => members.map((name): [SimProcess, string] => [each, name]))
  }
}
