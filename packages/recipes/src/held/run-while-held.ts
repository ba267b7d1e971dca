// What `run` and `tryRun` do with a hold: call the body, release, and report a loss.
import type { RunOptions } from './acquirable.ts'
import { type Held, isAbortOf } from './held.ts'

/** Calls `body`, and releases the hold. See `Acquirable.run` for how it settles. */
export async function runWhileHeld<H extends Held, T>(
  held: H,
  body: (held: H) => T | Promise<T>,
  onLost: RunOptions['onLost'] = 'reject',
): Promise<T> {
  let result: T
  try {
    result = await body(held)
  } catch (error) {
    const loss = await held.finish().catch(() => undefined)
    throw loss !== undefined && onLost === 'reject' && isAbortOf(held.signal, error) ? loss.with(undefined) : error
  }
  const loss = await held.finish()
  if (loss !== undefined && onLost === 'reject') throw loss.with(result)
  return result
}
