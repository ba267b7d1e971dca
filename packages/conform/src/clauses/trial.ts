// What the check of a clause uses: sessions whose paths are below a node of its own, and the lines of what it has seen.
import {
  type ACL,
  concat,
  ErrorCode,
  errorName,
  type EventMessage,
  eventName,
  FrameDecoder,
  OpCode,
  operationName,
  type Stat,
} from '@zk/wire'
import {
  type Connection,
  type Credentials,
  type OpenOptions,
  type Place,
  type Reply,
  type Scenario,
  type Session,
  toHex,
} from '../play/index.ts'

/** How long a check waits for what a server should do at once, in ms: long enough for a busy machine. */
const PATIENCE = 5_000
/** How long a check waits for what servers do at a time of their own, in ms: by default they look for empty containers each minute. */
const LONG_PATIENCE = 90_000

/** What a check uses: it opens sessions, sends requests, and tells `see` what the clause is about. */
export class Trial {
  /** For what has no method here: the servers, their faults and the transcript. */
  readonly scenario: Scenario
  readonly #seen: string[] = []

  constructor(scenario: Scenario) {
    this.scenario = scenario
  }

  /** Opens a session: `timeOut` is 0 if the server has refused it. Its paths are below the node of this trial. */
  open(options?: OpenOptions): Promise<Session> {
    return this.scenario.open(options)
  }

  /** Opens a connection without a session, for handshakes and frames that no client sends. */
  dial(at?: Place): Promise<Connection> {
    return this.scenario.dial(at)
  }

  /** Waits for `time` ms, for actions of servers whose time they choose. */
  sleep(time: number): Promise<void> {
    return this.scenario.sleep(time)
  }

  /** Whether the promise is settled within `time` ms. */
  async within(promise: Promise<unknown>, time = PATIENCE): Promise<boolean> {
    let cancel = (): void => {}
    const late = new Promise<boolean>((resolve) => {
      cancel = this.scenario.stage.runtime.setTimer(time, () => resolve(false))
    })
    try {
      return await Promise.race([promise.then(() => true), late])
    } finally {
      cancel()
    }
  }

  /** Waits until the session has received this many events since it was opened; not for ever. */
  async heard({ connection }: Session, count: number): Promise<void> {
    await this.within(connection.heardEvents(count), LONG_PATIENCE)
  }

  /** `closed` if the server closes the connection within `time` ms, else `open`. */
  async fate(connection: Connection, time?: number): Promise<string> {
    return (await this.within(connection.closed, time)) ? 'closed' : 'open'
  }

  /** All bytes that the connection has received. */
  received({ name }: Connection): Uint8Array {
    const { frames } = this.scenario.transcript
    const chunks = frames.filter(({ connection, direction }) => connection === name && direction === 'received')
    return concat(chunks.map(({ bytes }) => bytes))
  }

  /**
   * What became of a handshake: `new`, or, for a session that exists, `resumed` or `another session`; `refused` if its answer
   * says so, and `closed` if there was no answer.
   */
  handshake(session: Session, wanted?: Pick<Credentials, 'sessionId'>): string {
    if (session.timeOut <= 0) return this.received(session.connection).length > 0 ? 'refused' : 'closed'
    if (wanted === undefined) return 'new'
    return session.sessionId === wanted.sessionId ? 'resumed' : 'another session'
  }

  /** Adds a line to what this trial compares: its parts, with spaces between them. */
  see(...parts: readonly (string | number | bigint | boolean)[]): void {
    this.#seen.push(parts.join(' '))
  }

  /** Name and password of the superuser, for clauses that need it. */
  get superUser(): string {
    return this.scenario.superUser
  }

  /** The lines that `see` was told. */
  get seen(): readonly string[] {
    return this.#seen
  }

  /** `Ok`, `NoNode`, … or `closed`, if the server has closed the connection instead of answering. */
  error(reply: Reply): string {
    return reply === undefined ? 'closed' : (errorName(reply.err) ?? String(reply.err))
  }

  /** The error of the last reply to a session, and whether the server has then closed the connection: `AuthFailed, closed`. */
  async ending(session: Session, reply: Reply): Promise<string> {
    const error = this.error(reply)
    if (reply === undefined || reply.err === ErrorCode.Ok) return error
    const zxid = await session.fence()
    return `${error}, ${zxid === undefined ? 'closed' : 'open'}`
  }

  /** What comes of a request that has no reply: `closed`, if the server closes the connection, or else `no reply`. */
  async silence(session: Session, request: Promise<Reply>): Promise<string> {
    const [reply, zxid] = await Promise.all([request, session.fence()])
    if (reply !== undefined) return this.error(reply)
    return zxid === undefined ? 'closed' : 'no reply'
  }

  /** The error, or these fields of the Stat, such as `version 1 cversion 2`. */
  stat(reply: Reply, ...fields: readonly (keyof Stat)[]): string {
    const stat = this.statOf(reply)
    if (stat === undefined) return this.error(reply)
    return fields.map((field) => `${field} ${stat[field]}`).join(' ')
  }

  /** The Stat; undefined if the reply has none. */
  statOf(reply: Reply): Stat | undefined {
    return this.field(reply, 'stat') as Stat | undefined
  }

  /** A field of the response; undefined if the response lacks it. */
  field(reply: Reply, name: string): unknown {
    const response: unknown = reply !== undefined && 'response' in reply ? reply.response : undefined
    return typeof response === 'object' && response !== null ? (response as Record<string, unknown>)[name] : undefined
  }

  /** The error, or the path that a create has answered with, relative to the node of this trial. */
  path(reply: Reply): string {
    const path = this.field(reply, 'path')
    return typeof path === 'string' ? this.relative(path) : this.error(reply)
  }

  /** The error, or the data: `'text'`, `0x…` or `null`. */
  data(reply: Reply): string {
    const data = this.field(reply, 'data')
    if (data === undefined) return this.error(reply)
    return data === null ? 'null' : bytesToText(data as Uint8Array)
  }

  /** The error, or the names in alphabetical order, such as `[a, b]`. */
  children(reply: Reply): string {
    const children = this.field(reply, 'children') as readonly string[] | undefined
    return children === undefined ? this.error(reply) : `[${children.toSorted().join(', ')}]`
  }

  /** The error, or the ACL, such as `[world:anyone 31]`. */
  acl(reply: Reply): string {
    const acl = this.field(reply, 'acl') as readonly ACL[] | undefined
    if (acl === undefined) return this.error(reply)
    return `[${acl.map(({ perms, id }) => `${id.scheme}:${id.id} ${perms}`).join(', ')}]`
  }

  /** The error of a multi or multiRead, then its results if there are some: `Ok [create /a, error NoNode]`. */
  results(reply: Reply): string {
    const response: unknown = reply !== undefined && 'response' in reply ? reply.response : undefined
    if (!Array.isArray(response)) return this.error(reply)
    return `${this.error(reply)} [${response.map((result) => this.#result(result as MultiResult)).join(', ')}]`
  }

  /** The Stats in the results of a multi or multiRead. */
  resultStats(reply: Reply): readonly Stat[] {
    const response: unknown = reply !== undefined && 'response' in reply ? reply.response : undefined
    if (!Array.isArray(response)) return []
    return (response as readonly MultiResult[]).flatMap(
      (each) => (each.response as { readonly stat?: Stat })?.stat ?? [],
    )
  }

  /** Waits until everything that the server has sent so far is received. Returns the events since the last call. */
  async events(session: Session): Promise<readonly string[]> {
    await session.fence()
    return session.connection.takeEvents().map((event) => this.event(event))
  }

  /** The last frame that this session has received, in hex, without its length and its header. */
  lastBody({ connection }: Session): string {
    const frames = new FrameDecoder()
    for (const { connection: name, direction, bytes } of this.scenario.transcript.frames) {
      if (name === connection.name && direction === 'received') frames.push(bytes)
    }
    let last = new Uint8Array()
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) last = new Uint8Array(frame)
    return toHex(last.slice(REPLY_HEADER))
  }

  /** Adds a line with the events since the last call: `NodeCreated /a, NodeDeleted /a` or `no event`, after `what: `. */
  async seeEvents(session: Session, what?: string): Promise<void> {
    const events = (await this.events(session)).join(', ') || 'no event'
    this.see(what === undefined ? events : `${what}: ${events}`)
  }

  /**
   * Adds a line with the events and the replies since the last call, in the order of their arrival, such as
   * `NodeCreated /a, create`. Replies to pings and syncs are left out.
   */
  async seeMessages(session: Session): Promise<void> {
    await session.fence()
    const shown = session.connection.takeMessages().flatMap((message) => {
      if (message.type === 'event') return this.event(message)
      return message.op === 'ping' || message.op === 'sync' ? [] : (message.op ?? String(message.opCode))
    })
    this.see(shown.join(', '))
  }

  /** Waits for something that servers do at a time of their own. */
  async until(isDone: () => Promise<boolean>): Promise<void> {
    while (!(await isDone())) await this.sleep(50)
  }

  /** Such as `NodeCreated /a`. */
  event({ event: { type, path } }: EventMessage): string {
    return `${eventName(type) ?? type} ${path === null ? 'null' : this.relative(path)}`
  }

  /** A path as the sessions of this trial see it. */
  relative(path: string): string {
    const { root } = this.scenario
    if (path === root) return '/'
    return path.startsWith(`${root}/`) ? path.slice(root.length) : path
  }

  #result({ type, response }: MultiResult): string {
    if (type === OpCode.error) {
      const err = (response as { readonly err?: number } | undefined)?.err ?? response
      return `error ${typeof err === 'number' ? (errorName(err) ?? err) : String(err)}`
    }
    const name = operationName(type) ?? String(type)
    const path = (response as { readonly path?: string } | undefined)?.path
    return path === undefined ? name : `${name} ${this.relative(path)}`
  }
}

/** The size of xid, zxid and error in bytes. */
const REPLY_HEADER = 16

interface MultiResult {
  readonly type: number
  readonly response?: unknown
}

function bytesToText(bytes: Uint8Array): string {
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) return `'${String.fromCharCode(...bytes)}'`
  return `0x${toHex(bytes)}`
}
