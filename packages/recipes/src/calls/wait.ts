// The wait of a caller, which may use several contenders one after the other, and its limit: a timeout or a signal.
import { type CallOptions, KeeperError, type Runtime, type Session, type ZooKeeper } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import { report } from '../diagnostics.ts'
import { type Blocker, LockTimeoutError } from '../errors.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'

/** A place in the queue, as in the last list. */
export interface QueuePlace {
  /** How many contenders are ahead. */
  readonly position: number
  /** The paths of their nodes, oldest first. */
  readonly ahead: readonly string[]
}

/** What a wait knows of a contender. */
export interface Waiter {
  readonly session: Session
  /** The paths of the contenders ahead when last seen, oldest first; undefined where they are not known. */
  readonly ahead: readonly string[] | undefined
  /** The contender that it waits for; undefined where that is not known. */
  readonly blocker: ContenderInfo | undefined
}

/** What is waited for, as it is reported. */
export interface Subject {
  readonly zk: ZooKeeper
  /** The path that users know; all of them if there are several. */
  readonly path: string
  /** See `RecipeMessages`. */
  readonly kind: string
}

export class Wait {
  /** Whether the wait has a timeout, so that `tooLong` may be called. */
  readonly mayTimeOut: boolean
  readonly #subject: Subject
  readonly #onQueued: ((place: QueuePlace) => void) | undefined
  readonly #since: number
  /** The last contender that had to wait. */
  #contender: Waiter | undefined

  constructor(subject: Subject, onQueued: ((place: QueuePlace) => void) | undefined, mayTimeOut: boolean) {
    this.mayTimeOut = mayTimeOut
    this.#subject = subject
    this.#onQueued = onQueued
    this.#since = subject.zk.runtime.now()
  }

  /** `ahead` makes the paths of the contenders ahead, oldest first. */
  queued(contender: Waiter, ahead: () => readonly string[]): void {
    this.#contender = contender
    const place = () => {
      const paths = ahead()
      return { position: paths.length, ahead: paths }
    }
    const { zk, path, kind } = this.#subject
    report(zk, 'zk:queued', kind, () => ({ path, ...place() }))
    this.#onQueued?.(place())
  }

  /** The caller gets this hold. Reports how long the caller has waited. */
  ended<H extends { acquired(waited: number): void }>(held: H): H {
    held.acquired(this.#subject.zk.runtime.now() - this.#since)
    return held
  }

  /** The error for a wait that has timed out. */
  tooLong(timeout: number): LockTimeoutError {
    const { path, zk } = this.#subject
    const at = zk.runtime.wallNow()
    const { ahead, blocker } = this.#contender ?? {}
    return new LockTimeoutError(path, timeout, {
      at,
      ahead,
      blocker: blocker && this.#asBlocker(blocker),
    })
  }

  #asBlocker({ path, label, sessionId, since }: ContenderInfo): Blocker {
    return { path, label, sessionId, since, isOwn: sessionId === this.#contender?.session.id }
  }
}

/** The longest timer of runtimes, in ms: 25 days. A longer timeout counts as no limit. */
const LONGEST = 2 ** 31 - 1

export interface Limits {
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** After `after` ms the wait ends with this error. It is made in the code that waits, so its stack shows the call. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** The value with which the promise of a `WaitLimit` rejects when the limit is reached. */
class LimitReached {
  readonly reason: () => unknown

  constructor(reason: () => unknown) {
    this.reason = reason
  }
}

/** The limit of a wait: a timeout or a signal, whichever comes first. */
export class WaitLimit {
  readonly #runtime: Runtime
  /** Rejects when the limit is reached; undefined if there is neither a timeout nor a signal. */
  readonly #over: Promise<never> | undefined
  #end: (reason: () => unknown) => void = () => {}
  #unlisten: readonly (() => void)[] = []
  #cancelTimer: (() => void) | undefined

  constructor(runtime: Runtime, { signals = [], timeout }: Limits) {
    this.#runtime = runtime
    const given = signals.filter((signal) => signal !== undefined)
    const hasTimer = timeout !== undefined && timeout.after <= LONGEST
    if (given.length === 0 && !hasTimer) return
    this.#over = new Promise((_, reject) => {
      this.#end = (reason) => reject(new LimitReached(reason))
    })
    this.#over.catch(() => {})
    this.#unlisten = given.map((signal) => onAbort(signal, (reason) => this.#end(() => reason)))
    if (hasTimer) this.#cancelTimer = runtime.setTimer(timeout.after, () => this.#end(timeout.error))
  }

  /** Settles as `promise` does. If the limit is reached before, it rejects with the reason of the limit. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.#over === undefined ? promise : this.#unless(this.#over, promise)
  }

  async #unless<T>(over: Promise<never>, promise: Promise<T>): Promise<T> {
    try {
      return await Promise.race([promise, over])
    } catch (error) {
      throw error instanceof LimitReached ? error.reason() : error
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
    let cancel = () => {}
    const waiting = new Promise<void>((resolve) => {
      cancel = this.#runtime.setTimer(delay, resolve)
    })
    await this.during(waiting).catch((reason: unknown) => {
      cancel()
      throw reason
    })
  }

  /** Removes listeners and timer. Must be called when the wait is over, even if it failed. */
  stop(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#cancelTimer?.()
  }
}

/** Handles an error: undefined instead of it where the signal was aborted. */
export function undefinedIfAborted(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    if (!signal?.aborted) throw error
  }
}

/**
 * Settles as `call` does, which may make several requests. If they take too long in total, it rejects with `RequestTimeout`: with
 * `outcomeUnknown` if `sending` was called, which must be called before a request that may be executed after the end.
 */
export async function within<T>(
  { zk, path }: Pick<Queue, 'zk' | 'path'>,
  op: string,
  options: CallOptions,
  call: (limited: CallOptions & { readonly signal: AbortSignal }, sending: () => void) => Promise<T>,
): Promise<T> {
  const { signal, timeout = (options.session ?? zk.session).timeout } = options
  let outcomeUnknown = false
  const sending = () => {
    outcomeUnknown = true
  }
  const late = () => new KeeperError('RequestTimeout', { op, path, outcomeUnknown })
  const limit = new WaitLimit(zk.runtime, { signals: [signal], timeout: { after: timeout, error: late } })
  try {
    return await limit.asking((signal) => call({ ...options, timeout, signal }, sending))
  } finally {
    limit.stop()
  }
}
