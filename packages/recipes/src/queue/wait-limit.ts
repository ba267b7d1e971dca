import { type Runtime } from '@zk/client'
import { onAbort } from '@zk/client/internal'

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
