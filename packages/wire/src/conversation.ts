// Both directions of one connection, as messages.
import { OpCode } from './constants.ts'
import { FrameDecoder, type FrameDecoderOptions } from './frame.ts'
import {
  answeredApart,
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
 * Cuts one direction of a connection, from its first byte on, into messages.
 *
 *     decoder.push(chunk)
 *     for (let message = decoder.next(); message !== undefined; message = decoder.next()) …
 */
export class MessageDecoder<Message> {
  readonly #frames: FrameDecoder
  readonly #decode: (frame: Uint8Array, first: boolean) => Message
  #first = true

  constructor(decode: (frame: Uint8Array, first: boolean) => Message, options?: FrameDecoderOptions) {
    this.#frames = new FrameDecoder(options)
    this.#decode = decode
  }

  /** Takes the chunk over without copying it: its memory must not be written to afterwards. */
  push(chunk: Uint8Array): void {
    this.#frames.push(chunk)
  }

  /**
   * The next message, or undefined until more bytes come. Throws `ProtocolError` for a frame that nothing can be made
   * of, and goes on behind it; but after a length that cannot be, every call throws the same error.
   */
  next(): Message | TextMessage | undefined {
    const first = this.#first
    const bytes = first ? this.#frames.takeText() : undefined
    if (bytes !== undefined) return { type: 'text', bytes }
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
 * a request before its reply. Servers answer in order, sasl alone at any time (ZooKeeperServer.processSasl). A reply that
 * is not to the oldest request is a `ProtocolError`, and so are all behind it: it is never known which one is missing.
 */
export class Conversation {
  readonly fromClient: MessageDecoder<ClientMessage>
  readonly fromServer: MessageDecoder<ServerMessage>
  /** Requests without a reply, by their number. */
  readonly #asked = new Map<number, Pending>()
  /** Those whose replies may overtake others, by their xid. */
  readonly #apart = new Map<number, Asked>()
  #requests = 0
  #replies = 0

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
    )
  }

  /** How many requests wait for their replies. */
  get pending(): number {
    return this.#asked.size + this.#apart.size
  }

  /** What is now asked; undefined for what is answered under an xid of its own. */
  #ask({ xid, type: opCode }: TypeOf<typeof RequestHeader>, limit: number): Pending | undefined {
    if (answeredApart.has(xid)) return undefined
    if (this.pending >= limit) throw new ProtocolError(`more than ${limit} requests wait for replies`)
    const asked: Pending = { xid, opCode }
    if (opCode === OpCode.sasl) this.#apart.set(xid, asked)
    else this.#asked.set(this.#requests++, asked)
    return asked
  }

  #answered(xid: number): Asked | undefined {
    const oldest = this.#asked.get(this.#replies)
    if (xid === oldest?.xid) {
      this.#asked.delete(this.#replies++)
      return oldest
    }
    const apart = this.#apart.get(xid)
    this.#apart.delete(xid)
    return apart
  }
}
