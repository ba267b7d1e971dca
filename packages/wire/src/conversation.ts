// Both directions of one connection, as messages.
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

  push(chunk: Uint8Array): void {
    this.#frames.push(chunk)
  }

  /**
   * The next message, or undefined until more bytes come. Throws `ProtocolError` for a frame that nothing can be made
   * of, and goes on behind it; but nothing comes behind a length that cannot be.
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

/**
 * Both directions of one connection, for whoever stands between a client and a server: each from its first byte on, and
 * a request before its reply. Servers answer in order; a reply that is not to the oldest request is a `ProtocolError`.
 */
export class Conversation {
  readonly fromClient: MessageDecoder<ClientMessage>
  readonly fromServer: MessageDecoder<ServerMessage>
  /** Requests without a reply, by their number. */
  readonly #asked = new Map<number, Asked & { readonly xid: number }>()
  #requests = 0
  #replies = 0

  constructor({ pendingLimit = 65_536, ...options }: ConversationOptions = {}) {
    this.fromClient = new MessageDecoder((frame, first) => {
      const message = decodeClientFrame(frame, first)
      if (message.type !== 'request' || answeredApart.has(message.xid)) return message
      if (this.pending >= pendingLimit) throw new ProtocolError(`more than ${pendingLimit} requests wait for replies`)
      const { xid, opCode, op, request } = message
      const parts = op === 'multi' || op === 'multiRead' ? request.length : undefined
      this.#asked.set(this.#requests++, { xid, opCode, parts })
      return message
    }, options)
    this.fromServer = new MessageDecoder((frame, first) => {
      const asked = this.#asked.get(this.#replies)
      return decodeServerFrame(frame, first, (xid) => {
        if (xid !== asked?.xid) return undefined
        this.#asked.delete(this.#replies++)
        return asked
      })
    }, options)
  }

  /** How many requests wait for their replies. */
  get pending(): number {
    return this.#asked.size
  }
}
