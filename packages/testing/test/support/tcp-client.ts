import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection of raw bytes. */
export class TcpClient implements Disposable {
  readonly socket: Socket
  /** 'end', or the code of the error. */
  readonly closed: Promise<string>
  readonly #chunks: Uint8Array[] = []

  constructor(address: string) {
    const [host, port] = address.split(':')
    this.socket = connect({ host: host!, port: Number(port), noDelay: true })
    this.closed = new Promise((resolve) => {
      this.socket.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? String(error)))
      this.socket.on('end', () => resolve('end'))
    })
    this.socket.on('data', (chunk) => this.#chunks.push(chunk))
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes)
  }

  /** What has come. */
  get bytes(): Uint8Array {
    return Uint8Array.from(this.#chunks.flatMap((chunk) => [...chunk]))
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes)
  }

  /** Resolves when so many bytes have come. */
  async received(size: number): Promise<void> {
    while (this.bytes.length < size) await once(this.socket, 'data')
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}
