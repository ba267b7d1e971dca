// The state of a client's connection to its ensemble, as a feed for any number of readers.
import type { EndReason } from '../session/protocol/states.ts'

/**
 * How a client stands with its ensemble: plain data, which JSON can hold. `closed` and `authFailed` are the last; so is `expired`
 * where `renewSession` is false.
 */
export type ClientState = ConnectingState | ConnectedState | DisconnectedState | ExpiredState | EndedState

/** What every state has. */
interface Since {
  /** When it began, in ms since the epoch by the clock of this machine. */
  readonly since: number
}

/** What every state of a session has. */
interface OfSession extends Since {
  /** As servers print it: `0x` and hexadecimal digits. */
  readonly sessionId: string
  /** The negotiated session timeout, in ms. */
  readonly timeout: number
}

/** A session's first connection is looked for. */
export interface ConnectingState extends Since {
  /** Tells the states apart. */
  readonly name: 'connecting'
}

/** There is a session, and a connection. */
export interface ConnectedState extends OfSession {
  /** Tells the states apart. */
  readonly name: 'connected'
  /** `host:port` */
  readonly server: string
  /** The server has no quorum: see the option `readOnly`. */
  readonly readOnly: boolean
}

/** There is a session, which may have expired meanwhile, and no connection. */
export interface DisconnectedState extends OfSession {
  /** Tells the states apart. */
  readonly name: 'disconnected'
  /** What the connection, or the last attempt, ended with. In JSON it is its message. */
  readonly error: Error
  /**
   * Every server took our handshake and closed the connection without an answer, one after the other. So does one that has
   * seen less than we have, and one that is part of no quorum: which of the two it is they do not say. When it stays so,
   * the ensemble has lost transactions, from a backup for instance; the session ends by local expiry.
   */
  readonly ensembleBehind: boolean
}

/** The session is over. `connecting` follows, unless `renewSession` is false. */
export interface ExpiredState extends OfSession {
  /** Tells the states apart. */
  readonly name: 'expired'
}

/** The client is of no further use. */
export interface EndedState extends Since {
  /** Tells the states apart. */
  readonly name: 'closed' | 'authFailed'
}

export const endState = {
  SessionExpired: 'expired',
  AuthFailed: 'authFailed',
  Closed: 'closed',
  Unreachable: 'closed',
} as const satisfies Record<EndReason, ClientState['name']>

/** Said here: before TypeScript 5.6 an AsyncIterableIterator takes no type of what it ends with. */
type Result = IteratorResult<ClientState, undefined>

/** The states from now on; leaving the loop ends it. One that is not awaited costs the client nothing: it may be dropped. */
export interface ClientStates extends AsyncIterableIterator<ClientState> {
  /** The next state; `done` when the client has ended, or the loop was left. */
  next(): Promise<Result>
  /** Ends it: a `next` that waits resolves, without a state. */
  return(): Promise<Result>
}

/** The current state, and the followers that wait for the next. It has no reference to others: they look when they are asked. */
export class StateFeed {
  #current: ClientState
  /** How many states there were. */
  #count = 1
  #isOver = false
  readonly #waiting = new Set<Follower>()

  constructor(current: ClientState) {
    this.#current = current
  }

  get current(): ClientState {
    return this.#current
  }

  get count(): number {
    return this.#count
  }

  get isOver(): boolean {
    return this.#isOver
  }

  enter(state: ClientState): void {
    if (state.name === 'disconnected') describeInJson(state)
    this.#current = state
    this.#count++
    for (const follower of this.#awaited()) follower.look()
  }

  /** There will be no other state. */
  end(): void {
    this.#isOver = true
    for (const follower of this.#awaited()) follower.look()
  }

  follow(): ClientStates {
    return new Follower(this)
  }

  /** It looks at the next state, once. */
  tellNext(follower: Follower): void {
    this.#waiting.add(follower)
  }

  forget(follower: Follower): void {
    this.#waiting.delete(follower)
  }

  #awaited(): readonly Follower[] {
    const followers = [...this.#waiting]
    this.#waiting.clear()
    return followers
  }
}

/** Keeps no state but looks at the last: a slow one gets only that. */
class Follower implements ClientStates {
  /** undefined when it has left. */
  #feed: StateFeed | undefined
  /** How many states there were when the last one was taken. */
  #seen = 0
  /** The calls of `next` that wait. */
  readonly #takers: ((result: Result) => void)[] = []

  constructor(feed: StateFeed) {
    this.#feed = feed
  }

  /** One await, as every operation has: promises then settle in the order of the states. */
  async next(): Promise<Result> {
    return await new Promise<Result>((resolve) => {
      this.#takers.push(resolve)
      this.look()
    })
  }

  async return(): Promise<Result> {
    this.#feed?.forget(this)
    this.#feed = undefined
    this.look()
    return OVER
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** There may be something for calls that wait. */
  look(): void {
    const feed = this.#feed
    if (feed !== undefined && this.#seen < feed.count) {
      const taker = this.#takers.shift()
      if (taker === undefined) return
      this.#seen = feed.count
      taker({ value: feed.current, done: false })
    }
    if (feed === undefined || feed.isOver) for (const taker of this.#takers.splice(0)) taker(OVER)
    else if (this.#takers.length > 0) feed.tellNext(this)
  }
}

const OVER = { value: undefined, done: true } as const

/** JSON makes {} of an error. */
function describeInJson(state: DisconnectedState): void {
  const toJSON = () => ({ ...state, error: state.error.message })
  Object.defineProperty(state, 'toJSON', { value: toJSON, configurable: true })
}
