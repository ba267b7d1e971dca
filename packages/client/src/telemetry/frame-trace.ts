// Publishes the frames of one connection on the channel `zk:frame`: headers and sizes, never bodies.
import { FrameDecoder, ProtocolError, Reader, ReplyHeader, RequestHeader } from '@zk/wire'
import { type ClientMessages, report } from './diagnostics.ts'

type Message = ClientMessages['zk:frame']
type Where = Pick<Message, 'sessionId' | 'server'>

export class FrameTrace {
  readonly #sent = new Direction('sent')
  readonly #received = new Direction('received')

  sent(bytes: Uint8Array, where: Where): void {
    this.#sent.take(bytes, where)
  }

  received(bytes: Uint8Array, where: Where): void {
    this.#received.take(bytes, where)
  }
}

class Direction {
  readonly #name: Message['direction']
  /** Accepts a frame of any length: the decoder of the session itself has the limit `maxResponseSize`. */
  readonly #frames = new FrameDecoder({ limit: 2 ** 31 - 1 })
  /** The first frame of each direction is that of the handshake: it has no header, and contains a password. */
  #isFirst = true

  constructor(name: Message['direction']) {
    this.#name = name
  }

  take(bytes: Uint8Array, where: Where): void {
    try {
      this.#frames.push(bytes)
      for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next())
        this.#publish(frame, where)
      this.#frames.keep()
    } catch (error) {
      // The session finds the same mistake, and closes the connection.
      if (!(error instanceof ProtocolError)) throw error
    }
  }

  #publish(frame: Uint8Array, where: Where): void {
    const isFirst = this.#isFirst
    this.#isFirst = false
    report('zk:frame', () => ({
      direction: this.#name,
      size: frame.byteLength,
      ...where,
      ...(isFirst ? NO_HEADER : this.#header(frame)),
    }))
  }

  #header(frame: Uint8Array): Pick<Message, 'xid' | 'opCode' | 'err'> {
    const reader = new Reader(frame)
    if (this.#name === 'sent') {
      const { xid, type } = RequestHeader.read(reader)
      return { xid, opCode: type, err: undefined }
    }
    const { xid, err } = ReplyHeader.read(reader)
    return { xid, opCode: undefined, err }
  }
}

const NO_HEADER = { xid: undefined, opCode: undefined, err: undefined }
