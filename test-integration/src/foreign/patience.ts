import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than anything takes that these programs are asked to do, in ms; shorter than a test may take. */
const PATIENCE = 30_000

/** The promise, or a rejection that says what it was waiting for. */
export async function patiently<T>(promise: Promise<T>, what: () => string): Promise<T> {
  const timer = new AbortController()
  const impatient = sleep(PATIENCE, undefined, { signal: timer.signal, ref: false }).then(
    () => Promise.reject(new Error(`Not within ${PATIENCE} ms: ${what()}`)),
    // Somebody was in time.
    () => promise,
  )
  try {
    return await Promise.race([promise, impatient])
  } finally {
    timer.abort()
  }
}
