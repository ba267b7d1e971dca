import { FrameDecoder, ProtocolError, type Reader, ReplyHeader, RequestHeader } from '@zk/wire'
import type { ClientMessages } from './diagnostics.ts'

type Message = ClientMessages['zk:frame']

const headers = { sent: RequestHeader, received: ReplyHeader }
interface Header {
  readonly xid?: number
  readonly type?: number
  readonly err?: number
}

/** Cuts the bytes of one connection in one direction into frames. Reports headers and sizes, never bodies. */
export class FrameTrace {
  readonly #direction: Message['direction']
  readonly #report: (message: Message) => void
  /** Accepts a frame of any length, as the session does, but keeps only the header of a long frame. */
  readonly #frames = new FrameDecoder()
  /** The first frame is the handshake: it has no header, and contains a password. */
  #isFirst = true

  constructor(direction: Message['direction'], report: (message: Message) => void) {
    this.#direction = direction
    this.#report = report
  }

  take(bytes: Uint8Array, where: Pick<Message, 'client' | 'sessionId' | 'server'>): void {
    try {
      this.#frames.push(bytes)
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
        const size = this.#frames.tooLarge?.size ?? frame.remaining
        const { xid, type: opCode, err } = this.#header(frame)
        this.#report({ direction: this.#direction, size, ...where, xid, opCode, err })
      }
      this.#frames.keep()
    } catch (error) {
      // The session finds the same mistake, and closes the connection.
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  #next(): Reader | undefined {
    return this.#frames.read(headers[this.#direction].minSize)
  }

  #header(frame: Reader): Header {
    const isFirst = this.#isFirst
    this.#isFirst = false
    return isFirst ? {} : headers[this.#direction].read(frame)
  }
}
