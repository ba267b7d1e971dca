import { getEventListeners } from 'node:events'
import { onTestFinished, vi } from 'vitest'

/**
 * Counts the listeners to the abort of every signal that got one since this was called, whatever made the signal: a test that names
 * the signals forgets one.
 */
export function abortListeners(): () => number {
  const adding = vi.spyOn(EventTarget.prototype, 'addEventListener')
  onTestFinished(() => adding.mockRestore())
  return () => {
    const signals = new Set(adding.mock.contexts.filter((target) => target instanceof AbortSignal))
    return [...signals].reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0)
  }
}
