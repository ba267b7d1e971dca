import { inspect } from 'node:util'
import {
  ConnectRequest,
  decode,
  type ErrorName,
  type EventType,
  FrameDecoder,
  OpCode,
  type Type,
  type TypeOf,
  Xid,
} from '@zk/wire'
import { expect } from 'vitest'
import { eventFrame, type EventFields, type Handshake, handshakeFrame, replyFrame, type ReplyFields } from './frames.ts'
import type { Link, Peer } from './link.ts'
import { type KnownOpCode, opName, readRequest, type ReceivedRequest } from './requests.ts'
import type { VirtualWorld } from './virtual-world.ts'

type Answerable = Pick<ReceivedRequest, 'xid'>

/**
 * The server's end of one connection, by script: expect this, send that. Sending returns at once; the client learns of
 * it when the world moves, which every `expect…` makes it do.
 */
export class FakeConnection implements Peer {
  /** `host:port` */
  readonly server: string
  /** The names of what came in, one list for each write of the client. */
  readonly segments: string[][] = []
  /** When heartbeats came: two pings each. */
  readonly heartbeats: number[] = []
  /** Pings are answered at once and never expected; without it they are requests like others. */
  answersPings = true
  /** Whether the client has closed it. */
  isClosed = false
  readonly #world: VirtualWorld
  readonly #link: Link
  readonly #frames = new FrameDecoder()
  readonly #requests: ReceivedRequest[] = []
  #pings = 0
  #connectRequest: TypeOf<typeof ConnectRequest> | undefined
  #together: Uint8Array[] | undefined
  #isFrozen = false

  constructor(world: VirtualWorld, link: Link, server: string) {
    this.server = server
    this.#world = world
    this.#link = link
  }

  // --- what the client must have sent -----------------------------------------------------------------------------

  async expectConnect(): Promise<TypeOf<typeof ConnectRequest>> {
    await this.#world.settle()
    expect(this.#connectRequest, `a ConnectRequest at ${this.server}`).toBeDefined()
    return this.#connectRequest!
  }

  /** The next request; fails when it is another or none. */
  async expect<Op extends KnownOpCode>(opCode: Op): Promise<ReceivedRequest<Op>> {
    await this.#world.settle()
    return this.#next(opCode)
  }

  /** The next requests, in this order. */
  async expectAll<const Ops extends readonly KnownOpCode[]>(
    ...opCodes: Ops
  ): Promise<{ -readonly [Index in keyof Ops]: ReceivedRequest<Ops[Index]> }> {
    await this.#world.settle()
    const received = opCodes.map((opCode) => this.#next(opCode))
    return received as { -readonly [Index in keyof Ops]: ReceivedRequest<Ops[Index]> }
  }

  async expectNothing(): Promise<void> {
    await this.#world.settle()
    expect(
      this.#requests.map(({ name }) => name),
      `requests at ${this.server}`,
    ).toEqual([])
  }

  // --- what the server sends --------------------------------------------------------------------------------------

  /** Answers the ConnectRequest: by default with the timeout it asks for, the session it names, or else a new one. */
  accept(response: Handshake = {}): void {
    const { sessionId, timeOut } = this.#connectRequest ?? { sessionId: 0n, timeOut: 30_000 }
    const id = sessionId === 0n ? 0x1000n + BigInt(this.#world.dials.length) : sessionId
    this.raw(
      handshakeFrame({ timeOut, sessionId: id, passwd: new Uint8Array(16).fill(7), readOnly: false, ...response }),
    )
  }

  /** Answers the ConnectRequest as a server does that no longer knows the session. */
  expire(): void {
    this.accept({ timeOut: 0, sessionId: 0n, passwd: new Uint8Array(16) })
  }

  /** Answers a request: with a body, or with a header alone where it has none. */
  reply(request: Answerable): void
  reply<T>(request: Answerable, type: Type<T>, body: T, header?: Omit<ReplyFields, 'xid'>): void
  reply<T>({ xid }: Answerable, type?: Type<T>, body?: T, header?: Omit<ReplyFields, 'xid'>): void {
    this.raw(type === undefined ? replyFrame({ xid }) : replyFrame({ xid, ...header }, type, body as T))
  }

  /** Answers a request with an error, by name or by number. */
  fail({ xid }: Answerable, err: ErrorName | number, zxid = 1n): void {
    this.raw(replyFrame({ xid, zxid, err }))
  }

  event(type: EventType | number, path: string | null, fields?: EventFields): void {
    this.raw(eventFrame(type, path, fields))
  }

  raw(bytes: Uint8Array): void {
    if (this.#isFrozen) return
    if (this.#together === undefined) this.#link.deliver(bytes)
    else this.#together.push(bytes)
  }

  /** Everything that `send` sends arrives in one piece. */
  together(send: () => void): void {
    const parts: Uint8Array[] = []
    this.#together = parts
    send()
    this.#together = undefined
    this.raw(Uint8Array.from(Buffer.concat(parts)))
  }

  // --- what becomes of the connection -----------------------------------------------------------------------------

  /** The server closes it, in order behind what it has sent. */
  fin(): void {
    this.#link.lose(new Error('the server closed the connection'))
  }

  rst(error = new Error('read ECONNRESET')): void {
    this.#link.lose(error)
  }

  /** Half-open: from now on everything is lost, in both directions, and no party is notified. */
  freeze(): void {
    this.#isFrozen = true
  }

  /** The client is ordered to wait before it writes more. */
  stopReading(): void {
    this.#link.stopReading()
  }

  resumeReading(): void {
    this.#link.resumeReading()
  }

  /** Bytes that the client has written since `stopReading`. */
  get unread(): number {
    return this.#link.unread
  }

  // --- Peer -------------------------------------------------------------------------------------------------------

  received(segment: Uint8Array): void {
    if (this.#isFrozen) return
    const names: string[] = []
    this.segments.push(names)
    this.#frames.push(segment)
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next())
      names.push(this.#take(frame))
  }

  closed(): void {
    this.isClosed = true
  }

  #next<Op extends KnownOpCode>(opCode: Op): ReceivedRequest<Op> {
    const next = this.#requests.shift()
    const name = opName(opCode)
    if (next?.name !== name) expect(next?.name ?? 'nothing', `next at ${this.server}: ${inspect(next)}`).toBe(name)
    return next as ReceivedRequest<Op>
  }

  #take(frame: Uint8Array): string {
    if (this.#connectRequest === undefined) {
      this.#connectRequest = decode(ConnectRequest, frame)
      return 'connect'
    }
    const request = readRequest(frame)
    if (request.opCode === OpCode.ping) this.#ping()
    if (request.opCode !== OpCode.ping || !this.answersPings) this.#requests.push(request)
    return request.name
  }

  #ping(): void {
    this.#pings++
    if (this.#pings % 2 === 0) this.heartbeats.push(this.#world.now())
    if (this.answersPings) this.raw(replyFrame({ xid: Xid.ping, zxid: 0n }))
  }
}
