import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { type OpCode, parseConnectString, type ServerAddress } from '@zk/wire'
import { type Direction, Link, type LinkObserver } from './link.ts'

/** A reply that is to be lost. */
interface Loss {
  readonly opCode: OpCode
  /** How many matching replies pass before this one. */
  spared: number
  readonly happened: () => void
}

/** All traffic, including handshakes and pings. */
export interface Traffic {
  /** The number of pings of clients. */
  readonly pings: number
  /** Bytes in each direction. */
  readonly toServer: number
  readonly toClient: number
}

/**
 * Stands between clients and one server, in this process. It decodes the beginning and the opcode of each frame, so it can
 * inject a fault at a chosen place. All other bytes pass unchanged.
 *
 *     const proxy = await Proxy.start(node.address)
 *     const zk = await connect(proxy.address)
 *     proxy.loseReplyTo(OpCode.create2)
 */
export class Proxy {
  readonly #listener: Server
  readonly #links = new Set<Link>()
  readonly #segments: (readonly OpCode[])[] = []
  readonly #replies: OpCode[] = []
  #traffic: Traffic = { pings: 0, toServer: 0, toClient: 0 }
  #losses: readonly Loss[] = []
  #frozen: ReadonlySet<Direction> = new Set()
  #delay = 0

  /** `server` is `host:port`. */
  static async start(server: string): Promise<Proxy> {
    const [target] = parseConnectString(server).servers
    if (target === undefined) throw new TypeError('a proxy stands before one server')
    const listener = createServer()
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new Proxy(listener, target)
  }

  private constructor(listener: Server, target: ServerAddress) {
    this.#listener = listener
    listener.on('connection', (client) => {
      const link: Link = new Link(
        client,
        target,
        this.#observerOf(() => this.#links.delete(link)),
      )
      this.#links.add(link)
      for (const direction of this.#frozen) link.gates[direction].shut()
      this.#setDelay(link)
    })
  }

  /** Host and port for clients. */
  get address(): string {
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`
  }

  /** The opcodes of all requests that clients have sent, in order, without handshakes and pings. */
  get requests(): readonly OpCode[] {
    return this.#segments.flat()
  }

  /** The same opcodes, grouped by the chunks in which the requests came. */
  get segments(): readonly (readonly OpCode[])[] {
    return this.#segments
  }

  /** The opcodes of the requests that the server has answered, and `notification` for each event, in order. */
  get replies(): readonly OpCode[] {
    return this.#replies
  }

  /** All traffic until now. */
  get traffic(): Traffic {
    return this.#traffic
  }

  /** The number of connections. */
  get connections(): number {
    return this.#links.size
  }

  /**
   * Loses a reply to a request with this opcode, together with the connection: the `nth` such reply from now on (for
   * `notification`, the `nth` event). The server has executed the request. Resolves when the reply is lost.
   */
  loseReplyTo(opCode: OpCode, nth = 1): Promise<void> {
    return new Promise((happened) => {
      this.#losses = [...this.#losses, { opCode, spared: nth - 1, happened }]
    })
  }

  /** Holds back all data in these directions, on future connections, too: they look alive, but nothing arrives. */
  freeze(...directions: readonly Direction[]): void {
    const all = directions.length === 0 ? (['toServer', 'toClient'] as const) : directions
    this.#frozen = new Set([...this.#frozen, ...all])
    for (const link of this.#links) for (const direction of all) link.gates[direction].shut()
  }

  /** Passes the data that was held back. */
  thaw(): void {
    this.#frozen = new Set()
    for (const link of this.#links) for (const gate of Object.values(link.gates)) gate.open()
  }

  /** From now on all data takes this time in each direction, in ms. */
  delay(ms: number): void {
    this.#delay = ms
    for (const link of this.#links) this.#setDelay(link)
  }

  /** Ends all connections. Data in transit is lost. New connections are accepted. */
  cut(): void {
    for (const link of this.#links) link.cut()
  }

  async close(): Promise<void> {
    this.cut()
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #setDelay(link: Link): void {
    for (const gate of Object.values(link.gates)) gate.delay = this.#delay
  }

  #observerOf(closed: () => void): LinkObserver {
    return {
      requested: (opCodes) => void this.#segments.push(opCodes),
      pinged: () => {
        this.#traffic = { ...this.#traffic, pings: this.#traffic.pings + 1 }
      },
      carried: (direction, bytes) => {
        this.#traffic = { ...this.#traffic, [direction]: this.#traffic[direction] + bytes }
      },
      replied: (opCode) => {
        const loss = this.#nextLoss(opCode)
        loss?.happened()
        if (loss !== undefined) return 'lose'
        this.#replies.push(opCode)
        return 'pass'
      },
      closed,
    }
  }

  #nextLoss(opCode: OpCode): Loss | undefined {
    const concerned = this.#losses.filter((loss) => loss.opCode === opCode)
    const due = concerned.find(({ spared }) => spared === 0)
    for (const loss of concerned) loss.spared--
    this.#losses = this.#losses.filter((loss) => loss !== due)
    return due
  }
}
