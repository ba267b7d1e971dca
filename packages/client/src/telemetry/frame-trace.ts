import { FrameDecoder, ProtocolError, Reader, ReplyHeader, RequestHeader } from '@zk/wire'
import { type ClientMessages, report } from './diagnostics.ts'

type Message = ClientMessages['zk:frame']

const headers = { sent: RequestHeader, received: ReplyHeader }
interface Header {
  readonly xid?: number
  readonly type?: number
  readonly err?: number
}

/** Publishes the frames of one connection in one direction on the channel `zk:frame`: headers and sizes, never bodies. */
export class FrameTrace {
  readonly #direction: Message['direction']
  /** Accepts a frame of any length: the decoder of the session itself has the limit `maxResponseSize`. */
  readonly #frames = new FrameDecoder({ limit: 2 ** 31 - 1 })
  /** The first frame is that of the handshake: it has no header, and contains a password. */
  #isFirst = true

  constructor(direction: Message['direction']) {
    this.#direction = direction
  }

  take(bytes: Uint8Array, where: Pick<Message, 'sessionId' | 'server'>): void {
    try {
      this.#frames.push(bytes)
      for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
        const { xid, type: opCode, err } = this.#header(frame)
        const { byteLength: size } = frame
        report('zk:frame', () => ({ direction: this.#direction, size, ...where, xid, opCode, err }))
      }
      this.#frames.keep()
    } catch (error) {
      // The session finds the same mistake, and closes the connection.
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  #header(frame: Uint8Array): Header {
    const isFirst = this.#isFirst
    this.#isFirst = false
    return isFirst ? {} : headers[this.#direction].read(new Reader(frame))
  }
}
