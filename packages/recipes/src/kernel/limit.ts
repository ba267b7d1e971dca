// Ends a wait at a timeout or when a signal aborts, whichever comes first.
import { type CallOptions, KeeperError, type Runtime, type WaitOptions, type ZooKeeper } from '@zk/client'
import { onAbort, pause, throwIfAborted } from '@zk/client/internal'

/** The longest timer that runtimes support, in ms: 25 days. A longer timeout counts as no limit. */
const LONGEST = 2 ** 31 - 1

export interface Limits {
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** After `after` ms the wait ends with this error. It is made in the code that waits, so its stack shows the call. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** The value with which the promise of a `Limit` rejects when the limit is reached. */
class LimitReached {
  readonly reason: () => unknown

  constructor(reason: () => unknown) {
    this.reason = reason
  }
}

/** The limit of a wait. `withLimit` makes it. */
export class Limit {
  readonly #runtime: Runtime
  #reached: LimitReached | undefined
  /** Reject the pending promises of `during`. Usually there is one; two if a limited call pauses. */
  readonly #waiting: ((reached: LimitReached) => void)[] = []
  /** Removes listeners and timer. */
  readonly #undo: (() => void)[] = []

  constructor(runtime: Runtime, { signals = [], timeout }: Limits) {
    this.#runtime = runtime
    for (const signal of signals) {
      if (signal !== undefined) this.#undo.push(onAbort(signal, (reason) => this.end(() => reason)))
    }
    if (timeout !== undefined && timeout.after <= LONGEST) {
      this.#undo.push(runtime.setTimer(timeout.after, () => this.end(timeout.error)))
    }
  }

  /** Ends the wait early, with the result of `reason`. */
  end(reason: () => unknown): void {
    if (this.#reached !== undefined) return
    this.#reached = new LimitReached(reason)
    for (const reject of this.#waiting) reject(this.#reached)
  }

  /** Settles as `promise` does. If the limit is reached before, it rejects with the reason of the limit. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.#undo.length === 0 ? promise : this.#unless(promise)
  }

  async #unless<T>(promise: Promise<T>): Promise<T> {
    try {
      return await this.orReached(promise)
    } catch (error) {
      throw reasonOf(error)
    }
  }

  /** Like `during`, but the code that waits gets the reason from `reasonOf`. So no other function waits with it. */
  orReached<T>(promise: Promise<T>): Promise<T> {
    if (this.#undo.length === 0) return promise
    return new Promise((resolve, reject) => {
      if (this.#reached !== undefined) reject(this.#reached)
      const waiting = this.#waiting
      waiting.push(reject)
      const ended = () => waiting.splice(waiting.indexOf(reject), 1)
      promise.then(resolve, reject)
      promise.then(ended, ended)
    })
  }

  /** Settles as the call does. If the limit is reached before, the call is aborted. */
  async asking<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    try {
      return await this.during(call(over.signal))
    } finally {
      over.abort()
    }
  }

  /** Waits `delay` ms. If the limit is reached before, it rejects, and no timer is left. */
  async pause(delay: number): Promise<void> {
    await this.asking((over) => pause(this.#runtime, delay, over))
  }

  /** Removes listeners and timer. */
  stop(): void {
    for (const undo of this.#undo) undo()
  }
}

/** The reason of the limit if the error says that it was reached; otherwise the error. */
export function reasonOf(error: unknown): unknown {
  return error instanceof LimitReached ? error.reason() : error
}

/** Handles an error: returns undefined if the signal was aborted, and otherwise rethrows it. */
export function undefinedIfAborted(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    if (!signal?.aborted) throw error
  }
}

/** Settles as `body` does, which makes its waits with the limit. */
export async function withLimit<T>(runtime: Runtime, limits: Limits, body: (limit: Limit) => Promise<T>): Promise<T> {
  const limit = new Limit(runtime, limits)
  try {
    return await body(limit)
  } finally {
    limit.stop()
  }
}

/** The timeout of a call that waits for servers only. */
export function serverTimeout(op: string, path: string, after: number): Limits['timeout'] {
  return { after, error: () => new KeeperError('RequestTimeout', { op, path }) }
}

/**
 * The limit of a call that waits for other clients, and for servers. With a timeout of 0 it leaves a session timeout for servers,
 * and none for other clients: `body` calls `mustWait` when it would have to wait for one. `late` makes the error.
 */
export async function withLimitForOthers<T>(
  zk: ZooKeeper,
  options: WaitOptions,
  late: (after: number) => Error,
  body: (limit: Limit, mustWait: () => void) => Promise<T>,
): Promise<T> {
  const { limit, mustWait } = limitForOthers(zk, options, late)
  try {
    return await body(limit, mustWait)
  } finally {
    limit.stop()
  }
}

/** The same for a body that stops the limit itself. */
export function limitForOthers(
  { runtime, session }: ZooKeeper,
  { timeout = Infinity, signal }: WaitOptions,
  late: (after: number) => Error,
): { readonly limit: Limit; readonly mustWait: () => void } {
  const after = timeout === 0 ? session.timeout : timeout
  // Bound, and not called by a function of its own: engines show ten frames of a stack, and the caller's is to be among them.
  const limit = new Limit(runtime, { signals: [signal], timeout: { after, error: late.bind(undefined, after) } })
  return { limit, mustWait: timeout === 0 ? () => limit.end(() => late(0)) : nothing }
}

const nothing = () => {}

/**
 * Settles as `call` does, which may send several requests. If the signal has already aborted, none is sent. If they take too long
 * in total, it rejects with `RequestTimeout`, and with `outcomeUnknown` if `sending` was called. Call `sending` before a request
 * that may be executed after the end.
 */
export async function within<T>(
  { zk, path }: { readonly zk: ZooKeeper; readonly path: string },
  op: string,
  options: CallOptions,
  call: (limited: CallOptions & { readonly signal: AbortSignal }, sending: () => void) => Promise<T>,
): Promise<T> {
  const { signal, timeout = (options.session ?? zk.session).timeout } = options
  throwIfAborted(signal)
  let outcomeUnknown = false
  const sending = () => {
    outcomeUnknown = true
  }
  const late = () => new KeeperError('RequestTimeout', { op, path, outcomeUnknown })
  const limits = { signals: [signal], timeout: { after: timeout, error: late } }
  return await withLimit(zk.runtime, limits, (limit) =>
    limit.asking((signal) => call({ ...options, timeout, signal }, sending)),
  )
}
