// An ensemble without sockets, and clients that write and read its bytes, in virtual time.
import {
  type ClientMessage,
  concat,
  type ConnectedMessage,
  decodeServerFrame,
  encodeMessage,
  type EventMessage,
  FrameDecoder,
  type OperationName,
  operations,
  type ReplyMessage,
  type RequestOf,
  type ServerMessage,
} from '@zk/wire'
import { EnsembleModel, type EnsembleOptions, type Link, type Output } from '../../src/index.ts'

/** What the wall shows when the ensemble begins. */
export const EPOCH = 1_700_000_000_000

export class Bench {
  readonly model: EnsembleModel
  now = 0
  readonly #clients = new Map<Link, RawClient>()
  #chance = 1

  constructor(options: EnsembleOptions = { members: 1 }) {
    this.model = new EnsembleModel({
      ...options,
      now: () => this.now,
      wallNow: (now) => EPOCH + now,
      random: () => (this.#chance = (this.#chance * 48_271) % 2_147_483_647) / 2_147_483_647,
    })
    this.model.onWake = () => this.#perform(this.model.elapse(this.now))
    // Until it serves.
    if (this.model.members.length > 1) this.pass(300)
  }

  /** A connection that has sent nothing yet; undefined where it is refused. */
  dial(member = this.model.members[0]!.name, address = '127.0.0.1'): RawClient | undefined {
    const link = this.model.accept(member, { address, port: 50_000 }, this.now)
    if (link === undefined) return undefined
    const client = new RawClient({
      link,
      received: (bytes) => this.#perform(this.model.received(link, bytes, this.now)),
      closed: () => this.#perform(this.model.closed(link, this.now)),
    })
    this.#clients.set(link, client)
    return client
  }

  /** A connection with a session. */
  connect({ member, timeOut = 4_000 }: { readonly member?: string; readonly timeOut?: number } = {}): RawClient {
    const client = this.dial(member)!
    client.handshake({ timeOut })
    this.pass(0)
    return client
  }

  /** Time goes by. */
  pass(ms: number): void {
    const end = this.now + ms
    while (this.model.deadline() <= end) {
      this.now = Math.max(this.now, this.model.deadline())
      this.#perform(this.model.elapse(this.now))
    }
    this.now = end
  }

  #perform(outputs: readonly Output[]): void {
    for (const output of outputs) this.#clients.get(output.link)?.notified(output)
  }
}

interface Line {
  readonly link: Link
  readonly received: (bytes: Uint8Array) => void
  readonly closed: () => void
}

/** The client's end of a connection. */
export class RawClient {
  /** All that came, a chunk an entry. */
  readonly chunks: Uint8Array[] = []
  readonly messages: ServerMessage[] = []
  closed: 'end' | 'reset' | undefined
  readonly #line: Line
  readonly #frames = new FrameDecoder()
  /** Opcodes by xid. */
  readonly #asked = new Map<number, number>()
  #xid = 0

  constructor(line: Line) {
    this.#line = line
  }

  get link(): Link {
    return this.#line.link
  }

  handshake(request: Partial<Extract<ClientMessage, { type: 'connect' }>['request']> = {}): void {
    const blank = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 4_000, sessionId: 0n, passwd: new Uint8Array(16) }
    this.say({ type: 'connect', request: { ...blank, readOnly: false, ...request } })
  }

  /** A request with the next xid, which it returns. */
  ask<Name extends OperationName>(op: Name, request: RequestOf<Name>['request'], xid = ++this.#xid): number {
    const { opCode } = operations[op]
    this.say({ type: 'request', op, opCode, xid, request } as ClientMessage)
    return xid
  }

  /** Several messages in one chunk. */
  say(...messages: readonly ClientMessage[]): void {
    for (const message of messages) if (message.type === 'request') this.#asked.set(message.xid, message.opCode)
    this.raw(concat(messages.map(encodeMessage)))
  }

  /** Bytes that need not make sense. */
  raw(bytes: Uint8Array): void {
    this.#line.received(bytes)
  }

  hangUp(): void {
    this.#line.closed()
  }

  notified(output: Output): void {
    if (output.type === 'close') {
      this.closed = output.how
      return
    }
    this.chunks.push(output.bytes)
    this.#frames.push(output.bytes)
    if (this.messages.length === 0 && this.#frames.takeText() !== undefined) return
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
      const isFirst = this.messages.length === 0
      this.messages.push(decodeServerFrame(frame, isFirst, (xid) => ({ opCode: this.#asked.get(xid) ?? 999 })))
    }
  }

  get connected(): ConnectedMessage['response'] | undefined {
    return this.messages.find((message) => message.type === 'connected')?.response
  }

  get session(): bigint {
    return this.connected!.sessionId
  }

  get replies(): readonly ReplyMessage[] {
    return this.messages.filter((message) => message.type === 'reply')
  }

  get events(): readonly EventMessage[] {
    return this.messages.filter((message) => message.type === 'event')
  }

  get text(): string {
    return this.chunks.map((chunk) => new TextDecoder().decode(chunk)).join('')
  }
}

const OPEN = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

export const node = (path: string, flags = 0) => ({ path, data: new Uint8Array(), acl: OPEN, flags })
