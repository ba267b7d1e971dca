// A session of a minimal client, which sends only the given requests and pings.
import {
  type ACL,
  encode,
  encodeMessage,
  OpCode,
  type Operation,
  type OperationName,
  operations,
  type RequestMessage,
  type RequestOf,
  Perms,
  Xid,
} from '@zk/wire'
import { type Connection, pingMessage, type Reply } from './connection.ts'

export const open: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]

export interface Credentials {
  readonly sessionId: bigint
  readonly passwd: Uint8Array
}

export interface ConnectOptions {
  /** In ms. @default 10_000 */
  readonly timeOut?: number
  /** The session to resume. @default a new one */
  readonly session?: Credentials | { readonly sessionId: bigint; readonly passwd: Uint8Array | null }
  /** @default 0 */
  readonly lastZxidSeen?: bigint
  /** undefined omits the field, as clients before 3.4 do. @default false */
  readonly readOnly?: boolean | undefined
  /** @default 0 */
  readonly protocolVersion?: number
  /** Whether it sends pings. @default true */
  readonly pings?: boolean
}

export interface CreateOptions {
  readonly data?: string | Uint8Array | null
  readonly flags?: number
  readonly acl?: readonly ACL[] | null
  readonly op?: 'create' | 'create2' | 'createContainer'
}

type BodyOf<Name extends OperationName> = RequestOf<Name>['request']

/**
 * How far the xids of two connections of a session are apart. Servers match a transaction with a waiting request by session
 * and xid only, which is not enough if two connections of one session use the same xids. Then a follower confuses a write of
 * one connection with a waiting sync of the other, and answers the sync twice, the second time with MarshallingError
 * (CommitProcessor, seen on 3.5.10 and 3.8.0).
 */
const XIDS_OF_A_CONNECTION = 1_000

/** An opcode that no operation has: a connection does not read the body of such a reply. */
const NO_OPERATION = 0x7fff_ffff

const utf8 = new TextEncoder()

export class Session implements Credentials {
  readonly connection: Connection
  sessionId = 0n
  passwd: Uint8Array = new Uint8Array(16)
  /** The granted session timeout, in ms; 0 if the session was refused. */
  timeOut = 0
  /** What `auth` was called with, and was accepted. */
  readonly identities: (readonly [scheme: string | null, auth: string | Uint8Array | null])[] = []
  /** The highest zxid of all replies. */
  lastZxid = 0n
  readonly #root: string
  #nextXid = 1
  #cancelPing: () => void = () => {}

  /** Tries to open a session: `timeOut` shows whether it was granted. Paths are below `root`. */
  static async open(connection: Connection, root: string, options: ConnectOptions = {}): Promise<Session> {
    const session = new Session(connection, root)
    if (options.session instanceof Session) session.#nextXid = options.session.#nextXid + XIDS_OF_A_CONNECTION
    const { timeOut = 10_000, lastZxidSeen = 0n, protocolVersion = 0 } = options
    const { sessionId, passwd } = options.session ?? session
    const readOnly = 'readOnly' in options ? options.readOnly : false
    const request = { protocolVersion, lastZxidSeen, timeOut, sessionId, passwd, readOnly }
    const answer = await connection.shake(encodeMessage({ type: 'connect', request }))
    if (answer !== undefined) session.#established(answer.response, options)
    // A server that refuses the session closes the connection afterwards.
    if (session.timeOut <= 0) await connection.closed
    return session
  }

  private constructor(connection: Connection, root: string) {
    this.connection = connection
    this.#root = root
  }

  get isOpen(): boolean {
    return this.timeOut > 0 && this.connection.isOpen
  }

  /** Sends a request. Its paths are those of the scenario. */
  async call<Name extends OperationName>(
    op: Name,
    request: BodyOf<Name>,
    { xid = this.#nextXid++ }: { readonly xid?: number } = {},
  ): Promise<Reply> {
    const message = { type: 'request', op, opCode: operations[op].opCode, xid, request: this.#below(request) }
    const asked = request === undefined ? [op] : [op, { value: request }]
    return this.#noteZxid(await this.connection.call(message as RequestMessage, asked))
  }

  /** Sends a request without the last `cut` bytes of its body. */
  callCut<Name extends OperationName>(op: Name, request: BodyOf<Name>, cut: number): Promise<Reply> {
    const { opCode, request: type } = operations[op] as Operation
    const body = type === undefined ? new Uint8Array() : encode(type, this.#below(request))
    return this.callRaw(opCode, body.slice(0, Math.max(0, body.length - cut)))
  }

  /** Sends a request with exactly these bytes as its body. */
  async callRaw(opCode: number, body: Uint8Array, { xid = this.#nextXid++ } = {}): Promise<Reply> {
    const message: RequestMessage = { type: 'request', op: undefined, opCode, xid, request: undefined, rest: body }
    const asked = [`opcode ${opCode} with ${body.length} bytes`]
    return this.#noteZxid(await this.connection.call(message, asked))
  }

  /** Sends a request, and returns the reply with its whole body in `rest`, whether or not it can be read. */
  async callUnread<Name extends OperationName>(op: Name, request: BodyOf<Name>): Promise<Reply> {
    const message = {
      type: 'request',
      op,
      opCode: operations[op].opCode,
      xid: this.#nextXid++,
      request: this.#below(request),
    }
    this.connection.write(encodeMessage(message as RequestMessage))
    const unread = { xid: message.xid, opCode: NO_OPERATION }
    return this.#noteZxid(await this.connection.expect(unread, [op, { value: request }]))
  }

  create(path: string | null, { data = '', flags = 0, acl = open, op = 'create' }: CreateOptions = {}): Promise<Reply> {
    const request = { path, data: bytes(data), acl, flags }
    return this.call(op, request)
  }

  delete(path: string | null, version = -1): Promise<Reply> {
    return this.call('delete', { path, version })
  }

  setData(path: string | null, data: string | Uint8Array | null = '', version = -1): Promise<Reply> {
    return this.call('setData', { path, data: bytes(data), version })
  }

  exists(path: string | null, watch = false): Promise<Reply> {
    return this.call('exists', { path, watch })
  }

  getData(path: string | null, watch = false): Promise<Reply> {
    return this.call('getData', { path, watch })
  }

  getChildren(path: string | null, watch = false): Promise<Reply> {
    return this.call('getChildren', { path, watch })
  }

  getChildren2(path: string | null, watch = false): Promise<Reply> {
    return this.call('getChildren2', { path, watch })
  }

  getACL(path: string | null): Promise<Reply> {
    return this.call('getACL', { path })
  }

  setACL(path: string | null, acl: readonly ACL[] | null, version = -1): Promise<Reply> {
    return this.call('setACL', { path, acl, version })
  }

  check(path: string | null, version = -1): Promise<Reply> {
    return this.call('check', { path, version })
  }

  sync(path: string | null = '/'): Promise<Reply> {
    return this.call('sync', { path })
  }

  multi(...ops: BodyOf<'multi'>): Promise<Reply> {
    return this.call('multi', ops)
  }

  async auth(scheme: string | null, auth: string | Uint8Array | null): Promise<Reply> {
    const reply = await this.call('auth', { type: 0, scheme, auth: bytes(auth) }, { xid: Xid.auth })
    if (reply?.err === 0) this.identities.push([scheme, auth])
    return reply
  }

  /** The default of `relativeZxid` is the highest zxid that this session knows. */
  setWatches(lists: Partial<Omit<BodyOf<'setWatches'>, 'relativeZxid'>>, relativeZxid = this.lastZxid): Promise<Reply> {
    const none = { dataWatches: [], existWatches: [], childWatches: [] }
    return this.call('setWatches', { relativeZxid, ...none, ...lists }, { xid: Xid.setWatches })
  }

  setWatches2(
    lists: Partial<Omit<BodyOf<'setWatches2'>, 'relativeZxid'>>,
    relativeZxid = this.lastZxid,
  ): Promise<Reply> {
    const none = { dataWatches: [], existWatches: [], childWatches: [] }
    const nor = { persistentWatches: [], persistentRecursiveWatches: [] }
    return this.call('setWatches2', { relativeZxid, ...none, ...nor, ...lists }, { xid: Xid.setWatches })
  }

  addWatch(path: string, mode: number): Promise<Reply> {
    return this.call('addWatch', { path, mode })
  }

  checkWatches(path: string | null, type: number): Promise<Reply> {
    return this.call('checkWatches', { path, type })
  }

  removeWatches(path: string | null, type: number): Promise<Reply> {
    return this.call('removeWatches', { path, type })
  }

  ping(): Promise<Reply> {
    return this.call('ping', undefined, { xid: Xid.ping })
  }

  /** Closes the session, and waits until the server has closed the connection. */
  async close(): Promise<void> {
    this.stopPings()
    await this.call('closeSession', undefined)
    await this.connection.closed
  }

  /** Ends the connection without closing the session, which lives on for a while. */
  async drop(): Promise<void> {
    this.stopPings()
    this.connection.hangUp()
  }

  stopPings(): void {
    this.#cancelPing()
  }

  /**
   * Waits until everything that the server has applied is received; requests that have no reply by then never get one.
   * Returns the zxid of the last transaction that the server has applied. At a follower this includes all that were
   * committed before the call.
   */
  fence(): Promise<bigint | undefined> {
    const request = { path: this.pathBelow('/') }
    return this.connection.fence({ type: 'request', op: 'sync', opCode: OpCode.sync, xid: this.#nextXid++, request })
  }

  #established({ timeOut, sessionId, passwd }: EstablishedSession, { pings = true }: ConnectOptions): void {
    this.timeOut = timeOut
    this.sessionId = sessionId
    this.passwd = passwd ?? new Uint8Array(16)
    if (!pings || timeOut <= 0) return
    this.#pingEvery(timeOut / 3)
    void this.connection.closed.then(() => this.stopPings())
  }

  #pingEvery(interval: number): void {
    this.#cancelPing = this.connection.runtime.setTimer(interval, () => {
      void this.connection.call(pingMessage)
      this.#pingEvery(interval)
    })
  }

  #noteZxid(reply: Reply): Reply {
    if (reply !== undefined && reply.zxid > this.lastZxid) this.lastZxid = reply.zxid
    return reply
  }

  /** A copy of a request in which the paths are below the root of the scenario. */
  #below<T>(value: T, field?: string): T {
    if (typeof value === 'string' && (field === 'path' || field === 'prefixPath' || field === 'paths'))
      return this.pathBelow(value) as T
    if (Array.isArray(value)) {
      const items = field?.endsWith('Watches') === true ? 'paths' : undefined
      return value.map((item: unknown) => this.#below(item, items)) as T
    }
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.#below(part, name)])) as T
  }

  /** The real path for a path of the scenario. */
  pathBelow(path: string): string {
    if (path === '/') return this.#root === '' ? '/' : this.#root
    return path.startsWith('/') ? this.#root + path : path
  }
}

interface EstablishedSession extends Omit<Credentials, 'passwd'> {
  readonly timeOut: number
  readonly passwd: Uint8Array | null
}

function bytes(data: string | Uint8Array | null): Uint8Array | null {
  return typeof data === 'string' ? utf8.encode(data) : data
}
