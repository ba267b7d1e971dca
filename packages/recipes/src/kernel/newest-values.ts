// An iterator of newest values: the loop of a caller that follows something. What changes while its body runs costs nothing, and the
// next value is the newest one.
import { undefinedIfAborted } from './limit.ts'

/** What is followed. */
export interface Followed<Value> {
  /** Resolves with a value that differs from the last one; at the first call, at once. */
  next(): Promise<Value>
  /** Removes the watches, in the background: leaving does not wait for a silent server. */
  stop(): void
}

/** Yields the values until the signal aborts. */
export async function* newestValues<Value>(
  followed: Followed<Value>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Value, void, undefined> {
  try {
    while (!signal?.aborted) {
      const value = await followed.next().catch(undefinedIfAborted(signal))
      if (value === undefined) return
      yield value
    }
  } finally {
    followed.stop()
  }
}
