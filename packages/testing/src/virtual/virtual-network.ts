import { checkKeys, checkMember, show } from '../connection/fault.ts'
import { type MemberLike, nameOf } from '../controls/test-network.ts'
import { checkDuration } from '../options.ts'
import type { Network } from './network.ts'
import type { Route } from './route.ts'
import type { SimProcess } from './sim-process.ts'
import type { VirtualProcess } from './virtual-process.ts'

/** The routes that are meant: between every given process and member. */
export interface RouteMatch {
  /** @default all processes that there are now */
  readonly process?: VirtualProcess | undefined
  /** A member, or its name. @default all */
  readonly member?: MemberLike | undefined
}

/**
 * The network between processes and members. What is on its way when a fault begins still arrives, unless the fault is a
 * reset. (`world.ensemble.network` is the one between members.)
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

  /** Nothing passes until `heal`. Neither end notices. What is sent waits, as TCP would repeat it. So do new connections. */
  cut(match: RouteMatch = {}): void {
    this.#hold(match, { up: true, down: true })
  }

  /** The same in one direction: for the `'requests'` of processes, or for the `'replies'` and watch events of members. */
  stall(way: 'requests' | 'replies', match: RouteMatch = {}): void {
    if (way !== 'requests' && way !== 'replies') {
      throw new TypeError(`what is stalled must be 'requests' or 'replies', not ${show(way)}`)
    }
    this.#hold(match, way === 'requests' ? { up: true } : { down: true })
  }

  /** One way takes up to `latency` ms until `heal`, or up to `clientLatency` where that is longer. */
  delay(latency: number, match: RouteMatch = {}): void {
    checkDuration('latency', latency)
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      this.#slowed.set(route, [...(this.#slowed.get(route) ?? []), route.slow(latency)])
    }
  }

  /** Everything passes again, at the usual pace. What has waited goes first. */
  heal(match: RouteMatch = {}): void {
    this.#hold(match, { up: false, down: false })
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      for (const end of this.#slowed.get(route) ?? []) end()
      this.#slowed.delete(route)
    }
  }

  /** Resets the present connections at both ends. What is on its way is lost. This also works where the network is cut. */
  reset(match: RouteMatch = {}): void {
    for (const [process, member] of this.#matching(match)) {
      const route = this.#network.route(process, member)
      // A copy of the list: connections that are dialed meanwhile are not reset.
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
