/** One listener a signal, however many calls wait on it; none when no call does. */
export class Aborts<Call> {
  readonly #waiting = new Map<AbortSignal, { calls: Set<Call>; stop: () => void }>()
  readonly #abort: (call: Call, reason: unknown) => void

  constructor(abort: (call: Call, reason: unknown) => void) {
    this.#abort = abort
  }

  add(signal: AbortSignal, call: Call): void {
    const { calls } = this.#waiting.get(signal) ?? this.#listen(signal)
    calls.add(call)
  }

  remove(signal: AbortSignal, call: Call): void {
    const entry = this.#waiting.get(signal)
    if (entry === undefined) return
    entry.calls.delete(call)
    if (entry.calls.size > 0) return
    entry.stop()
    this.#waiting.delete(signal)
  }

  #listen(signal: AbortSignal): { calls: Set<Call>; stop: () => void } {
    const calls = new Set<Call>()
    const onAbort = () => {
      this.#waiting.delete(signal)
      for (const call of calls) this.#abort(call, signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    const entry = { calls, stop: () => signal.removeEventListener('abort', onAbort) }
    this.#waiting.set(signal, entry)
    return entry
  }
}
