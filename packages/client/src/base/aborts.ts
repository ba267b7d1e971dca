import { reasonOf } from './signals.ts'

/** Called with the reason of the abort. */
type Callback = (reason: unknown) => void

/** The callbacks of each signal. An entry is removed with the last callback of its signal, or with the signal. */
const waiting = new WeakMap<AbortSignal, { callbacks: Set<Callback>; stop: () => void }>()

/**
 * Calls `callback` once, with the reason, when the signal aborts, or at once if it has already aborted. The returned function
 * cancels this. All callbacks of a signal share one listener, because Node warns about more than ten. A signal without
 * callbacks has no listener.
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  if (signal.aborted) {
    callback(reasonOf(signal))
    return () => {}
  }
  const { callbacks, stop } = waiting.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) stop()
  }
}

function listen(signal: AbortSignal): { callbacks: Set<Callback>; stop: () => void } {
  const callbacks = new Set<Callback>()
  const notifyAll = () => {
    stop()
    for (const callback of callbacks) {
      callbacks.delete(callback)
      callback(reasonOf(signal))
    }
  }
  const stop = () => {
    waiting.delete(signal)
    signal.removeEventListener('abort', notifyAll)
  }
  signal.addEventListener('abort', notifyAll)
  const entry = { callbacks, stop }
  waiting.set(signal, entry)
  return entry
}

/**
 * An `AbortController` whose signal and reason are made when the signal is first read. The signals of most sessions and
 * connections are never read: with real controllers, and the stacks of their reasons, a short session took 12 % more.
 */
export class LazyAbortController {
  #controller: AbortController | undefined
  #reason: (() => unknown) | undefined

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason())
    }
    return this.#controller.signal
  }

  /** Only the first call counts. */
  abort(reason: () => unknown): void {
    this.#reason ??= reason
    this.#controller?.abort(this.#reason())
  }
}

/**
 * Whether a call rejected because its signal was aborted. The type and code of the error do not show this, because the reason
 * of a signal may be the error of another call or of a session.
 */
export function wasAborted(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && error === reasonOf(signal)
}
