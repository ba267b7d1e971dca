// The state of a client, for any number of readers.
import { describeInJson } from '../base/errors.ts'
import { inJson } from '../base/in-json.ts'
import { OVER } from '../base/event-queue.ts'
import type { WatchIterator } from '../base/watch-iterator.ts'

/**
 * The state of a client: plain data, which can be written as JSON. `closed` and `authFailed` are final. If `renewSession` is
 * false, `expired` is final, too.
 */
export type ClientState = ConnectingState | ConnectedState | DisconnectedState | ExpiredState | EndedState

/** The fields of every state. */
interface Since {
  /** When the state began, in ms since the epoch by the clock of this machine. */
  readonly since: number
}

/** The fields of every state with a session. */
interface OfSession extends Since {
  /** The id of the session. In JSON it is text, as servers print it: `0x` and hexadecimal digits. */
  readonly sessionId: bigint
  /** The negotiated session timeout, in ms. */
  readonly timeout: number
}

/** The client looks for the first connection of a session. */
export interface ConnectingState extends Since {
  /** The name of the state. */
  readonly name: 'connecting'
  /**
   * The error of the last attempt to connect. If none has failed yet, it is the error with which the previous session lost
   * its connection, if there was one. In JSON it is the message of the error.
   */
  readonly error?: Error | undefined
}

/** There is a session, and a connection. */
export interface ConnectedState extends OfSession {
  /** The name of the state. */
  readonly name: 'connected'
  /** `host:port` */
  readonly server: string
  /** Whether the server has no quorum: see the option `readOnly`. */
  readonly readOnly: boolean
}

/** There is a session, but no connection. The session may have expired meanwhile. */
export interface DisconnectedState extends OfSession {
  /** The name of the state. */
  readonly name: 'disconnected'
  /**
   * The error of the last attempt to connect. If none has failed yet, it is the error of the lost connection. In JSON it is
   * the message of the error. A new error is not a new state: `zk.state` has it, but an iterator of `watchState()` is not notified.
   */
  readonly error: Error
  /**
   * Whether every server has received the handshake and closed the connection without an answer, one after the other. A
   * server does this if it has seen fewer transactions than this session, or if it has no quorum. A proxy or a balancer does it
   * while it reaches no server. The client cannot tell which. If this stays true while the servers have a quorum, the
   * ensemble has lost transactions, for instance because a backup was restored. The session then ends by local expiry.
   */
  readonly ensembleBehind: boolean
}

/** The session is over. `connecting` follows, unless `renewSession` is false, or the client was being detached. */
export interface ExpiredState extends OfSession {
  /** The name of the state. */
  readonly name: 'expired'
}

/** The last state of a client. It is `expired` only if `renewSession` is false, or if the session expired during `detach`. */
export type FinalState = EndedState | ExpiredState

/** The client has ended. */
export interface EndedState extends Since {
  /** The name of the state. */
  readonly name: 'closed' | 'authFailed'
  /** For `authFailed`: the error, which says which server refused the credentials. */
  readonly error?: Error | undefined
}

type Result = IteratorResult<ClientState, undefined>

/** The current state, and the iterators that wait for the next one. Other iterators read the state at `next`. */
export class StateFeed {
  #current: ClientState
  /** The number of states so far. */
  #count = 1
  #isOver = false
  /** What `final` has returned, and the function that resolves it. */
  #final: { readonly promise: Promise<FinalState>; readonly resolve: () => void } | undefined
  /** Called at the next state, or at the end. */
  readonly #waiting = new Set<() => void>()

  constructor(current: ClientState) {
    this.#current = current
  }

  get current(): ClientState {
    return this.#current
  }

  /** Resolves with the last state when no other follows. The same promise each time. */
  get final(): Promise<FinalState> {
    if (this.#final === undefined) {
      let resolve = () => {}
      const promise = new Promise<FinalState>((settle) => {
        resolve = () => settle(this.#current as FinalState)
      })
      this.#final = { promise, resolve }
      if (this.#isOver) resolve()
    }
    return this.#final.promise
  }

  enter(state: ClientState): void {
    this.amend(state)
    this.#count++
    this.#notify()
  }

  /** Replaces the current state by one with other details. No iterator is notified. */
  amend(state: ClientState): void {
    // The error has the method, not the state, because programs copy the fields of a state.
    if ('error' in state) describeInJson(state.error)
    this.#current = inJson(state)
  }

  /** Ends all iterators: no other state follows. */
  end(): void {
    this.#isOver = true
    this.#final?.resolve()
    this.#notify()
  }

  /**
   * Makes an iterator. It stores no states, and reads the current one: so a slow reader misses states. If no `next` of it waits, it
   * costs the client nothing, and may be dropped.
   */
  watch(): WatchIterator<ClientState> {
    /** The count when `next` last returned a state. */
    let seen = 0
    let isLeft = false
    const takers: ((result: Result) => void)[] = []
    /** Passes a new state, or the end, to calls that wait. */
    const deliver = () => {
      if (!isLeft && seen < this.#count) {
        const taker = takers.shift()
        if (taker === undefined) return
        seen = this.#count
        taker({ value: this.#current, done: false })
      }
      if (isLeft || this.#isOver) for (const taker of takers.splice(0)) taker(OVER)
      else if (takers.length > 0) this.#waiting.add(deliver)
    }
    const leave = async () => {
      isLeft = true
      this.#waiting.delete(deliver)
      deliver()
      return OVER
    }
    const states: WatchIterator<ClientState> = {
      // The state is the client's own.
      isStale: false,
      // It has one await, like every operation: so promises settle in the order in which things happened.
      async next() {
        return await new Promise<Result>((resolve) => {
          takers.push(resolve)
          deliver()
        })
      },
      return: leave,
      [Symbol.asyncDispose]: async () => void (await leave()),
      [Symbol.asyncIterator]: () => states,
    }
    return states
  }

  #notify(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const deliver of waiting) deliver()
  }
}
