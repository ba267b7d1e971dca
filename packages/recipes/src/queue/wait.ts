// One wait of a caller, over any number of contenders, and its limit: a timeout or a signal.
import { type CallOptions, KeeperError, type Runtime, type Session } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import { report } from '../diagnostics.ts'
import { type Blocker, LockTimeoutError } from '../errors.ts'
import type { Kind } from './names.ts'
import type { ContenderInfo, Queue } from './queue.ts'

/** A place in the queue, as last seen. */
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

export class Wait {
  /** Whether `tooLong` may be called. */
  readonly mayTimeOut: boolean
  readonly #queue: Queue
  readonly #kind: Kind
  readonly #onQueued: ((place: QueuePlace) => void) | undefined
  readonly #since: number
  /** The last contender that had to wait. */
  #contender: Waiter | undefined

  constructor(queue: Queue, kind: Kind, onQueued: ((place: QueuePlace) => void) | undefined, mayTimeOut: boolean) {
    this.mayTimeOut = mayTimeOut
    this.#queue = queue
    this.#kind = kind
    this.#onQueued = onQueued
    this.#since = queue.zk.runtime.now()
  }

  /** `ahead` makes the paths of the contenders ahead, oldest first. */
  queued(contender: Waiter, ahead: () => readonly string[]): void {
    this.#contender = contender
    const place = () => {
      const paths = ahead()
      return { position: paths.length, ahead: paths }
    }
    report(this.#queue.zk, 'zk:queued', this.#kind.name, () => ({ path: this.#queue.recipePath, ...place() }))
    this.#onQueued?.(place())
  }

  /** `held` gets the time of the wait, in ms. */
  ended<H extends { acquired(waited: number): void }>(held: H): H {
    held.acquired(this.#queue.zk.runtime.now() - this.#since)
    return held
  }

  tooLong(timeout: number): LockTimeoutError {
    const { recipePath, zk } = this.#queue
    const at = zk.runtime.wallNow()
    const { ahead, blocker } = this.#contender ?? {}
    return new LockTimeoutError(recipePath, timeout, {
      at,
      ahead,
      blocker: blocker && this.#asBlocker(blocker),
    })
  }

  #asBlocker({ path, label, sessionId, since }: ContenderInfo): Blocker {
    return { path, label, sessionId, since, isOwn: sessionId === this.#contender?.session.id }
  }
}

/** The longest timer of runtimes, in ms: 25 days. A longer limit is none. */
const LONGEST = 2 ** 31 - 1

export interface Limits {
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** After `after` ms it ends with this error. The error is made where the caller waits, so its stack shows the call. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** The limit has come. */
class Over {
  readonly reason: () => unknown

  constructor(reason: () => unknown) {
    this.reason = reason
  }
}

/** How long a caller waits: until a time or a signal, whichever comes first. */
export class WaitLimit {
  readonly #runtime: Runtime
  /** undefined without a timeout and a signal: then nothing is made for it. */
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
      this.#end = (reason) => reject(new Over(reason))
    })
    this.#over.catch(() => {})
    this.#unlisten = given.map((signal) => onAbort(signal, (reason) => this.#end(() => reason)))
    if (hasTimer) this.#cancelTimer = runtime.setTimer(timeout.after, () => this.#end(timeout.error))
  }

  /** Settles as the promise does, unless the limit comes first. Then it rejects with the reason. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.#over === undefined ? promise : this.#unless(this.#over, promise)
  }

  async #unless<T>(over: Promise<never>, promise: Promise<T>): Promise<T> {
    try {
      return await Promise.race([promise, over])
    } catch (error) {
      throw error instanceof Over ? error.reason() : error
    }
  }

  /** Settles as the call does. The call is aborted when the limit comes first. */
  async asking<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    try {
      return await this.during(call(over.signal))
    } finally {
      over.abort()
    }
  }

  /** Waits `delay` ms. Rejects when the limit comes first, and leaves no timer then. */
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

  /** Must be called when the wait is over, however it ended. */
  stop(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#cancelTimer?.()
  }
}

/** Settles as the read does, which may take several calls. Rejects with `RequestTimeout` when it takes too long. */
export async function within<T>(
  { zk, recipePath: path }: Queue,
  op: string,
  options: CallOptions,
  look: (limited: CallOptions) => Promise<T>,
): Promise<T> {
  const { signal, timeout = (options.session ?? zk.session).timeout } = options
  const late = () => new KeeperError('RequestTimeout', { op, path })
  const limit = new WaitLimit(zk.runtime, { signals: [signal], timeout: { after: timeout, error: late } })
  try {
    return await limit.asking((signal) => look({ ...options, timeout, signal }))
  } finally {
    limit.stop()
  }
}
