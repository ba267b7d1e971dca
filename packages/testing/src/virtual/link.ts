import type { ConnectionHandler, RuntimeConnection } from './virtual-runtime.ts'
import { type Flow, OneWay } from './one-way.ts'
import type { Route } from './route.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/** The server's end of a TCP connection. */
export interface ServerEnd {
  received(bytes: Uint8Array): void
  /** The client has closed it, or it was reset. */
  closed(): void
}

/** Gives the server's end, or undefined where the connection is refused. */
export type Accept = (link: Link) => ServerEnd | undefined

/** Makes another segment of one that a server sends; undefined to leave it as it is. */
export type Mangle = (segment: Uint8Array, isFirst: boolean) => Uint8Array | undefined

/** Told of a link. */
export interface LinkListener {
  /** The client's end has heard the last of it. */
  over(): void
  sent(way: 'up' | 'down', bytes: Uint8Array): void
}

/** One TCP connection of a process to a server. What one end sends arrives at the other later, in order, in pieces. */
export class Link implements RuntimeConnection {
  readonly process: SimProcess
  readonly route: Route
  readonly #handler: ConnectionHandler
  readonly #listener: LinkListener
  readonly #up: OneWay
  readonly #down: OneWay
  #server: ServerEnd | undefined
  /** Whether the client's end is still there to be told of anything. */
  #isOpen = true
  #hasSpoken = false
  #mangle: Mangle | undefined
  /** Both ends were reset: what is under way no longer counts. */
  #isReset = false

  constructor(world: World, process: SimProcess, route: Route, handler: ConnectionHandler, listener: LinkListener) {
    this.process = process
    this.route = route
    this.#handler = handler
    this.#listener = listener
    this.#up = new OneWay(world, route.delay)
    this.#down = new OneWay(world, route.delay)
    this.followRoute()
  }

  /** Dials: there and back again before the client's end is told. */
  open(accept: Accept): void {
    this.#up.send(() => {
      if (this.#isReset) return
      this.#server = accept(this)
      if (this.#server === undefined) this.#lose('connect ECONNREFUSED')
      else this.#tell(() => this.#handler.opened())
    })
  }

  // --- the client's end: RuntimeConnection --------------------------------------------------------------------------

  /** Takes everything: bytes that wait for a network are few here. */
  write(bytes: Uint8Array): boolean {
    this.#listener.sent('up', bytes)
    // A copy: what is on the network no longer changes.
    for (const piece of this.route.pieces(bytes.slice())) this.#up.send(() => this.#server?.received(piece))
    return true
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#up.send(() => this.#hangUp())
    this.#listener.over()
  }

  // --- the server's end ---------------------------------------------------------------------------------------------

  deliver(segment: Uint8Array): void {
    const bytes = this.#mangled(segment)
    this.#hasSpoken = true
    this.#listener.sent('down', bytes)
    for (const piece of this.route.pieces(bytes)) this.#tell(() => this.#handler.received(piece))
  }

  /** Behind what was sent. */
  end(): void {
    this.#server = undefined
    this.#lose('the server closed the connection')
  }

  /** What was sent may still arrive before it. */
  resetByServer(): void {
    this.#server = undefined
    this.#lose('read ECONNRESET')
  }

  // --- what befalls it ----------------------------------------------------------------------------------------------

  /** A middlebox resets both ends: what is under way is lost. */
  reset(): void {
    this.#isReset = true
    this.#hangUp()
    this.process.arrive(() => this.#lost('read ECONNRESET'))
  }

  /** From now on what is sent this way, or both, is lost, and neither end notices. */
  loseForEver(way: 'up' | 'down' | 'both'): void {
    if (way !== 'down') this.#up.flow = 'lost'
    if (way !== 'up') this.#down.flow = 'lost'
  }

  /** Whether the server has said anything. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /** The next segment of the server that this makes another of comes as that. */
  mangle(mangle: Mangle): void {
    this.#mangle = mangle
  }

  followRoute(): void {
    const flow = (isHeld: boolean): Flow => (isHeld ? 'held' : 'flowing')
    this.#up.flow = flow(this.route.held.up)
    this.#down.flow = flow(this.route.held.down)
  }

  #mangled(segment: Uint8Array): Uint8Array {
    const other = this.#mangle?.(segment, !this.#hasSpoken)
    if (other !== undefined) this.#mangle = undefined
    return other ?? segment
  }

  #hangUp(): void {
    this.#server?.closed()
    this.#server = undefined
  }

  #lose(why: string): void {
    this.#down.send(() => this.process.arrive(() => this.#lost(why)))
  }

  #lost(why: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#listener.over()
    this.#handler.lost(new Error(why))
  }

  #tell(news: () => void): void {
    this.#down.send(() => {
      this.process.arrive(() => {
        if (this.#isOpen && !this.#isReset) news()
      })
    })
  }
}
