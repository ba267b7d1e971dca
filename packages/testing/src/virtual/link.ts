import type { ConnectionHandler, RuntimeConnection } from './virtual-runtime.ts'
import { type Flow, OneWay } from './one-way.ts'
import type { Route } from './route.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/** The server's end of a TCP connection. */
export interface ServerEnd {
  received(bytes: Uint8Array): void
  /** The client has closed the connection, or it was reset. */
  closed(): void
}

/** Returns the server's end, or undefined to refuse the connection. */
export type Accept = (link: Link) => ServerEnd | undefined

/** Returns a replacement for a segment of the server, or undefined to leave the segment as it is. */
export type Mangle = (segment: Uint8Array, isFirst: boolean) => Uint8Array | undefined

/** Called for events of a link. */
export interface LinkListener {
  /** The client's end receives nothing more. */
  over(): void
  sent(way: 'up' | 'down', bytes: Uint8Array): void
}

/** One TCP connection of a process to a server. Bytes arrive at the other end later, in order, and in pieces. */
export class Link implements RuntimeConnection {
  readonly process: SimProcess
  readonly route: Route
  readonly #handler: ConnectionHandler
  readonly #listener: LinkListener
  readonly #up: OneWay
  readonly #down: OneWay
  #server: ServerEnd | undefined
  /** Whether the client's end still receives. */
  #isOpen = true
  #hasSpoken = false
  #mangle: Mangle | undefined
  /** Whether it was reset so that everything that is under way is dropped. */
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

  /** Dials. The client's end is notified after the time to the server and back. */
  open(accept: Accept): void {
    this.#up.send(() => {
      if (this.#isReset) return
      this.#server = accept(this)
      if (this.#server === undefined) this.#lose('connect ECONNREFUSED')
      else this.#notify(() => this.#handler.opened())
    })
  }

  // --- the client's end: RuntimeConnection --------------------------------------------------------------------------

  /** Takes all bytes: a virtual network has no limit for bytes that wait. */
  write(bytes: Uint8Array): boolean {
    this.#listener.sent('up', bytes)
    // A copy, because the caller may change its bytes later.
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
    for (const piece of this.route.pieces(bytes)) this.#notify(() => this.#handler.received(piece))
  }

  /** The client receives all earlier bytes, and then the end; or a reset, by which it loses what is under way. */
  end(): void {
    this.#server = undefined
    if (!this.route.resetsAtEnd) return this.#lose('the server closed the connection')
    this.#isReset = true
    this.#lose('read ECONNRESET')
  }

  /** Earlier bytes may still arrive at the client. */
  resetByServer(): void {
    this.#server = undefined
    this.#lose('read ECONNRESET')
  }

  // --- faults -------------------------------------------------------------------------------------------------------

  /** Resets both ends, as a middlebox can: everything that is under way is lost. */
  reset(): void {
    this.#isReset = true
    this.#hangUp()
    this.process.arrive(() => this.#lost('read ECONNRESET'))
  }

  /** From now on everything that is sent this way, or both ways, is lost. Neither end notices. */
  loseForEver(way: 'up' | 'down' | 'both'): void {
    if (way !== 'down') this.#up.flow = 'lost'
    if (way !== 'up') this.#down.flow = 'lost'
  }

  /** Whether the server has sent anything. */
  get hasSpoken(): boolean {
    return this.#hasSpoken
  }

  /** Replaces one segment of the server: the next one for which `mangle` returns another. */
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

  #notify(event: () => void): void {
    this.#down.send(() => {
      this.process.arrive(() => {
        if (this.#isOpen && !this.#isReset) event()
      })
    })
  }
}
