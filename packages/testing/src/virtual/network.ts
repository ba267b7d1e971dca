import type { ConnectionHandler, DialTarget, RuntimeConnection } from './virtual-runtime.ts'
import { type Accept, Link } from './link.ts'
import type { Random } from './random.ts'
import { Route, type RouteOptions } from './route.ts'
import type { Dialer, SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/** The port on which every server listens. */
export const PORT = 2181

/** Called for every segment when it is sent. */
export type Observer = (
  sent: { readonly at: number; readonly process: string; readonly host: string; readonly way: 'up' | 'down' },
  bytes: Uint8Array,
) => void

/** The connections of processes to servers. */
export class Network implements Dialer {
  readonly #world: World
  readonly #random: Random
  readonly #options: RouteOptions
  readonly #listeners = new Map<string, (process: SimProcess) => Accept>()
  readonly #routes = new Map<SimProcess, Map<string, Route>>()
  readonly #links = new Map<SimProcess, Set<Link>>()

  readonly #observer: Observer | undefined

  constructor(world: World, random: Random, options: RouteOptions, observer?: Observer) {
    this.#world = world
    this.#random = random
    this.#options = options
    this.#observer = observer
  }

  /** From now on `accept` decides whether a connection to this host is accepted. */
  listen(host: string, accept: (process: SimProcess) => Accept): void {
    this.#listeners.set(host, accept)
  }

  dial(
    process: SimProcess,
    { host: name, address: host = name, port, tls }: DialTarget,
    handler: ConnectionHandler,
  ): RuntimeConnection {
    if (tls !== undefined) throw new Error('a virtual world has no TLS: connect without it')
    const accept = port === PORT ? this.#listeners.get(host)?.(process) : undefined
    const links = this.linksOf(process)
    const link: Link = new Link(this.#world, process, this.route(process, host), handler, {
      over: () => links.delete(link),
      sent: (way, bytes) => this.#observer?.({ at: this.#world.now, process: process.name, host, way }, bytes),
    })
    links.add(link)
    link.open((opening) => accept?.(opening))
    return link
  }

  /** The links of the process that are open or being opened. */
  linksOf(process: SimProcess): Set<Link> {
    let links = this.#links.get(process)
    if (links === undefined) this.#links.set(process, (links = new Set()))
    return links
  }

  route(process: SimProcess, host: string): Route {
    let routes = this.#routes.get(process)
    if (routes === undefined) this.#routes.set(process, (routes = new Map()))
    let route = routes.get(host)
    if (route === undefined) {
      route = new Route(this.#random, this.#options)
      routes.set(host, route)
    }
    return route
  }

  /** Holds segments back, or lets them through again: `up` is from the process to the server, `down` the other way. */
  hold(process: SimProcess, host: string, held: { readonly up?: boolean; readonly down?: boolean }): void {
    const route = this.route(process, host)
    Object.assign(route.held, held)
    for (const link of this.linksOf(process)) if (link.route === route) link.followRoute()
  }

  /** The machine of a killed process closes its connections, unless the machine has failed, too. */
  killed(process: SimProcess, isMachineGone: boolean): void {
    for (const link of this.linksOf(process)) {
      if (isMachineGone) link.loseForEver('both')
      else link.close()
    }
  }
}
