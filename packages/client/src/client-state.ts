// How a client stands with its ensemble, told to all who ask.
import { EventQueue } from './event-queue.ts'
import type { EndReason } from './session/states.ts'

export type ClientState =
  /** A session's first connection is looked for. */
  | { readonly name: 'connecting' }
  | {
      readonly name: 'connected'
      readonly server: string
      readonly sessionId: bigint
      /** The server has no quorum: see the option `readOnly`. */
      readonly readOnly: boolean
    }
  | {
      readonly name: 'disconnected'
      readonly sessionId: bigint
      /** What the connection, or the last attempt, ended with. */
      readonly error: Error
      /**
       * Every server took our handshake and closed the connection without an answer, one after the other. So does one that has
       * seen less than we have, and one that is part of no quorum: which of the two it is they do not say. When it stays so,
       * the ensemble has lost transactions, from a backup for instance; the session ends by local expiry.
       */
      readonly ensembleBehind: boolean
    }
  /** `connecting` follows, unless `renewSession` is false. */
  | { readonly name: 'expired'; readonly sessionId: bigint }
  | { readonly name: 'closed' | 'authFailed' }

export const endState = {
  SessionExpired: 'expired',
  AuthFailed: 'authFailed',
  Closed: 'closed',
  Unreachable: 'closed',
} as const satisfies Record<EndReason, ClientState['name']>

type Result = IteratorResult<ClientState, undefined>

/** The states from now on; leaving the loop ends it. */
export interface ClientStates extends AsyncIterableIterator<ClientState, undefined> {
  return(): Promise<Result>
}

/** The current state, and those who follow it. */
export class StateFeed {
  #current: ClientState = { name: 'connecting' }
  #isOver = false
  readonly #followers = new Set<Follower>()

  get current(): ClientState {
    return this.#current
  }

  enter(state: ClientState): void {
    this.#current = state
    for (const follower of this.#followers) follower.tell(state)
  }

  /** There will be no other state. */
  end(): void {
    this.#isOver = true
    for (const follower of this.#followers) follower.end()
    this.#followers.clear()
  }

  follow(): ClientStates {
    const follower = new Follower(
      () => this.#current,
      () => this.#followers.delete(follower),
    )
    follower.tell(this.#current)
    if (this.#isOver) follower.end()
    else this.#followers.add(follower)
    return follower
  }
}

/** Keeps one state: whoever is slow sees the last. */
class Follower implements ClientStates {
  readonly #leave: () => void
  readonly #states: EventQueue<ClientState>

  constructor(last: () => ClientState, leave: () => void) {
    this.#leave = leave
    this.#states = new EventQueue(1, last)
  }

  tell(state: ClientState): void {
    this.#states.push(state)
  }

  end(): void {
    this.#states.end()
  }

  /** One await, as every operation has: promises then settle in the order of what they tell. */
  async next(): Promise<Result> {
    return await this.#states.take()
  }

  async return(): Promise<Result> {
    this.#leave()
    this.#states.close()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
