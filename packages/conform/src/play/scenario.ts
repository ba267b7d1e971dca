// What a scenario uses: sessions at places of the ensemble, and a transcript of everything that they receive.
import type { FourLetterWord } from '@zk/testing'
import { ask, type AskOptions } from './four-letter-word.ts'
import { Connection } from './connection.ts'
import { type ConnectOptions, type Credentials, Session } from './session.ts'
import { Lacking, type Place, type Stage } from './target.ts'
import type { Part, PhaseOptions, Transcript } from './transcript.ts'

/** How a session is opened, and where. */
export interface OpenOptions extends ConnectOptions {
  /** @default 'leader' */
  at?: Place | undefined
  /** Whether its paths are below the scenario's own node. @default true */
  isBelowRoot?: boolean | undefined
}

/** What a scenario is made from. */
interface ScenarioOptions extends Pick<Scenario, 'stage' | 'root' | 'transcript'> {
  /** Undefined if the servers do not say. */
  clientAddress: string | undefined
}

/** What a scenario uses: sessions at places of the ensemble, and a transcript of everything that they receive. */
export class Scenario {
  /** Faults of the servers, and their addresses. */
  readonly stage: Stage
  /** The scenario's own node, which its sessions see as `/`. */
  readonly root: string
  /** Everything that its connections have received. */
  readonly transcript: Transcript
  readonly #clientAddress: string | undefined
  readonly #connections: Connection[] = []
  readonly #sessions: Session[] = []
  readonly #opening = new Set<Promise<Session>>()
  #isOver = false

  constructor({ stage, root, transcript, clientAddress }: ScenarioOptions) {
    this.stage = stage
    this.root = root
    this.transcript = transcript
    this.#clientAddress = clientAddress
    transcript.join('scenario')
  }

  /** Name and password of the superuser, for what needs it. */
  get superUser(): string {
    const { superUser } = this.stage
    if (superUser === undefined) throw new Error('the password of the superuser is not known')
    return superUser
  }

  /** The address of this process, as servers see it. */
  get clientAddress(): string {
    if (this.#clientAddress !== undefined) return this.#clientAddress
    throw new Lacking('the server does not say which address this process has: `cons` is not on its whitelist')
  }

  /** For scenarios whose transcripts have the address: without it there is no verdict. */
  needsClientAddress(): void {
    void this.clientAddress
  }

  /** Opens a connection that sends nothing by itself. Connections are called a, b, c … in the order of the calls. */
  async dial(at: Place = 'leader'): Promise<Connection> {
    this.#mustGoOn()
    const name = nameOf(this.#connections.length)
    const connection = await Connection.open(this.stage.address(at), name, this.transcript, this.stage.runtime)
    this.#connections.push(connection)
    if (this.#isOver) connection.hangUp()
    this.#mustGoOn()
    return connection
  }

  /** Opens a session. If a server refuses it, the result shows that. */
  async open({ at = 'leader', isBelowRoot = true, ...options }: OpenOptions = {}): Promise<Session> {
    const connection = await this.dial(at)
    const opening = Session.open(connection, isBelowRoot ? this.root : '', options)
    this.#opening.add(opening)
    try {
      const session = await opening
      this.#sessions.push(session)
      return session
    } finally {
      this.#opening.delete(opening)
    }
  }

  /** Opens a session at the leader and one at a follower, and waits until both servers know of both. */
  async pair(): Promise<{ readonly a: Session; readonly b: Session }> {
    const pair = { a: await this.open(), b: await this.open({ at: 'follower' }) }
    // The leader may be the last server that applies a session, and would then answer from an older state.
    await this.#level()
    return pair
  }

  /** Resumes a session when a server accepts clients. The transcript does not show failed attempts. */
  async resume(session: Credentials, options: OpenOptions = {}): Promise<Session> {
    await this.ready(options.at)
    return this.open({ ...options, session })
  }

  /** Waits until the server accepts clients. */
  async ready(at: Place = 'leader'): Promise<void> {
    while (!/^Mode: /m.test(await this.ask(at, 'srvr', { timeout: 1_000 }))) await this.sleep(50)
  }

  /** The server's answer to a four-letter word. */
  ask(at: Place, word: string, options: Pick<AskOptions, 'timeout'> = {}): Promise<string> {
    const { host, port } = this.stage.address(at)
    return ask(port, word as FourLetterWord, { ...options, host, runtime: this.stage.runtime })
  }

  /** Waits until every session has received everything that has happened. This ends a phase of the transcript. */
  async settle(options: PhaseOptions = {}): Promise<void> {
    await this.#level()
    this.transcript.nextPhase(options)
  }

  /** Waits for `time` ms, for actions of servers whose time they choose. */
  async sleep(time: number): Promise<void> {
    this.#mustGoOn()
    await new Promise<void>((resolve) => this.stage.runtime.setTimer(time, resolve))
  }

  /** Adds a line that does not come from a connection. */
  note(...line: readonly Part[]): void {
    this.transcript.add('scenario', ...line)
  }

  /** The requests without a reply, for the error message of a scenario that hangs. */
  get pending(): readonly string[] {
    return this.#connections.flatMap(({ name, pending }) => pending.map((call) => `${name}: ${call}`))
  }

  /** Stops a scenario that came to no end. Waits for the sessions that are being opened: they, too, must be closed. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.allSettled(this.#opening)
  }

  /** Ends everything that is still open. The transcript does not show this. */
  end(): void {
    this.#isOver = true
    for (const session of this.#sessions) session.stopPings()
    for (const connection of this.#connections) connection.hangUp()
  }

  /** All sessions that were opened, including those that have ended. */
  get sessions(): readonly Session[] {
    return this.#sessions
  }

  /** When the connections of a scenario that hung are ended, its code goes on: this stops it. */
  #mustGoOn(): void {
    if (this.#isOver) throw new Error('the scenario is over')
  }

  /** Waits until the servers of all sessions have applied the same transactions, and until all data was received. */
  async #level(): Promise<void> {
    let last = -1n
    for (const { lastZxid } of this.#sessions) if (lastZxid > last) last = lastZxid
    // A leader answers a sync at once, even if followers have applied more than it has (CommitProcessor.matchSyncs).
    for (let isLevel = false; !isLevel;) {
      const sessions = this.#sessions.filter(({ isOpen }) => isOpen)
      const zxids = (await Promise.all(sessions.map((session) => session.fence()))).filter((zxid) => zxid !== undefined)
      for (const zxid of zxids) if (zxid > last) last = zxid
      isLevel = zxids.every((zxid) => zxid === last)
    }
  }
}

/** a, b … z, a1, b1 … */
function nameOf(index: number): string {
  const round = Math.floor(index / 26)
  return String.fromCharCode('a'.charCodeAt(0) + (index % 26)) + (round === 0 ? '' : String(round))
}
