import { KeeperError } from '@zk/client'

/** The node of a counter, as a read or a write has shown it. */
export interface CounterState {
  readonly value: bigint
  readonly version: number
  /** It differs after the node was deleted and created again. */
  readonly czxid: bigint
  /** How many programs write to it now: each has a child of the node. */
  readonly writers: number
}

/** A write was sent, and is not known to have failed. */
export interface Doubt {
  /** The state that it would have changed. */
  readonly from: CounterState
  /** Why its answer is missing; undefined while it may come. */
  readonly cause: KeeperError | undefined
}

/** One call of `add` or `update`, until it settles. */
export class Change {
  readonly settled: Promise<bigint>
  readonly apply: (value: bigint) => bigint
  doubt: Doubt | undefined
  readonly #name: string
  readonly #path: string
  #resolve: (value: bigint) => void = () => {}
  #reject: (error: unknown) => void = () => {}

  constructor(name: string, path: string, apply: (value: bigint) => bigint) {
    this.#name = name
    this.#path = path
    this.apply = apply
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Its caller may have given up.
    this.settled.catch(() => {})
  }

  resolve(value: bigint): void {
    this.#resolve(value)
  }

  reject(error: unknown): void {
    this.#reject(this.doubt !== undefined && KeeperError.is(error) ? this.#unknown(error) : error)
  }

  tooLate(): KeeperError {
    return new KeeperError('RequestTimeout', { ...this.#call, outcomeUnknown: this.doubt !== undefined })
  }

  #unknown(cause: KeeperError): KeeperError {
    const { code, server, sessionId } = cause
    return new KeeperError(code, { ...this.#call, outcomeUnknown: true, server, sessionId, cause })
  }

  get #call(): { op: string; path: string } {
    return { op: this.#name, path: this.#path }
  }
}
