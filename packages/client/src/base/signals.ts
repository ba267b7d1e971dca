// Signals. Programs also pass signals from jsdom, another realm, or older libraries. So only `aborted`, `reason`,
// `addEventListener` and `removeEventListener` of a signal are used.

/** Throws the reason of the signal if it has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal)
}

/** Whether the value can be used as a signal. */
export function isSignal(value: unknown): value is AbortSignal {
  const signal = value as Partial<AbortSignal> | null | undefined
  return (
    typeof signal?.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function' &&
    typeof signal.aborted === 'boolean'
  )
}

/** Reasons for signals that have no reason of their own. */
const reasons = new WeakMap<AbortSignal, unknown>()

/** The reason of a signal that has aborted. For signals of older libraries, which have none, each call returns the same `AbortError`. */
export function reasonOf(signal: AbortSignal): unknown {
  const reason: unknown = signal.reason === undefined ? reasons.get(signal) : signal.reason
  if (reason !== undefined) return reason
  const made = new DOMException('This operation was aborted', 'AbortError')
  reasons.set(signal, made)
  return made
}
