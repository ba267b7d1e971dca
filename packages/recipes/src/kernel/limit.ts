// Ends a wait at a timeout or when a signal aborts, whichever comes first.
import { type CallOptions, KeeperError, type Runtime, type ZooKeeper } from '@zk/client'
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
  readonly #isLimited: boolean
  #reached: LimitReached | undefined
  /** Reject the pending promises of `during`. Usually there is one; two if a limited call pauses. */
  readonly #waiting: ((reached: LimitReached) => void)[] = []
  readonly #unlisten: readonly (() => void)[]
  readonly #cancelTimer: (() => void) | undefined

  constructor(runtime: Runtime, { signals = [], timeout }: Limits) {
    this.#runtime = runtime
    const given = signals.filter((signal) => signal !== undefined)
    const hasTimer = timeout !== undefined && timeout.after <= LONGEST
    this.#isLimited = given.length > 0 || hasTimer
    this.#unlisten = given.map((signal) => onAbort(signal, (reason) => this.end(() => reason)))
    if (hasTimer) this.#cancelTimer = runtime.setTimer(timeout.after, () => this.end(timeout.error))
  }

  /** Ends the wait early, with the result of `reason`. */
  end(reason: () => unknown): void {
    if (this.#reached !== undefined) return
    this.#reached = new LimitReached(reason)
    for (const reject of this.#waiting) reject(this.#reached)
  }

  /** Settles as `promise` does. If the limit is reached before, it rejects with the reason of the limit. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.#isLimited ? this.#unless(promise) : promise
  }

  async #unless<T>(promise: Promise<T>): Promise<T> {
    let reject!: (reached: LimitReached) => void
    const limited = new Promise<T>((resolve, fail) => {
      reject = fail
      promise.then(resolve, fail)
    })
    if (this.#reached !== undefined) reject(this.#reached)
    this.#waiting.push(reject)
    try {
      return await limited
    } catch (error) {
      throw error instanceof LimitReached ? error.reason() : error
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(reject), 1)
    }
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
    for (const unlisten of this.#unlisten) unlisten()
    this.#cancelTimer?.()
  }
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
export function withLimitForOthers<T>(
  { runtime, session }: ZooKeeper,
  { timeout = Infinity, signal }: Pick<CallOptions, 'timeout' | 'signal'>,
  late: (after: number) => Error,
  body: (limit: Limit, mustWait: () => void) => Promise<T>,
): Promise<T> {
  const after = timeout === 0 ? session.timeout : timeout
  // Bound, and not called by a function of its own: engines show ten frames of a stack, and the caller's is to be among them.
  const error = late.bind(undefined, after)
  return withLimit(runtime, { signals: [signal], timeout: { after, error } }, (limit) =>
    body(limit, () => {
      if (timeout === 0) limit.end(() => late(0))
    }),
  )
}

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
