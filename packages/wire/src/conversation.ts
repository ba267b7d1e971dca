// Decodes both directions of a connection.
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
 * Decodes the messages of one direction of a connection, from the first byte on. For what the server sends, `clientDecoder`
 * is the decoder of what the client sends: if the client has sent text, the answer is text.
 *
 *     decoder.push(chunk)
 *     for (let message = decoder.next(); message !== undefined; message = decoder.next()) …
 */
export class MessageDecoder<Message> {
  readonly #frames: FrameDecoder
  readonly #decode: (frame: Uint8Array, first: boolean) => Message
  readonly #clientDecoder: MessageDecoder<unknown> | undefined
  #first = true
  #isText = false

  constructor(
    decode: (frame: Uint8Array, first: boolean) => Message,
    options?: FrameDecoderOptions,
    clientDecoder?: MessageDecoder<unknown>,
  ) {
    this.#frames = new FrameDecoder(options)
    this.#decode = decode
    this.#clientDecoder = clientDecoder
  }

  /** Adds a chunk, which is not copied: do not write to its memory afterwards. */
  push(chunk: Uint8Array): void {
    this.#frames.push(chunk)
  }

  /**
   * Returns the next message, or undefined if it is not complete yet. Throws a `ProtocolError` for a frame that cannot be
   * decoded. The next call then decodes the frame after that one. After an impossible length no message follows.
   */
  next(): Message | TextMessage | undefined {
    const first = this.#first
    const clientDecoder = this.#clientDecoder
    const bytes = first ? this.#frames.takeText(clientDecoder && clientDecoder.#isText) : undefined
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
  /** The number of requests that may wait for their replies. A further request is a `ProtocolError`. @default 65_536 */
  pendingLimit?: number | undefined
}

/** An entry of the list of waiting requests, or the start of that list. */
interface Link {
  next?: Pending | undefined
}

interface Pending extends Asked, Link {
  readonly xid: number
  /** Set once the body has been read. */
  parts?: number
}

/**
 * Decodes both directions of one connection, for a proxy between a client and a server. Push each direction from its first
 * byte on, and each request before its reply. Servers answer requests in order, except auth and sasl, which they may answer
 * at any time (ZooKeeperServer.processPacket). A reply that is out of order is a `ProtocolError`. Its request then no longer
 * waits.
 */
export class Conversation {
  // `declare` keeps the bundle small: without it the bundle would set an initial value, which the constructor replaces.
  /** Decodes what the client sends. */
  readonly fromClient: MessageDecoder<ClientMessage>
  /** Decodes what the server sends. */
  readonly fromServer: MessageDecoder<ServerMessage>
  /** The start of the list of requests without a reply. The oldest request is the first one. */
  readonly #start: Link = {}
  #last = this.#start
  #pending = 0

  constructor(options: ConversationOptions = {}) {
    const { pendingLimit = 65_536 } = options
    this.fromClient = new MessageDecoder((frame, first) => {
      // The request is added before its body is read, because a server also answers a request that it cannot read.
      const asked = first ? undefined : this.#add(decode(RequestHeader, frame), pendingLimit)
      const message = decodeClientFrame(frame, first)
      if (asked !== undefined && Array.isArray(message.request)) asked.parts = message.request.length
      return message
    }, options)
    this.fromServer = new MessageDecoder(
      (frame, first) => decodeServerFrame(frame, first, (xid) => this.#remove(xid)),
      options,
      this.fromClient,
    )
  }

  /** The number of requests that wait for their replies. Pings do not count. */
  get pending(): number {
    return this.#pending
  }

  /**
   * Adds a request to the list. Two kinds do not wait there: a ping is answered with xid -2, whatever xid it has, and a
   * message with the xid of events is never a reply.
   */
  #add({ xid, type: opCode }: TypeOf<typeof RequestHeader>, limit: number): Pending | undefined {
    if (opCode === OpCode.ping || xid === Xid.notification) return undefined
    if (this.#pending >= limit) throw new ProtocolError(`more than ${limit} requests wait for replies`)
    const asked: Pending = { xid, opCode }
    this.#pending++
    this.#last = this.#last.next = asked
    return asked
  }

  /** Removes the request with this xid. Returns it if the server may answer it now. */
  #remove(xid: number): Asked | undefined {
    let isInOrder = true
    let before = this.#start
    for (let asked = before.next; asked !== undefined; asked = asked.next) {
      const isUnordered = asked.opCode === OpCode.auth || asked.opCode === OpCode.sasl
      if (asked.xid === xid) {
        before.next = asked.next
        if (asked === this.#last) this.#last = before
        this.#pending--
        return isInOrder || isUnordered ? asked : undefined
      }
      isInOrder &&= isUnordered
      before = asked
    }
    return undefined
  }
}
