// The attempts to connect that have failed since the client last had a connection, over all its sessions.
import { type ConnectAttempt, ConnectError } from '../base/errors.ts'
import type { EventOf } from '../session/client-event.ts'

export class Outage {
  readonly beganAt: number
  /** How many attempts have begun. */
  attempts = 0
  /** The error of the last attempt that has failed. */
  failure: Error | undefined
  /** Makes the error of the connection that was lost. */
  readonly #cause: (() => Error) | undefined
  /** By server, and by address if the host name was resolved. The latest attempt comes last. */
  readonly #failed = new Map<string, ConnectAttempt>()
  #isEverywhere = false
  #reportedAt = -Infinity

  constructor(beganAt: number, cause?: () => Error) {
    this.beganAt = beganAt
    this.#cause = cause
  }

  /** The error of the last attempt, or else the error of the lost connection. */
  get reason(): Error | undefined {
    return this.failure ?? this.#cause?.()
  }

  failed({ server, address, error, servers }: EventOf<'unreached'>): void {
    const key = `${server} ${address}`
    const attempts = (this.#failed.get(key)?.attempts ?? 0) + 1
    this.#failed.delete(key)
    this.#failed.set(key, { server, ...(address === undefined ? {} : { address }), attempts, error })
    this.failure = error
    this.#isEverywhere = this.#failed.size >= servers
    // `servers` is the number of addresses to try. If there are more entries, a host name has other addresses by now.
    const [oldest] = this.#failed.keys()
    if (this.#failed.size > servers) this.#failed.delete(oldest!)
  }

  /** Forgets the attempts, because the list of servers has changed. */
  forgetServers(): void {
    this.#failed.clear()
  }

  /** An error that lists what happened at each server. */
  summary(now: number): ConnectError {
    return new ConnectError([...this.#failed.values()], now - this.beganAt)
  }

  /** Returns the summary if every server has failed, but at most once in `interval` ms. */
  report(interval: number, now: number): ConnectError | undefined {
    if (!this.#isEverywhere || now - this.#reportedAt < interval) return undefined
    this.#reportedAt = now
    return this.summary(now)
  }
}
