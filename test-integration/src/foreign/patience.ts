import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than any command of these programs takes, but shorter than the time limit of a test; in ms. */
const PATIENCE = 30_000

/** Settles like `promise`, or rejects after `PATIENCE` with `what`, which it waited for. */
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
