// Waiting: one wait of a caller, over as many contenders as it takes, and its limit: a timeout, a signal.
import { type CallOptions, KeeperError, type Runtime } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import type { Contender } from './contender.ts'
import { report } from '../diagnostics.ts'
import { type Blocker, LockTimeoutError } from '../errors.ts'
import type { ContenderName, Kind } from './names.ts'
import type { ContenderInfo, Queue } from './queue.ts'

/** A place in the queue, as it was when last seen. */
export interface QueuePlace {
  /** How many are ahead. */
  readonly position: number
  /** Paths of their nodes, oldest first. */
  readonly ahead: readonly string[]
}

export class Wait {
  readonly #queue: Queue
  readonly #kind: Kind
  readonly #onQueued: ((place: QueuePlace) => void) | undefined
  readonly #since: number
  /** The last that had to wait. */
  #contender: Contender | undefined

  constructor(queue: Queue, kind: Kind, onQueued: ((place: QueuePlace) => void) | undefined) {
    this.#queue = queue
    this.#kind = kind
    this.#onQueued = onQueued
    this.#since = queue.zk.runtime.now()
  }

  queued(contender: Contender, names: readonly ContenderName[]): void {
    this.#contender = contender
    const place = () => ({ position: names.length, ahead: this.#paths(names) })
    report(this.#queue.zk, 'zk:queued', this.#kind.name, () => ({ path: this.#queue.path, ...place() }))
    this.#onQueued?.(place())
  }

  /** `held` is given how long it took, in ms. */
  ended<H extends { acquired(waited: number): void }>(held: H): H {
    held.acquired(this.#queue.zk.runtime.now() - this.#since)
    return held
  }

  tooLong(timeout: number): LockTimeoutError {
    const { path, zk } = this.#queue
    const at = zk.runtime.wallNow()
    const { ahead, blocker } = this.#contender ?? {}
    return new LockTimeoutError(path, timeout, {
      at,
      ahead: ahead && this.#paths(ahead),
      blocker: blocker && this.#asBlocker(blocker),
    })
  }

  #asBlocker({ path, label, sessionId, since }: ContenderInfo): Blocker {
    return { path, label, sessionId, since, isOwn: sessionId === this.#contender?.session.id }
  }

  #paths(names: readonly ContenderName[]): string[] {
    return names.map(({ name }) => this.#queue.pathOf(name))
  }
}

/** No timer of the runtimes is longer, in ms: 25 days. A longer limit is none. */
const LONGEST = 2 ** 31 - 1

export interface Limits {
  readonly signals?: readonly (AbortSignal | undefined)[]
  /** After so many ms it ends with this error, which is made where the caller waits: its stack shows the call. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** The limit has come. */
class Over {
  readonly reason: () => unknown

  constructor(reason: () => unknown) {
    this.reason = reason
  }
}

/** How long a caller is willing to wait: until a moment, until a signal, whichever is first. */
export class WaitLimit {
  readonly #runtime: Runtime
  readonly #over: Promise<never>
  #end: (reason: () => unknown) => void = () => {}
  readonly #unlisten: (() => void)[]
  #cancelTimer: (() => void) | undefined

  constructor(runtime: Runtime, { signals = [], timeout }: Limits) {
    this.#runtime = runtime
    this.#over = new Promise((_, reject) => {
      this.#end = (reason) => reject(new Over(reason))
    })
    this.#over.catch(() => {})
    const given = signals.filter((signal) => signal !== undefined)
    this.#unlisten = given.map((signal) => onAbort(signal, (reason) => this.#end(() => reason)))
    if (timeout === undefined || timeout.after > LONGEST) return
    this.#cancelTimer = runtime.setTimer(timeout.after, () => this.#end(timeout.error))
  }

  /** Settles as the promise does, unless the limit comes first: then it rejects with the reason. */
  async during<T>(promise: Promise<T>): Promise<T> {
    try {
      return await Promise.race([promise, this.#over])
    } catch (error) {
      throw error instanceof Over ? error.reason() : error
    }
  }

  /** Settles as the call does, which is aborted when the limit comes first. */
  async asking<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    try {
      return await this.during(call(over.signal))
    } finally {
      over.abort()
    }
  }

  /** Waits so many ms; rejects when the limit comes first, and leaves no timer then. */
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

  /** Must be called when waiting is over, one way or the other. */
  stop(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#cancelTimer?.()
  }
}

/** Settles as the look does, however many calls that takes; rejects with `RequestTimeout` when it takes too long. */
export async function within<T>(
  { zk, path }: Queue,
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
