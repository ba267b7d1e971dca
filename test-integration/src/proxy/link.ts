import { connect, type Socket } from 'node:net'
import { concat, decode, FrameDecoder, OpCode, ReplyHeader, RequestHeader, type ServerAddress, Xid } from '@zk/wire'
import { Gate } from './gate.ts'

export type Direction = 'toServer' | 'toClient'

/** Callbacks for the frames of a link, in order. The first frame of each side, which has no opcode, is not reported. */
export interface LinkObserver {
  /** The requests in one chunk, without pings. */
  requested(opCodes: readonly OpCode[]): void
  pinged(): void
  /** Bytes have arrived, of any kind. */
  carried(direction: Direction, bytes: number): void
  /** `opCode` is that of the request, or `notification` for an event. 'lose' drops the reply and the connection. */
  replied(opCode: OpCode): 'pass' | 'lose'
  closed(): void
}

/** The longest frame, in bytes: a proxy accepts every length on which both ends agree. */
const LIMIT = 64 * 1024 * 1024
const LENGTH_SIZE = 4

/** One connection of a client, and its connection to the server. */
export class Link {
  readonly gates: Readonly<Record<Direction, Gate>> = { toServer: new Gate(), toClient: new Gate() }
  readonly #client: Socket
  readonly #server: Socket
  readonly #observer: LinkObserver
  readonly #unanswered = new Map<number, OpCode>()

  constructor(client: Socket, { host, port }: ServerAddress, observer: LinkObserver) {
    this.#client = client
    this.#server = connect({ host, port })
    this.#observer = observer
    this.#relay('toServer', (frames) => this.#requests(frames))
    this.#relay('toClient', (frames) => this.#replies(frames))
  }

  /** Ends both connections. Data in transit is lost. */
  cut(): void {
    this.#client.destroy()
    this.#server.destroy()
    this.#observer.closed()
  }

  #relay(direction: Direction, inspect: (frames: readonly Uint8Array[]) => readonly Uint8Array[]): void {
    const [from, to] = direction === 'toServer' ? [this.#client, this.#server] : [this.#server, this.#client]
    const frames = new FrameDecoder({ limit: LIMIT })
    let isFirst = true
    from.setNoDelay(true)
    from.on('data', (bytes) => {
      this.#observer.carried(direction, bytes.byteLength)
      frames.push(bytes)
      const whole: Uint8Array[] = []
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) whole.push(frame)
      const handshake = isFirst ? whole.splice(0, 1) : []
      isFirst &&= handshake.length === 0
      const passed = [...handshake, ...inspect(whole)].map(framed)
      if (passed.length > 0) this.gates[direction].pass(() => to.write(concat(passed)))
    })
    from.on('error', () => {})
    // The end of the stream waits at the gate like the data, so a frozen link looks alive.
    from.on('close', () => {
      this.gates[direction].pass(() => {
        to.destroySoon()
        this.#observer.closed()
      })
    })
  }

  #requests(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    const all = frames.map((frame) => decode(RequestHeader, frame))
    const headers = all.filter(({ xid }) => xid !== Xid.ping)
    for (let pings = all.length - headers.length; pings > 0; pings--) this.#observer.pinged()
    for (const { xid, type } of headers) this.#unanswered.set(xid, type as OpCode)
    if (headers.length > 0) this.#observer.requested(headers.map(({ type }) => type as OpCode))
    return frames
  }

  /** Returns the frames before one that is to be lost. That frame and all later ones do not arrive. */
  #replies(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    for (const [index, frame] of frames.entries()) {
      const { xid } = decode(ReplyHeader, frame)
      const opCode = xid === Xid.notification ? OpCode.notification : this.#unanswered.get(xid)
      this.#unanswered.delete(xid)
      if (opCode === undefined || this.#observer.replied(opCode) === 'pass') continue
      this.#server.destroy()
      return frames.slice(0, index)
    }
    return frames
  }
}

function framed(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(LENGTH_SIZE + body.byteLength)
  new DataView(frame.buffer).setInt32(0, body.byteLength)
  frame.set(body, LENGTH_SIZE)
  return frame
}
