/** It gets the reason of the abort. */
type Callback = (reason: unknown) => void

/** The callbacks of each signal. An entry is dropped with its signal, or with its last callback. */
const waiting = new WeakMap<AbortSignal, { callbacks: Set<Callback>; stop: () => void }>()

/**
 * Calls `callback` once with the reason when the signal aborts, and at once when it is already aborted. The returned function
 * cancels this. One listener serves all callbacks of one signal, since Node warns of more than ten. A signal without
 * callbacks has no listener.
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  if (signal.aborted) {
    callback(signal.reason)
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
    waiting.delete(signal)
    for (const callback of callbacks) {
      callbacks.delete(callback)
      callback(signal.reason)
    }
  }
  const stop = () => {
    waiting.delete(signal)
    signal.removeEventListener('abort', notifyAll)
  }
  signal.addEventListener('abort', notifyAll, { once: true })
  const entry = { callbacks, stop }
  waiting.set(signal, entry)
  return entry
}

/**
 * Whether a call rejected because its signal was aborted. The reason may be the error of another call, or of a session. So
 * its type and code say nothing about this call.
 */
export function wasAborted(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && error === signal.reason
}
