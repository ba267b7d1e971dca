// What the check of a clause uses: sessions whose paths are below a node of its own, and the lines of what it has seen.
import { concat, errorName, type EventMessage, eventName, OpCode, operationName, type Stat } from '@zk/wire'
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

export class Trial {
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

  get seen(): readonly string[] {
    return this.#seen
  }

  /** `Ok`, `NoNode`, … or `closed`, if the server has closed the connection instead of answering. */
  error(reply: Reply): string {
    return reply === undefined ? 'closed' : (errorName(reply.err) ?? String(reply.err))
  }

  /** The error, or these fields of the Stat, such as `version 1 cversion 2`. */
  stat(reply: Reply, ...fields: readonly (keyof Stat)[]): string {
    const stat = this.#field(reply, 'stat') as Stat | undefined
    if (stat === undefined) return this.error(reply)
    return fields.map((field) => `${field} ${stat[field]}`).join(' ')
  }

  /** The Stat; undefined if the reply has none. */
  statOf(reply: Reply): Stat | undefined {
    return this.#field(reply, 'stat') as Stat | undefined
  }

  /** The error, or the path that a create has answered with, relative to the node of this trial. */
  path(reply: Reply): string {
    const path = this.#field(reply, 'path')
    return typeof path === 'string' ? this.relative(path) : this.error(reply)
  }

  /** The error, or the data: `'text'`, `0x…` or `null`. */
  data(reply: Reply): string {
    const data = this.#field(reply, 'data')
    if (data === undefined) return this.error(reply)
    return data === null ? 'null' : bytesToText(data as Uint8Array)
  }

  /** The error, or the names in alphabetical order, such as `[a, b]`. */
  children(reply: Reply): string {
    const children = this.#field(reply, 'children') as readonly string[] | undefined
    return children === undefined ? this.error(reply) : `[${children.toSorted().join(', ')}]`
  }

  /** The error of a multi or multiRead and then, if it has any, its results: `Ok [create /a, error NoNode]`. */
  results(reply: Reply): string {
    const response: unknown = reply !== undefined && 'response' in reply ? reply.response : undefined
    if (!Array.isArray(response)) return this.error(reply)
    return `${this.error(reply)} [${response.map((result) => this.#result(result as MultiResult)).join(', ')}]`
  }

  /** Waits until everything that the server has sent so far is received. Returns the events since the last call. */
  async events(session: Session): Promise<readonly string[]> {
    await session.fence()
    return session.connection.takeEvents().map((event) => this.event(event))
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

  #field(reply: Reply, name: string): unknown {
    const response: unknown = reply !== undefined && 'response' in reply ? reply.response : undefined
    return typeof response === 'object' && response !== null ? (response as Record<string, unknown>)[name] : undefined
  }
}

interface MultiResult {
  readonly type: number
  readonly response?: unknown
}

function bytesToText(bytes: Uint8Array): string {
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) return `'${String.fromCharCode(...bytes)}'`
  return `0x${toHex(bytes)}`
}
