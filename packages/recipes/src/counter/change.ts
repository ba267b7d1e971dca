import { KeeperError } from '@zk/client'
import { Deferred, unawaited } from '../kernel/promises.ts'

/** The node of a counter, as a read or a write has shown it. */
export interface CounterState {
  readonly value: bigint
  readonly version: number
  /** It differs after the node was deleted and created again. */
  readonly czxid: bigint
  /** How many programs write to it now: each has a child node. */
  readonly writers: number
}

/** A write was sent, and is not known to have failed. */
export interface UnconfirmedWrite {
  /** The state that it would have changed. */
  readonly from: CounterState
  /** Why its answer is missing; undefined while it may come. */
  readonly cause: KeeperError | undefined
}

/** One call of `add` or `update`, until it settles. */
export class Change {
  readonly apply: (value: bigint) => bigint
  unconfirmed: UnconfirmedWrite | undefined
  readonly #name: string
  readonly #path: string
  readonly #result = new Deferred<bigint>()

  constructor(name: string, path: string, apply: (value: bigint) => bigint) {
    this.#name = name
    this.#path = path
    this.apply = apply
    // Its caller may have given up.
    unawaited(this.#result.promise)
  }

  get settled(): Promise<bigint> {
    return this.#result.promise
  }

  resolve(value: bigint): void {
    this.#result.resolve(value)
  }

  reject(error: unknown): void {
    this.#result.reject(this.unconfirmed !== undefined && KeeperError.is(error) ? this.#unknown(error) : error)
  }

  tooLate(): KeeperError {
    return new KeeperError('RequestTimeout', { ...this.#call, outcomeUnknown: this.unconfirmed !== undefined })
  }

  #unknown(cause: KeeperError): KeeperError {
    const { code, server, sessionId } = cause
    return new KeeperError(code, { ...this.#call, outcomeUnknown: true, server, sessionId, cause })
  }

  get #call(): { op: string; path: string } {
    return { op: this.#name, path: this.#path }
  }
}
