// Both directions of one connection, as messages.
import { OpCode, Xid } from './constants.ts'
import { FrameDecoder, type FrameDecoderOptions } from './frame.ts'
import {
  type Asked,
  type ClientMessage,
  decodeClientFrame,
  decodeServerFrame,
  type ServerMessage,
  type TextMessage,
} from './messages.ts'
import { ProtocolError } from './protocol-error.ts'
import { RequestHeader } from './records/proto.ts'
import { decode, type TypeOf } from './type.ts'

/**
 * Cuts one direction of a connection into messages, from its first byte on. For the direction of the server, `asking` is the
 * decoder of the client's direction: the answer to text is text.
 *
 *     decoder.push(chunk)
 *     for (let message = decoder.next(); message !== undefined; message = decoder.next()) …
 */
export class MessageDecoder<Message> {
  readonly #frames: FrameDecoder
  readonly #decode: (frame: Uint8Array, first: boolean) => Message
  readonly #asking: MessageDecoder<unknown> | undefined
  #first = true
  #isText = false

  constructor(
    decode: (frame: Uint8Array, first: boolean) => Message,
    options?: FrameDecoderOptions,
    asking?: MessageDecoder<unknown>,
  ) {
    this.#frames = new FrameDecoder(options)
    this.#decode = decode
    this.#asking = asking
  }

  /** Takes the chunk over without copying it: its memory must not be written to afterwards. */
  push(chunk: Uint8Array): void {
    this.#frames.push(chunk)
  }

  /**
   * The next message, or undefined until more bytes come. Throws `ProtocolError` for a frame that cannot be decoded. The
   * next call goes on behind that frame. After an impossible length no message follows.
   */
  next(): Message | TextMessage | undefined {
    const first = this.#first
    const asking = this.#asking
    const bytes = first ? this.#frames.takeText(asking && asking.#isText) : undefined
    if (bytes !== undefined) {
      this.#isText = true
      return { type: 'text', bytes }
    }
    const frame = this.#frames.next()
    if (frame === undefined) return undefined
    this.#first = false
    return this.#decode(frame, first)
  }
}

/** The limits of a `Conversation`. */
export interface ConversationOptions extends FrameDecoderOptions {
  /** The number of requests that may wait for their replies. One more is a `ProtocolError`. @default 65_536 */
  pendingLimit?: number | undefined
}

/** Something that a request may wait behind. */
interface Link {
  next?: Pending | undefined
}

interface Pending extends Asked, Link {
  readonly xid: number
  /** Set once the body has been read. */
  parts?: number
}

/**
 * Both directions of one connection, for a proxy between a client and a server. Push each direction from its first byte on,
 * and a request before its reply. Servers answer requests in order, but auth and sasl at any time
 * (ZooKeeperServer.processPacket). Any other reply that is not to the oldest request is a `ProtocolError`. Its request then
 * does not wait any more.
 */
export class Conversation {
  // `declare` keeps the bundle small: no initial value is written that the constructor replaces.
  /** Takes the bytes of the client. */
  declare readonly fromClient: MessageDecoder<ClientMessage>
  /** Takes the bytes of the server. */
  declare readonly fromServer: MessageDecoder<ServerMessage>
  /** Behind it are the requests without a reply, the oldest first. */
  readonly #start: Link = {}
  #last = this.#start
  #pending = 0

  constructor(options: ConversationOptions = {}) {
    const { pendingLimit = 65_536 } = options
    this.fromClient = new MessageDecoder((frame, first) => {
      // Before the body is read: a server also answers a request that it cannot read.
      const asked = first ? undefined : this.#ask(decode(RequestHeader, frame), pendingLimit)
      const message = decodeClientFrame(frame, first)
      if (asked !== undefined && Array.isArray(message.request)) asked.parts = message.request.length
      return message
    }, options)
    this.fromServer = new MessageDecoder(
      (frame, first) => decodeServerFrame(frame, first, (xid) => this.#answered(xid)),
      options,
      this.fromClient,
    )
  }

  /** The number of requests that wait for their replies, without pings. */
  get pending(): number {
    return this.#pending
  }

  /** Adds a request that will be answered. A ping is answered with xid -2, whatever its own. The xid of events answers none. */
  #ask({ xid, type: opCode }: TypeOf<typeof RequestHeader>, limit: number): Pending | undefined {
    if (opCode === OpCode.ping || xid === Xid.notification) return undefined
    if (this.#pending >= limit) throw new ProtocolError(`more than ${limit} requests wait for replies`)
    const asked: Pending = { xid, opCode }
    this.#pending++
    this.#last = this.#last.next = asked
    return asked
  }

  #answered(xid: number): Asked | undefined {
    let isDue = true
    let before = this.#start
    for (let asked = before.next; asked !== undefined; asked = asked.next) {
      const isApart = asked.opCode === OpCode.auth || asked.opCode === OpCode.sasl
      if (asked.xid === xid) {
        before.next = asked.next
        if (asked === this.#last) this.#last = before
        this.#pending--
        return isDue || isApart ? asked : undefined
      }
      isDue &&= isApart
      before = asked
    }
    return undefined
  }
}
