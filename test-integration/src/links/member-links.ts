// All traffic between the members of an ensemble passes this process, which can hold it back in one direction or both.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../ensemble/free-ports.ts'
import { Gate } from '../gate.ts'

/** A node of an ensemble, or its number. */
export interface Member {
  /** `myid`, from 1. */
  readonly id: number
}

export interface MemberLinksOptions {
  /** The address at which members reach this process. */
  readonly host: string
  /** The addresses of the members. A member listens on its address and connects from it, so this identifies it. */
  readonly addresses: readonly string[]
}

/** One port for the quorum, one for elections. */
const PORTS_PER_MEMBER = 2

/**
 * How long we try to reach a member, in ms. A follower tries again if a new leader does not listen yet
 * (Learner.LeaderConnector). Here something always listens, so this process tries again instead. If a connection ended at
 * once, the follower would begin another election, and the leader would wait for its initLimit.
 */
const PATIENCE = 3_000
const PAUSE = 20

/**
 * Stands between the members of an ensemble. A link is all present and future connections between two members, for the
 * quorum and for elections, whichever member opened them. Each of its two directions can be held separately.
 *
 *     links.hold(leader, follower)
 *     links.release(leader, follower)
 */
export class MemberLinks implements AsyncDisposable {
  /** The peer address of each member, as `host:quorumPort:electionPort`. Each member listens on these ports. */
  readonly meetingPoints: readonly string[]
  readonly #addresses: readonly string[]
  readonly #listeners: readonly Server[]
  readonly #connections = new Set<LinkConnection>()
  /** Accepted sockets whose connection to the other member is not established yet. */
  readonly #arriving = new Set<Socket>()
  readonly #held = new Set<string>()
  readonly #cut = new Set<string>()
  #isOpen = true

  static async start({ host, addresses }: MemberLinksOptions): Promise<MemberLinks> {
    const ports = await freePorts(addresses.length * PORTS_PER_MEMBER)
    const listeners = await Promise.all(
      ports.map(async (port) => {
        const listener = createServer({ allowHalfOpen: true })
        listener.listen(port, host)
        await once(listener, 'listening')
        return listener
      }),
    )
    return new MemberLinks(host, addresses, listeners)
  }

  private constructor(host: string, addresses: readonly string[], listeners: readonly Server[]) {
    this.#addresses = addresses
    this.#listeners = listeners
    const portsOf = (index: number) => [portOf(this.#listeners[2 * index]!), portOf(this.#listeners[2 * index + 1]!)]
    this.meetingPoints = addresses.map((_, index) => [host, ...portsOf(index)].join(':'))
    for (const [index, listener] of listeners.entries()) {
      const to = Math.floor(index / PORTS_PER_MEMBER) + 1
      listener.on('connection', (socket) => void this.#accept(socket, to, portOf(listener)))
    }
  }

  /** Holds the bytes that one member sends to the other, in order, until `release`. To both members the link looks alive. */
  hold(from: Member, to: Member): void {
    this.#held.add(way(from.id, to.id))
    for (const connection of this.#connections) connection.gate(from.id, to.id)?.shut()
  }

  /** Forwards the held bytes, and all later ones. */
  release(from: Member, to: Member): void {
    this.#held.delete(way(from.id, to.id))
    for (const connection of this.#connections) connection.gate(from.id, to.id)?.open()
  }

  /** Resets the connections between the two members, and every new one, until `mend`. Held bytes are lost. */
  cut(one: Member, other: Member): void {
    this.#cut.add(way(one.id, other.id)).add(way(other.id, one.id))
    for (const connection of this.#connections) {
      if (connection.gate(one.id, other.id) !== undefined) connection.reset()
    }
  }

  /** Releases every direction, and accepts new connections between all members again. */
  mend(): void {
    this.#held.clear()
    this.#cut.clear()
    for (const connection of this.#connections) connection.open()
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    this.#isOpen = false
    for (const connection of this.#connections) connection.reset()
    for (const socket of this.#arriving) socket.destroy()
    await Promise.all(
      this.#listeners.map(async (listener) => {
        listener.close()
        await once(listener, 'close')
      }),
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #accept(socket: Socket, to: number, port: number): Promise<void> {
    socket.on('error', () => {})
    const from = this.#addresses.indexOf(socket.remoteAddress ?? '') + 1
    if (from === 0 || this.#cut.has(way(from, to))) {
      socket.resetAndDestroy()
      return
    }
    this.#arriving.add(socket)
    const target = await this.#dial(socket, { host: this.#addresses[to - 1]!, port })
    this.#arriving.delete(socket)
    if (target === undefined || this.#cut.has(way(from, to)) || !this.#isOpen) {
      target?.destroy()
      socket.resetAndDestroy()
      return
    }
    const connection: LinkConnection = new LinkConnection({ id: from, socket }, { id: to, socket: target }, () =>
      this.#connections.delete(connection),
    )
    this.#connections.add(connection)
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      if (this.#held.has(way(one, other))) connection.gate(one, other)?.shut()
    }
  }

  /** Returns undefined if the target does not listen for long, or if the member that connects has gone. */
  async #dial(socket: Socket, address: { readonly host: string; readonly port: number }): Promise<Socket | undefined> {
    const until = performance.now() + PATIENCE
    while (!socket.destroyed && this.#isOpen) {
      const target = connect({ ...address, allowHalfOpen: true })
      // If the target's network is gone, nothing refuses: without this, the attempt would go on for minutes.
      const giveUp = () => target.destroy(new Error('the connection is wanted no more'))
      socket.once('close', giveUp)
      try {
        await once(target, 'connect')
        target.on('error', () => {})
        return target
      } catch {
        if (performance.now() >= until) return undefined
        await sleep(PAUSE)
      } finally {
        socket.off('close', giveUp)
      }
    }
    return undefined
  }
}

interface End extends Member {
  readonly socket: Socket
}

/** One connection between two members, which is two sockets of this process. */
class LinkConnection {
  readonly #ends: readonly [End, End]
  readonly #gates = new Map<string, Gate>()

  constructor(from: End, to: End, closed: () => void) {
    this.#ends = [from, to]
    this.#forward(from, to)
    this.#forward(to, from)
    let open = this.#ends.length
    for (const { socket } of this.#ends) {
      socket.on('close', () => {
        if (--open === 0) closed()
      })
    }
  }

  /** The gate for the bytes from one member to the other; undefined if the connection is not between these two. */
  gate(from: number, to: number): Gate | undefined {
    return this.#gates.get(way(from, to))
  }

  open(): void {
    for (const gate of this.#gates.values()) gate.open()
  }

  reset(): void {
    for (const { socket } of this.#ends) socket.resetAndDestroy()
  }

  #forward(from: End, to: End): void {
    const gate = new Gate()
    this.#gates.set(way(from.id, to.id), gate)
    from.socket.setNoDelay(true)
    from.socket.on('data', (bytes) => gate.pass(() => to.socket.write(bytes)))
    // The end of the stream is held like the data. One direction may end alone.
    from.socket.on('end', () => gate.pass(() => to.socket.end()))
    from.socket.on('error', () => gate.pass(() => to.socket.destroy()))
  }
}

function way(from: number, to: number): string {
  return `${from}>${to}`
}

function portOf(listener: Server): number {
  return (listener.address() as AddressInfo).port
}
