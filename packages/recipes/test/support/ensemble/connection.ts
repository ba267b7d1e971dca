import {
  AuthPacket,
  concat,
  ConnectRequest,
  ConnectResponse,
  decode,
  encodeFrame,
  ErrorCode,
  type ErrorName,
  EventType,
  FrameDecoder,
  type Id,
  KeeperState,
  OpCode,
  Reader,
  readNamed,
  ReplyHeader,
  RequestHeader,
  type TypeOf,
  WatcherEvent,
  type Writer,
  Xid,
} from '@zk/wire'
import type { Link, Peer } from '../outside.ts'
import { digestId } from './acl.ts'
import type { OpName } from './faults.ts'
import { type Answer, operations } from './operations.ts'
import { attempt } from './refusal.ts'
import type { Server } from './server.ts'
import type { ServerSession } from './sessions.ts'
import type { WatchTable } from './watches.ts'
import type { Author } from './writes.ts'

type Header = TypeOf<typeof RequestHeader>

/** The length of a frame that cannot be. */
const GARBAGE = new Uint8Array(4).fill(0xff)

/** The server's end of one TCP connection. */
export class ServerConnection implements Peer {
  readonly server: Server
  session: ServerSession | undefined
  readonly #link: Link
  readonly #frames = new FrameDecoder()
  readonly #identities: Id[] = []
  #state: 'open' | 'frozen' | 'closed' = 'open'
  /** When the last frame arrives at the client: none overtakes it. */
  #arrivesAt = 0

  constructor(server: Server, link: Link) {
    this.server = server
    this.#link = link
  }

  /** Whose requests these are. */
  get author(): Author {
    return { session: this.session?.id ?? 0n, identities: this.#identities }
  }

  watch(table: WatchTable, path: string): void {
    this.server.watches.add(table, path, this)
  }

  tell(type: EventType, path: string, zxid: bigint): void {
    const { history, now } = this.server.ensemble
    history.told.push({ at: now, session: this.author.session, type, path })
    this.#send((writer) => {
      ReplyHeader.write(writer, { xid: Xid.notification, zxid, err: 0 })
      WatcherEvent.write(writer, { type: EventType[type], state: KeeperState.SyncConnected, path })
    })
  }

  // --- what becomes of the connection -----------------------------------------------------------------------------

  /** Behind everything that has been sent. */
  end(): void {
    if (this.#state === 'open') this.#deliver(() => this.#link.lose(new Error('the server closed the connection')))
    this.closed()
  }

  /** At once: what is under way is lost. */
  cut(): void {
    this.#link.lose(new Error('read ECONNRESET'))
    this.closed()
  }

  /** Half-open: from now on everything is lost, both ways, and nobody is told. */
  freeze(): void {
    this.#state = 'frozen'
  }

  // --- Peer -------------------------------------------------------------------------------------------------------

  received(segment: Uint8Array): void {
    this.#frames.push(segment)
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) {
      const whole = frame.slice()
      this.server.ensemble.network.send(() => this.#take(whole))
    }
  }

  closed(): void {
    this.#state = 'closed'
    this.server.connections.delete(this)
    this.server.watches.forget(this)
    if (this.session?.connection === this) this.session.connection = undefined
  }

  // --- frames -----------------------------------------------------------------------------------------------------

  #take(frame: Uint8Array): void {
    if (this.#state !== 'open') return
    if (this.session === undefined) return this.#handshake(decode(ConnectRequest, frame))
    this.server.ensemble.sessions.touch(this.session)
    const reader = new Reader(frame)
    const header = readNamed(RequestHeader, reader)
    if (header.xid === Xid.auth) this.#authenticate(header, readNamed(AuthPacket, reader))
    else this.#serve(header, reader)
  }

  #handshake({ lastZxidSeen, timeOut, sessionId, passwd }: TypeOf<typeof ConnectRequest>): void {
    const { sessions } = this.server.ensemble
    // It has seen what this server does not know yet.
    if (lastZxidSeen > this.server.zxid) return this.end()
    const session = sessionId === 0n ? sessions.open(timeOut) : sessions.resume(sessionId, passwd)
    session?.connection?.end()
    if (session !== undefined) {
      this.session = session
      session.connection = this
      sessions.touch(session)
    }
    const { id, timeout, passwd: given } = session ?? { id: 0n, timeout: 0, passwd: new Uint8Array(16) }
    const response = { protocolVersion: 0, timeOut: timeout, sessionId: id, passwd: given, readOnly: false }
    this.#send((writer) => ConnectResponse.write(writer, response))
    if (session === undefined) this.end()
  }

  #authenticate({ xid }: Header, { auth }: TypeOf<typeof AuthPacket>): void {
    this.#identities.push(digestId(new TextDecoder().decode(auth ?? new Uint8Array(0))))
    this.#reply(xid, {})
  }

  #serve({ xid, type }: Header, reader: Reader): void {
    const { faults, history, now } = this.server.ensemble
    const read = operations[type]
    if (read === undefined) return this.#refuse(xid, 'Unimplemented')
    const { path, run } = read(reader)
    const op = opName(type)
    const { session } = this.author
    const fault = faults.take(op, session)
    const isDone = fault === undefined || fault === 'loseReply' || fault === 'garbage'
    const outcome = isDone ? attempt(() => run(this)) : {}
    const answer = fault ?? (typeof outcome === 'string' ? outcome : 'Ok')
    if (type !== OpCode.ping) history.served.push({ at: now, server: this.server.address, session, op, path, answer })
    if (fault === 'ignore') return
    if (fault === 'loseRequest' || fault === 'loseReply') return this.cut()
    if (typeof fault === 'object') return this.#refuse(xid, fault.fail)
    if (typeof outcome === 'string') return this.#refuse(xid, outcome)
    this.#reply(xid, outcome, fault === 'garbage' ? GARBAGE : new Uint8Array(0))
    if (type === OpCode.closeSession) this.end()
  }

  #refuse(xid: number, code: ErrorName): void {
    this.#send((writer) => ReplyHeader.write(writer, { xid, zxid: this.server.zxid, err: ErrorCode[code] }))
  }

  #reply(xid: number, { zxid = this.server.zxid, body }: Answer, behind?: Uint8Array<ArrayBuffer>): void {
    this.#send((writer) => {
      ReplyHeader.write(writer, { xid, zxid, err: 0 })
      body?.(writer)
    }, behind)
  }

  #send(write: (writer: Writer) => void, behind = new Uint8Array(0)): void {
    const piece = concat([encodeFrame(write), behind])
    this.#deliver(() => {
      if (this.#state !== 'frozen') this.#link.deliver(piece)
    })
  }

  #deliver(arrive: () => void): void {
    const { network, now } = this.server.ensemble
    this.#arrivesAt = Math.max(this.#arrivesAt, now + network.latency())
    network.send(arrive, this.#arrivesAt)
  }
}

function opName(type: number): OpName {
  return (Object.keys(OpCode) as OpName[]).find((name) => OpCode[name] === type)!
}
