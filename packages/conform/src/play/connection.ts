// A plain connection to a server. It records everything that it receives.
import { type DialTarget, type Runtime, type RuntimeConnection, systemRuntime } from '@zk/client'
import {
  concat,
  type ConnectedMessage,
  decodeServerFrame,
  encodeMessage,
  type EventMessage,
  FrameDecoder,
  OpCode,
  ProtocolError,
  type ReplyMessage,
  type RequestMessage,
  Xid,
} from '@zk/wire'
import { int32 } from './bytes.ts'
import { EVENT, type Frame, type Part, type Transcript } from './transcript.ts'

/** A reply; undefined if none came and none can come any more. */
export type Reply = ReplyMessage | undefined

/** A request that waits for its reply. */
interface Call {
  /** The xid that its reply has, too. */
  readonly xid: number
  /** The opcode, which says how the body of the reply is read. */
  readonly opCode: number
  /** The request as the transcript shows it; undefined if the transcript leaves it out. */
  readonly asked: readonly Part[] | undefined
  /** Called once. */
  readonly settle: (reply: Reply) => void
}

/** The header of a frame of the server, and the size of the whole frame in bytes, without its length. */
export interface FrameHeader {
  /** The xid of the request; -1 for an event. */
  readonly xid: number
  /** The zxid of the last transaction that the server had applied. */
  readonly zxid: bigint
  /** The error code; 0 for success. */
  readonly err: number
  /** In bytes. */
  readonly size: number
}

interface ConnectionOptions {
  readonly target: DialTarget
  readonly name: string
  readonly transcript: Transcript
  readonly runtime: Runtime
}

/** A connection that sends nothing by itself. */
export class Connection {
  /** Its name in the transcript. */
  readonly name: string
  /** Its clock and its network. */
  readonly runtime: Runtime
  readonly #link: RuntimeConnection
  readonly #transcript: Transcript
  readonly #frames = new FrameDecoder()
  #calls: Call[] = []
  #isFirst = true
  #handshake: ((message: ConnectedMessage | undefined) => void) | undefined
  #messages: (EventMessage | ReplyMessage)[] = []
  /** The headers of all frames after the handshake, in the order in which they came. */
  readonly headers: FrameHeader[] = []
  #eventCount = 0
  #onEvent: (() => void) | undefined
  /** Resolves when nothing more can be received. */
  readonly closed: Promise<void>
  /** Whether something can still be sent. */
  isOpen = false
  readonly #end: () => void

  /** Dials. Rejects if nothing accepts the connection. */
  static open(target: DialTarget, name: string, transcript: Transcript, runtime = systemRuntime): Promise<Connection> {
    return new Promise((resolve, reject) => new Connection({ target, name, transcript, runtime }, resolve, reject))
  }

  private constructor(
    { target, name, transcript, runtime }: ConnectionOptions,
    opened: (connection: Connection) => void,
    refused: (error: Error) => void,
  ) {
    this.name = name
    this.runtime = runtime
    this.#transcript = transcript
    let end = (): void => {}
    this.closed = new Promise((resolve) => (end = resolve))
    this.#end = end
    const { host, port } = target
    this.#link = runtime.dial(
      { host, port },
      {
        opened: () => {
          transcript.join(name)
          this.isOpen = true
          opened(this)
        },
        // A copy, because the runtime may use the memory again.
        received: (bytes) => this.#received(bytes.slice()),
        drained: () => {},
        lost: (error) => {
          this.#lost()
          refused(error)
        },
      },
    )
  }

  /** Sends bytes as they are. Does nothing if the connection is closed. */
  write(bytes: Uint8Array): void {
    if (!this.isOpen) return
    this.#transcript.addFrame({ connection: this.name, direction: 'sent', bytes })
    this.#link.write(bytes)
  }

  /** Ends the connection from our side. The transcript does not show this. */
  hangUp(): void {
    this.isOpen = false
    this.#close()
  }

  /** Sends the first frame. Resolves with the server's first frame, or undefined if the server closes the connection. */
  shake(bytes: Uint8Array): Promise<ConnectedMessage | undefined> {
    this.write(bytes)
    if (!this.isOpen) return Promise.resolve(undefined)
    return new Promise((resolve) => (this.#handshake = resolve))
  }

  /** Sends a request. Without `asked`, the transcript shows neither the request nor its reply. */
  call(message: RequestMessage, asked?: readonly Part[]): Promise<Reply> {
    const bytes = encodeMessage(message)
    this.write(bytes)
    return this.expect(message, asked && [...asked, this.#framePart('sent', bytes)])
  }

  /** Waits for the reply to a request that was written, or that the caller writes next. */
  expect({ xid, opCode }: { readonly xid: number; readonly opCode: number }, asked?: readonly Part[]): Promise<Reply> {
    if (!this.isOpen) return Promise.resolve(undefined)
    return new Promise((settle) => this.#calls.push({ xid, opCode, asked, settle }))
  }

  /**
   * Sends a request that the transcript does not show, and returns the zxid of its reply. When the reply comes, earlier
   * requests that have no reply are settled without one.
   */
  async fence(message: RequestMessage): Promise<bigint | undefined> {
    const before = new Set(this.#calls)
    const reply = await this.call(message)
    if (reply === undefined) return undefined
    const unanswered = this.#calls.filter((call) => before.has(call))
    this.#calls = this.#calls.filter((call) => !before.has(call))
    for (const call of unanswered) this.#unanswered(call, 'no answer')
    return reply.zxid
  }

  /** The requests without a reply, for the error message of a scenario that hangs. */
  get pending(): readonly string[] {
    return this.#calls.map(({ asked: [what] = [], opCode }) => (typeof what === 'string' ? what : `opcode ${opCode}`))
  }

  /** Waits until the connection has received this many events since it was opened. */
  async heardEvents(count: number): Promise<void> {
    while (this.isOpen && this.#eventCount < count) {
      await new Promise<void>((resolve) => (this.#onEvent = resolve))
    }
  }

  /** The events and replies since the last call, in the order of their arrival. */
  takeMessages(): readonly (EventMessage | ReplyMessage)[] {
    const messages = this.#messages
    this.#messages = []
    return messages
  }

  /** The events since the last call. Forgets the replies. */
  takeEvents(): readonly EventMessage[] {
    return this.takeMessages().filter((message) => message.type === 'event')
  }

  #received(chunk: Uint8Array): void {
    this.#transcript.addFrame({ connection: this.name, direction: 'received', bytes: chunk })
    this.#frames.push(chunk)
    const text = this.#isFirst ? this.#frames.takeText() : undefined
    if (text !== undefined) return this.#transcript.add(this.name, 'text', { value: new TextDecoder().decode(text) })
    try {
      for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) this.#frame(frame)
    } catch (error) {
      if (!ProtocolError.is(error)) throw error
      this.#transcript.add(this.name, `what cannot be a frame: ${error.message}`)
      this.#close()
    }
  }

  #frame(frame: Uint8Array): void {
    let call: Call | undefined
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (!isFirst && frame.byteLength >= HEADER_SIZE) this.headers.push(headerOf(frame))
    const received = this.#framePart('received', concat([int32(frame.byteLength), frame]))
    try {
      call = isFirst ? undefined : this.#takeEstablished(frame)
      if (call !== undefined) return this.#established(call, frame, received)
      const message = decodeServerFrame(frame, isFirst, (xid) => (call = this.#take(xid)))
      if (message.type === 'connected') return this.#connected(message, received)
      if (message.type === 'event') return this.#event(message, received)
      // The replies to ping and auth have fixed xids, for which the decoder does not call `#take`.
      call ??= this.#take(message.xid)
      if (call?.asked !== undefined) {
        this.#transcript.add(this.name, ...call.asked, '->', ...answer(message), received)
      } else if (call === undefined) {
        this.#transcript.add(this.name, `unasked reply under xid ${message.xid}`, ...answer(message), received)
      }
      this.#messages.push(message)
      call?.settle(message)
    } catch (error) {
      if (!ProtocolError.is(error)) throw error
      const asked = call?.asked ?? []
      const rest = { value: frame.slice(8) }
      this.#transcript.add(this.name, ...asked, `-> cannot be read: ${error.message}`, rest, received)
      call?.settle(undefined)
    }
  }

  /** A createSession is answered in the form of a handshake, so without its xid (ZooKeeperServer.finishSessionInit). */
  #takeEstablished(frame: Uint8Array): Call | undefined {
    const protocolVersion = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getInt32(0)
    if (protocolVersion !== 0 || !establishedSizes.has(frame.byteLength)) return undefined
    const index = this.#calls.findIndex(({ opCode }) => opCode === OpCode.createSession)
    return index === -1 ? undefined : this.#calls.splice(index, 1)[0]
  }

  #established({ asked = [], settle }: Call, frame: Uint8Array, received: Part): void {
    const message = decodeServerFrame(frame, true, () => undefined) as ConnectedMessage
    this.#transcript.add(this.name, ...asked, '-> connected', { value: message.response }, ...more(message), received)
    settle(undefined)
  }

  #connected(message: ConnectedMessage, received: Part): void {
    this.#transcript.nameSession(message.response.sessionId)
    this.#transcript.add(this.name, 'connected', { value: message.response }, ...more(message), received)
    this.#handshake?.(message)
    this.#handshake = undefined
  }

  #event(message: EventMessage, received: Part): void {
    const eventZxid = { value: message.zxid, field: 'eventZxid' }
    this.#transcript.add(this.name, EVENT, { value: message.event }, eventZxid, ...more(message), received)
    this.#messages.push(message)
    this.#eventCount++
    this.#onEvent?.()
  }

  /** The frames of a line are for reports. */
  #framePart(direction: Frame['direction'], bytes: Uint8Array): Part {
    return { frame: { connection: this.name, direction, bytes } }
  }

  #close(): void {
    this.#link.close()
    this.#lost()
  }

  #lost(): void {
    if (this.isOpen) this.#transcript.add(this.name, 'closed by the server')
    this.isOpen = false
    this.#end()
    const calls = this.#calls
    this.#calls = []
    for (const call of calls) this.#unanswered(call, 'closed instead')
    this.#handshake?.(undefined)
    this.#onEvent?.()
  }

  #unanswered({ asked, settle }: Call, how: string): void {
    if (asked !== undefined) this.#transcript.add(this.name, ...asked, `-> ${how}`)
    settle(undefined)
  }

  #take(xid: number): Call | undefined {
    const index = this.#calls.findIndex((call) => call.xid === xid)
    return index === -1 ? undefined : this.#calls.splice(index, 1)[0]
  }
}

/** In bytes: an int, a long and an int. */
const HEADER_SIZE = 16

function headerOf(frame: Uint8Array): FrameHeader {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  return { xid: view.getInt32(0), zxid: view.getBigInt64(4), err: view.getInt32(12), size: frame.byteLength }
}

/** The sizes of an answer to a handshake in bytes, without readOnly and with it. */
const establishedSizes: ReadonlySet<number> = new Set([36, 37])

export const pingMessage: RequestMessage = {
  type: 'request',
  op: 'ping',
  opCode: OpCode.ping,
  xid: Xid.ping,
  request: undefined,
}

function answer(message: ReplyMessage): Part[] {
  return [{ value: message.err, field: 'err' }, zxidOf(message), { value: message.response }, ...more(message)]
}

function zxidOf({ zxid }: { readonly zxid: bigint }): Part {
  return { value: zxid, field: 'zxid' }
}

/** The bytes behind the last field of our record. */
function more({ rest }: { readonly rest?: Uint8Array | undefined }): Part[] {
  return rest === undefined ? [] : ['and', { value: rest }]
}
