import type { Runtime } from '@zk/client'

export interface Limits {
  readonly signal?: AbortSignal | undefined
  /** After so many ms patience ends with this error. */
  readonly timeout?: { readonly after: number; readonly error: () => Error } | undefined
}

/** How long a caller is willing to wait: until a moment, until a signal, whichever is first. */
export class Patience {
  readonly #over: Promise<never>
  readonly #stop: () => void

  constructor(runtime: Runtime, { signal, timeout }: Limits) {
    let cancelTimer = () => {}
    let onAbort = () => {}
    this.#over = new Promise((_, reject) => {
      onAbort = () => reject(signal?.reason)
      if (timeout !== undefined) cancelTimer = runtime.setTimer(timeout.after, () => reject(timeout.error()))
    })
    this.#over.catch(() => {})
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#stop = () => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Settles as the promise does, unless patience ends first: then it rejects with the reason. */
  async during<T>(promise: Promise<T>): Promise<T> {
    return await Promise.race([promise, this.#over])
  }

  /** Must be called when waiting is over, one way or the other. */
  stop(): void {
    this.#stop()
  }
}
