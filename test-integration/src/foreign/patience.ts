import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than any command of these programs takes, in ms; shorter than the time limit of a test. */
const PATIENCE = 30_000

/** The promise, or a rejection that says what was waited for. */
export async function patiently<T>(promise: Promise<T>, what: () => string): Promise<T> {
  const timer = new AbortController()
  const impatient = sleep(PATIENCE, undefined, { signal: timer.signal, ref: false }).then(
    () => Promise.reject(new Error(`Not within ${PATIENCE} ms: ${what()}`)),
    // The promise settled in time.
    () => promise,
  )
  try {
    return await Promise.race([promise, impatient])
  } finally {
    timer.abort()
  }
}
