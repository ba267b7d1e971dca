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

/** How long a server may take to close the connection of a session that was closed, in ms. */
const PATIENCE = 5_000

export const open: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]

/** What a client must know to resume a session. */
export interface Credentials {
  /** 0 if there is no session. */
  readonly sessionId: bigint
  /** 16 bytes. */
  readonly passwd: Uint8Array
}

/** The fields of a handshake, and whether the session stays alive by itself. */
export interface ConnectOptions {
  /** In ms. @default 10_000 */
  timeOut?: number | undefined
  /** The session to resume. @default a new one */
  session?: Credentials | { readonly sessionId: bigint; readonly passwd: Uint8Array | null } | undefined
  /** The zxid that the server must have reached, or else it refuses. @default 0 */
  lastZxidSeen?: bigint | undefined
  /** undefined omits the field, as clients before 3.4 do. @default false */
  readOnly?: boolean | undefined
  /** Servers ignore it. @default 0 */
  protocolVersion?: number | undefined
  /** Whether it sends pings. @default true */
  pings?: boolean | undefined
}

/** What a create sends besides its path. */
export interface CreateOptions {
  /** A string is sent in UTF-8. @default no bytes */
  data?: string | Uint8Array | null | undefined
  /** The mode, such as 1 for an ephemeral node. @default 0, a persistent node */
  flags?: number | undefined
  /** @default everybody may do everything */
  acl?: readonly ACL[] | null | undefined
  /** The operation that is sent. @default 'create' */
  op?: 'create' | 'create2' | 'createContainer' | undefined
}

/** Paths of the watches that are set again. A list that is left out is empty. */
export interface WatchLists {
  /** Watches of nodes that existed. */
  readonly dataWatches?: Paths | undefined
  /** Watches of nodes that did not exist. */
  readonly existWatches?: Paths | undefined
  /** Watches of lists of children. */
  readonly childWatches?: Paths | undefined
}

/** Also persistent watches. */
export interface AllWatchLists extends WatchLists {
  /** Watches of one path. */
  readonly persistentWatches?: Paths | undefined
  /** Watches of a path and all paths below it. */
  readonly persistentRecursiveWatches?: Paths | undefined
}

/** null is sent as a list of length -1. */
type Paths = BodyOf<'setWatches'>['dataWatches']

/** The fields of a request. */
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

/** A session that sends only the given requests, and pings. Paths are those of the scenario, so `/` is its own node. */
export class Session implements Credentials {
  /** The connection on which it was opened. A session never gets another one. */
  readonly connection: Connection
  /** 0 if the server has refused the session. */
  sessionId = 0n
  /** 16 bytes: zeros if the server has refused the session. */
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

  /** Whether the session was granted, and its connection still exists. */
  get isOpen(): boolean {
    return this.timeOut > 0 && this.connection.isOpen
  }

  /** Sends a request. Its paths are those of the scenario. */
  async call<Name extends OperationName>(
    op: Name,
    request: BodyOf<Name>,
    { xid = this.#nextXid++ }: { readonly xid?: number | undefined } = {},
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

  /** Creates a node. */
  create(path: string | null, { data = '', flags = 0, acl = open, op = 'create' }: CreateOptions = {}): Promise<Reply> {
    const request = { path, data: bytes(data), acl, flags }
    return this.call(op, request)
  }

  /** Deletes a node. Version -1 matches any. */
  delete(path: string | null, version = -1): Promise<Reply> {
    return this.call('delete', { path, version })
  }

  /** Replaces the data. Version -1 matches any. */
  setData(path: string | null, data: string | Uint8Array | null = '', version = -1): Promise<Reply> {
    return this.call('setData', { path, data: bytes(data), version })
  }

  /** Asks for the Stat, and can set a watch. */
  exists(path: string | null, watch = false): Promise<Reply> {
    return this.call('exists', { path, watch })
  }

  /** Asks for data and Stat, and can set a watch. */
  getData(path: string | null, watch = false): Promise<Reply> {
    return this.call('getData', { path, watch })
  }

  /** Asks for the names of the children, and can set a watch. */
  getChildren(path: string | null, watch = false): Promise<Reply> {
    return this.call('getChildren', { path, watch })
  }

  /** Asks for the names of the children and the Stat, and can set a watch. */
  getChildren2(path: string | null, watch = false): Promise<Reply> {
    return this.call('getChildren2', { path, watch })
  }

  /** Asks for the ACL and the Stat. */
  getACL(path: string | null): Promise<Reply> {
    return this.call('getACL', { path })
  }

  /** Replaces the ACL. The version is compared with `aversion`; -1 matches any. */
  setACL(path: string | null, acl: readonly ACL[] | null, version = -1): Promise<Reply> {
    return this.call('setACL', { path, acl, version })
  }

  /** Sends the check of a multi as a request of its own. Version -1 matches any. */
  check(path: string | null, version = -1): Promise<Reply> {
    return this.call('check', { path, version })
  }

  /** Asks a follower to catch up with the leader. */
  sync(path: string | null = '/'): Promise<Reply> {
    return this.call('sync', { path })
  }

  /** Sends these operations as one transaction. */
  multi(...ops: BodyOf<'multi'>): Promise<Reply> {
    return this.call('multi', ops)
  }

  /** Adds an identity to the session. A string is sent in UTF-8. */
  async auth(scheme: string | null, auth: string | Uint8Array | null): Promise<Reply> {
    const reply = await this.call('auth', { type: 0, scheme, auth: bytes(auth) }, { xid: Xid.auth })
    if (reply?.err === 0) this.identities.push([scheme, auth])
    return reply
  }

  /** The default of `relativeZxid` is the highest zxid that this session knows. */
  setWatches(
    { dataWatches = [], existWatches = [], childWatches = [] }: WatchLists,
    relativeZxid = this.lastZxid,
  ): Promise<Reply> {
    const request = { relativeZxid, dataWatches, existWatches, childWatches }
    return this.call('setWatches', request, { xid: Xid.setWatches })
  }

  /** Sets five kinds of watches again, also persistent ones. The default of `relativeZxid` is as in `setWatches`. */
  setWatches2(
    { persistentWatches = [], persistentRecursiveWatches = [], ...lists }: AllWatchLists,
    relativeZxid = this.lastZxid,
  ): Promise<Reply> {
    const { dataWatches = [], existWatches = [], childWatches = [] } = lists
    const request = {
      relativeZxid,
      dataWatches,
      existWatches,
      childWatches,
      persistentWatches,
      persistentRecursiveWatches,
    }
    return this.call('setWatches2', request, { xid: Xid.setWatches })
  }

  /** Adds a watch: mode 0 is persistent, 1 is persistent and recursive. */
  addWatch(path: string, mode: number): Promise<Reply> {
    return this.call('addWatch', { path, mode })
  }

  /** Asks whether the session has a watch of this type: 1 for children, 2 for data, 3 for any. */
  checkWatches(path: string | null, type: number): Promise<Reply> {
    return this.call('checkWatches', { path, type })
  }

  /** Removes watches of this type: 1 for children, 2 for data, 3 for all. */
  removeWatches(path: string | null, type: number): Promise<Reply> {
    return this.call('removeWatches', { path, type })
  }

  /** Sends a ping in addition to the automatic ones. */
  ping(): Promise<Reply> {
    return this.call('ping', undefined, { xid: Xid.ping })
  }

  /** Closes the session. Resolves with the reply. */
  closeSession(): Promise<Reply> {
    this.stopPings()
    return this.call('closeSession', undefined)
  }

  /** Closes the session, and waits until the server has closed the connection. If it does not, the connection is ended. */
  async close(): Promise<void> {
    await this.closeSession()
    const { runtime, closed } = this.connection
    const cancel = runtime.setTimer(PATIENCE, () => this.connection.hangUp())
    await closed
    cancel()
  }

  /** Ends the connection without closing the session, which lives on for a while. */
  async drop(): Promise<void> {
    this.stopPings()
    this.connection.hangUp()
  }

  /** From now on the session sends no pings by itself, and expires if nothing else is sent. */
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
