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
 * Cuts one direction of a connection, from its first byte on, into messages. `asking` is the other direction, where this
 * one answers it: the answer to text is text.
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
   * The next message, or undefined until more bytes come. Throws `ProtocolError` for a frame that nothing can be made
   * of, and goes on behind it; behind a length that cannot be there is nothing more.
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

export interface ConversationOptions extends FrameDecoderOptions {
  /** How many requests may wait for their replies; one more is a `ProtocolError`. @default 65_536 */
  readonly pendingLimit?: number
}

interface Pending extends Asked {
  readonly xid: number
  /** Set once the body has been read. */
  parts?: number
}

/**
 * Both directions of one connection, for whoever stands between a client and a server: each from its first byte on, and
 * a request before its reply. Servers answer in order, but auth and sasl at any time (ZooKeeperServer.processPacket). Any
 * other reply that is not to the oldest request is a `ProtocolError`, and its request waits no longer.
 */
export class Conversation {
  readonly fromClient: MessageDecoder<ClientMessage>
  readonly fromServer: MessageDecoder<ServerMessage>
  /** Requests without a reply, the oldest first. */
  readonly #asked: Pending[] = []

  constructor({ pendingLimit = 65_536, ...options }: ConversationOptions = {}) {
    this.fromClient = new MessageDecoder((frame, first) => {
      // Before the body is read: a server answers also what it cannot read.
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

  /** How many requests wait for their replies; pings do not. */
  get pending(): number {
    return this.#asked.length
  }

  /** What is now asked. Undefined for a ping, answered under -2 whatever its xid, and for what looks like an event then. */
  #ask({ xid, type: opCode }: TypeOf<typeof RequestHeader>, limit: number): Pending | undefined {
    if (opCode === OpCode.ping || xid === Xid.notification) return undefined
    if (this.#asked.length >= limit) throw new ProtocolError(`more than ${limit} requests wait for replies`)
    const asked: Pending = { xid, opCode }
    this.#asked.push(asked)
    return asked
  }

  #answered(xid: number): Asked | undefined {
    let isDue = true
    for (const [index, asked] of this.#asked.entries()) {
      const isApart = asked.opCode === OpCode.auth || asked.opCode === OpCode.sasl
      if (asked.xid === xid) {
        this.#asked.splice(index, 1)
        return isDue || isApart ? asked : undefined
      }
      isDue &&= isApart
    }
    return undefined
  }
}
