// What has failed since the client last had a connection, over all of its sessions.
import { type ConnectAttempt, ConnectError } from '../errors.ts'
import type { Output } from '../session/protocol/output.ts'

type Unreached = Extract<Output, { type: 'unreached' }>

export class Outage {
  readonly beganAt: number
  /** How many attempts were begun. */
  attempts = 0
  /** The error of the last attempt that has failed. */
  failure: Error | undefined
  /** The error of the connection that was lost. */
  readonly #cause: Error | undefined
  /** By server, and address where its name was resolved; the last ones come last. */
  readonly #failed = new Map<string, ConnectAttempt>()
  #isEverywhere = false
  #reportedAt = -Infinity

  constructor(beganAt: number, cause?: Error) {
    this.beganAt = beganAt
    this.#cause = cause
  }

  /** Why there is no connection. */
  get reason(): Error | undefined {
    return this.failure ?? this.#cause
  }

  failed({ server, address, error, servers }: Unreached): void {
    const key = `${server} ${address}`
    const attempts = (this.#failed.get(key)?.attempts ?? 0) + 1
    this.#failed.delete(key)
    this.#failed.set(key, { server, ...(address === undefined ? {} : { address }), attempts, error })
    this.failure = error
    this.#isEverywhere = this.#failed.size >= servers
    // A name may have other addresses by now: there are never more than so many to try.
    const [oldest] = this.#failed.keys()
    if (this.#failed.size > servers) this.#failed.delete(oldest!)
  }

  /** The list of servers has changed. */
  forgetServers(): void {
    this.#failed.clear()
  }

  /** What happened at each server. */
  summary(now: number): ConnectError {
    return new ConnectError([...this.#failed.values()], now - this.beganAt)
  }

  /** The summary once every server has failed, and at most once in `interval` ms. */
  report(interval: number, now: number): ConnectError | undefined {
    if (!this.#isEverywhere || now - this.#reportedAt < interval) return undefined
    this.#reportedAt = now
    return this.summary(now)
  }
}
