import { expect } from 'vitest'
import { FakeConnection } from './fake-connection.ts'
import { type Handshake, handshakeFrame } from './frames.ts'
import type { Link, Listener } from './link.ts'
import type { VirtualWorld } from './virtual-world.ts'

/**
 * A ZooKeeper server of a virtual world that decides nothing: it takes connections, and a test decides what each of them
 * receives and answers. It is no part of the world of @zk/testing, whose servers decide by themselves what they answer: here
 * a test must be able to send what no server would, and to send it when no server would.
 *
 *     const server = FakeServer.listen(world, 'zk1:2181')
 *     const connecting = outcome(connect('zk1:2181', { runtime: world }))
 *     const connection = await server.accept()
 *     const read = outcome(connecting.value.getData('/a'))
 *     const request = await connection.expect(OpCode.getData)
 *     connection.reply(request, GetDataResponse, { data, stat })
 *     await world.settle()
 */
export class FakeServer implements Listener {
  /** `host:port` */
  readonly address: string
  /** Its answer to `isro`, whether it accepts writes; undefined for none. */
  isro: string | undefined = 'ro'
  /** When clients tried whether it serves, as a server of a new list: by a handshake for a session that cannot exist. */
  readonly trials: number[] = []
  /** What it answers to such a trial: that the session has expired, as servers do; nothing; or an end. */
  onTrial: 'expire' | 'ignore' | 'close' | Handshake = 'expire'
  readonly #world: VirtualWorld
  readonly #unseen: FakeConnection[] = []
  #dialed: (link: Link) => void

  static listen(world: VirtualWorld, address: string): FakeServer {
    const server = new FakeServer(world, address)
    world.listen(address, server)
    return server
  }

  constructor(world: VirtualWorld, address: string) {
    this.#world = world
    this.address = address
    this.#dialed = (link) => this.#open(link)
  }

  // --- what becomes of connections -------------------------------------------------------------------------------

  /** TCP connections stand, after `delay` ms. */
  listen({ delay = 0 }: { delay?: number } = {}): void {
    this.#dialed = (link) => {
      if (delay === 0) this.#open(link)
      else this.#world.setTimer(delay, () => this.#open(link))
    }
  }

  /** Nobody listens on the port. */
  refuse(): void {
    this.#dialed = (link) => link.lose(new Error(`connect ECONNREFUSED ${this.address}`))
  }

  /** Packets to the machine are lost: a client that dials receives nothing. */
  swallow(): void {
    this.#dialed = () => {}
  }

  dialed(link: Link): void {
    this.#dialed(link)
  }

  // --- what the client must have done -----------------------------------------------------------------------------

  /** The next TCP connection; fails when there is none. */
  async connection(): Promise<FakeConnection> {
    await this.#world.settle()
    const connection = this.#unseen.shift()
    expect(connection, `a connection to ${this.address}`).toBeDefined()
    return connection!
  }

  async expectNoConnection(): Promise<void> {
    await this.#world.settle()
    expect(this.#unseen.length, `connections to ${this.address}`).toBe(0)
  }

  /** The next TCP connection, its handshake answered. */
  async accept(response?: Handshake): Promise<FakeConnection> {
    const connection = await this.connection()
    await connection.expectConnect()
    connection.accept(response)
    await this.#world.settle()
    return connection
  }

  #open(link: Link): void {
    const connection = new FakeConnection(this.#world, link, this.address)
    this.#unseen.push(connection)
    link.open({
      received: (segment) => {
        if (new TextDecoder().decode(segment) === 'isro') this.#answerIsro(link, connection)
        else if (isTrial(segment)) this.#answerTrial(link, connection)
        else connection.received(segment)
      },
      closed: () => connection.closed(),
    })
  }

  #answerTrial(link: Link, connection: FakeConnection): void {
    this.#unseen.splice(this.#unseen.indexOf(connection), 1)
    this.trials.push(this.#world.now())
    const { onTrial } = this
    if (onTrial === 'ignore') return
    if (onTrial === 'close') link.lose(new Error('the server closed the connection'))
    else answerTrial(link, onTrial === 'expire' ? {} : onTrial)
  }

  #answerIsro(link: Link, connection: FakeConnection): void {
    this.#unseen.splice(this.#unseen.indexOf(connection), 1)
    if (this.isro === undefined) return
    // Segments end anywhere.
    for (const byte of new TextEncoder().encode(this.isro)) link.deliver(Uint8Array.of(byte))
    link.lose(new Error('the server closed the connection'))
  }
}

/** Answers a trial as servers do, or with these fields. */
export function answerTrial(link: Link, answer: Handshake = {}): void {
  const expired = { timeOut: 0, sessionId: 0n, passwd: new Uint8Array(16), readOnly: false }
  link.deliver(handshakeFrame({ ...expired, ...answer }))
  link.lose(new Error('the server closed the connection'))
}

/** Whether this is a ConnectRequest for a session that cannot exist. */
export function isTrial(segment: Uint8Array): boolean {
  const sessionId = segment.subarray(20, 28)
  return sessionId.byteLength === 8 && sessionId[0] === 0x80 && sessionId.subarray(1, 6).every((byte) => byte === 0)
}
