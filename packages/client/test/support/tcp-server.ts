import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** A server on a real TCP port of this machine, for as long as a test runs: `await using`. */
export class TcpServer implements AsyncDisposable {
  readonly port: number
  readonly host: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #unseen: Socket[] = []
  #awaited: ((socket: Socket) => void) | undefined

  /** Its sockets read nothing before they are ordered to `resume`. */
  static async listen({ host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {}): Promise<TcpServer> {
    const server = createServer({ pauseOnConnect: true, noDelay: true })
    server.listen(port, host)
    await once(server, 'listening')
    return new TcpServer(server, host)
  }

  private constructor(server: Server, host: string) {
    this.#server = server
    this.host = host
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (socket) => this.#connected(socket))
  }

  /** The next connection. */
  async connection(): Promise<Socket> {
    return this.#unseen.shift() ?? new Promise((resolve) => (this.#awaited = resolve))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket)
    // A reset by the client is no error of the test.
    socket.on('error', () => {})
    if (this.#awaited === undefined) this.#unseen.push(socket)
    else this.#awaited(socket)
    this.#awaited = undefined
  }
}

/** Writes the bytes one by one, each in a segment of its own. */
export async function writeByteByByte(socket: Socket, bytes: Uint8Array): Promise<void> {
  for (const byte of bytes) await new Promise((resolve) => socket.write(Uint8Array.of(byte), resolve))
}
