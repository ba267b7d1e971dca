import type { ConnectionHandler, RuntimeConnection } from '../../src/index.ts'

/** Where what is sent arrives later. */
interface Network {
  arrive(deliver: () => void): void
}

/** What a server receives of one TCP connection. */
export interface Peer {
  /** One write of the client. */
  received(segment: Uint8Array): void
  /** The client has closed it. */
  closed(): void
}

/** Decides what becomes of a client that dials: opens the link, loses it, or leaves it as it is. */
export interface Listener {
  dialed(link: Link): void
}

/** One TCP connection in memory, which a script may leave unopened or unread: those of @zk/testing are not stopped in between.
 * What one end sends arrives at the other in order, in a later turn of the world. */
export class Link implements RuntimeConnection {
  readonly #world: Network
  readonly #handler: ConnectionHandler
  #peer: Peer | undefined
  #isOpen = true
  /** What the client has written and the peer does not read; undefined while it reads. */
  #unread: Uint8Array[] | undefined

  constructor(world: Network, handler: ConnectionHandler) {
    this.#world = world
    this.#handler = handler
  }

  // --- the client's end -------------------------------------------------------------------------------------------

  write(bytes: Uint8Array): boolean {
    // A copy: what is on the network no longer changes.
    const segment = bytes.slice()
    if (this.#unread === undefined) this.#world.arrive(() => this.#peer?.received(segment))
    else this.#unread.push(segment)
    return this.#unread === undefined
  }

  close(): void {
    this.#isOpen = false
    this.#world.arrive(() => this.#peer?.closed())
  }

  // --- the server's end -------------------------------------------------------------------------------------------

  open(peer: Peer): void {
    this.#peer = peer
    this.#tell(() => this.#handler.opened())
  }

  /** Afterwards the memory is used again, as that of a socket is. */
  deliver(bytes: Uint8Array): void {
    const memory = bytes.slice()
    this.#tell(() => {
      this.#handler.received(memory)
      memory.fill(0xee)
    })
  }

  lose(error: Error): void {
    this.#tell(() => {
      this.#isOpen = false
      this.#handler.lost(error)
    })
  }

  /** Bytes of the client that the server has not read. */
  get unread(): number {
    return (this.#unread ?? []).reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  stopReading(): void {
    this.#unread ??= []
  }

  resumeReading(): void {
    const unread = this.#unread ?? []
    this.#unread = undefined
    for (const segment of unread) this.#world.arrive(() => this.#peer?.received(segment))
    this.#tell(() => this.#handler.drained())
  }

  #tell(news: () => void): void {
    this.#world.arrive(() => {
      if (this.#isOpen) news()
    })
  }
}
