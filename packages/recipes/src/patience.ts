import type { Runtime } from '@zk/client'

/** How long a caller is willing to wait: until a moment, until a signal, whichever is first. */
export class Patience {
  readonly #over: Promise<never>
  readonly #stop: () => void

  constructor(runtime: Runtime, timeout: number | undefined, signal: AbortSignal | undefined, onTimeout: () => Error) {
    let cancelTimer = () => {}
    let onAbort = () => {}
    this.#over = new Promise((_, reject) => {
      onAbort = () => reject(signal?.reason)
      if (timeout !== undefined) cancelTimer = runtime.setTimer(timeout, () => reject(onTimeout()))
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
