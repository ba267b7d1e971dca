// Stands between clients and one server, in this process: it counts what passes, and can make the server fall silent.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { decode, FrameDecoder, OpCode, parseConnectString, RequestHeader, type ServerAddress, Xid } from '@zk/wire'
import { Gate } from './gate.ts'

export { OpCode }

/** All traffic, including handshakes and pings. */
export interface Traffic {
  /** The number of pings of clients. */
  readonly pings: number
  /** Bytes in each direction. */
  readonly toServer: number
  readonly toClient: number
}

/** The longest frame, in bytes: every length on which both ends agree. */
const LIMIT = 64 * 1024 * 1024

export class Proxy {
  readonly #listener: Server
  readonly #sockets = new Set<Socket>()
  readonly #requests: OpCode[] = []
  readonly #gate = new Gate()
  #traffic: Traffic = { pings: 0, toServer: 0, toClient: 0 }

  /** `server` is `host:port`. */
  static async start(server: string): Promise<Proxy> {
    const [target] = parseConnectString(server).servers
    if (target === undefined) throw new TypeError('a proxy stands before one server')
    const listener = createServer()
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new Proxy(listener, target)
  }

  private constructor(listener: Server, { host, port }: ServerAddress) {
    this.#listener = listener
    listener.on('connection', (client) => {
      const server = connect({ host, port })
      const frames = new FrameDecoder({ limit: LIMIT })
      // The first frame is the handshake, which has no opcode.
      let isFirst = true
      this.#relay('toServer', client, server, (bytes) => {
        frames.push(bytes)
        for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
          if (!isFirst) this.#count(decode(RequestHeader, frame))
          isFirst = false
        }
      })
      this.#relay('toClient', server, client)
    })
  }

  /** Host and port for clients. */
  get address(): string {
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`
  }

  /** The opcodes of all requests that clients have sent, in order, without handshakes and pings. */
  get requests(): readonly OpCode[] {
    return this.#requests
  }

  /** All traffic until now. */
  get traffic(): Traffic {
    return this.#traffic
  }

  /** Holds back all data and all ends of connections, on future connections, too: they look alive, but nothing arrives. */
  freeze(): void {
    this.#gate.shut()
  }

  /** Passes what was held back. */
  thaw(): void {
    this.#gate.open()
  }

  /** Ends all connections. Data in transit is lost. New connections are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.thaw()
    this.cut()
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #relay(direction: 'toServer' | 'toClient', from: Socket, to: Socket, inspect = (_: Uint8Array): void => {}): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes) => {
      this.#traffic = { ...this.#traffic, [direction]: this.#traffic[direction] + bytes.byteLength }
      inspect(bytes)
      this.#gate.pass(() => to.write(bytes))
    })
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      this.#gate.pass(() => to.destroySoon())
    })
  }

  #count({ xid, type }: { readonly xid: number; readonly type: number }): void {
    if (xid === Xid.ping) this.#traffic = { ...this.#traffic, pings: this.#traffic.pings + 1 }
    else this.#requests.push(type as OpCode)
  }
}
