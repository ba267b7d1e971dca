// Waiting: one wait of a caller, over as many contenders as it takes, and its limit: a timeout, a signal.
import type { Runtime } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import type { Contender } from './contender.ts'
import { report } from '../diagnostics.ts'
import { LockTimeoutError } from '../errors.ts'
import type { ContenderName, Kind } from './names.ts'
import type { Queue } from './queue.ts'

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
    report('zk:queued', () => ({ path: this.#queue.path, kind: this.#kind.name, ...place() }))
    this.#onQueued?.(place())
  }

  /** `held` is given how long it took, in ms. */
  ended<H extends { acquired(waited: number): void }>(held: H): H {
    held.acquired(this.#queue.zk.runtime.now() - this.#since)
    return held
  }

  tooLong(timeout: number): LockTimeoutError {
    const { path } = this.#queue
    const { ahead: names, blocker, session } = this.#contender ?? {}
    const ahead = names && this.#paths(names)
    if (blocker === undefined) return new LockTimeoutError(path, timeout, ahead)
    const { path: node, label, sessionId, since } = blocker
    const isOwn = sessionId === session?.id
    return new LockTimeoutError(path, timeout, ahead, { path: node, label, sessionId, since, isOwn })
  }

  #paths(names: readonly ContenderName[]): string[] {
    return names.map(({ name }) => this.#queue.pathOf(name))
  }
}

/** No timer of the runtimes is longer, in ms: 25 days. A longer limit is none. */
const LONGEST = 2 ** 31 - 1

export interface Limits {
  readonly signal?: AbortSignal | undefined
  /** After so many ms it ends with this error. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** How long a caller is willing to wait: until a moment, until a signal, whichever is first. */
export class WaitLimit {
  readonly #runtime: Runtime
  readonly #over: Promise<never>
  #end: (reason: unknown) => void = () => {}
  readonly #unlisten: (() => void) | undefined
  #cancelTimer: (() => void) | undefined

  constructor(runtime: Runtime, { signal, timeout }: Limits) {
    this.#runtime = runtime
    this.#over = new Promise((_, reject) => {
      this.#end = reject
    })
    this.#over.catch(() => {})
    if (signal?.aborted) this.#end(signal.reason)
    this.#unlisten = signal && onAbort(signal, this.#end)
    if (timeout === undefined || timeout.after > LONGEST) return
    this.#cancelTimer = runtime.setTimer(timeout.after, () => this.#end(timeout.error()))
  }

  /** Settles as the promise does, unless the limit comes first: then it rejects with the reason. */
  async during<T>(promise: Promise<T>): Promise<T> {
    return await Promise.race([promise, this.#over])
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
    this.#unlisten?.()
    this.#cancelTimer?.()
  }
}
