import { checkKeys, checkSignal, checkTime } from '../base/arguments.ts'
import { throwIfAborted } from '../base/signals.ts'
import { pause } from './pause.ts'
import type { Runtime } from './runtime.ts'

/**
 * Resolves after `ms` milliseconds on the clock of the runtime. Code that waits this way, and not with `setTimeout`, also runs in
 * virtual time:
 *
 *     await sleep(zk.runtime, 60_000, { signal: held.signal })
 *
 * Any `Runtime` will do. Rejects with the reason of the signal when it aborts. `Infinity` waits for the signal alone.
 */
export async function sleep(
  runtime: Pick<Runtime, 'now' | 'setTimer'>,
  ms: number,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  if (typeof runtime?.setTimer !== 'function') {
    throw new TypeError('sleep: the first argument must be a runtime, such as zk.runtime')
  }
  checkKeys('sleep', options, ['signal'], '{ signal }')
  const { signal } = options
  checkSignal(signal)
  if (ms === undefined) throw new TypeError('sleep: the second argument must be a number of ms')
  checkTime('ms', ms)
  throwIfAborted(signal)
  const end = runtime.now() + ms
  // A timer may fire early: by a fraction of a ms, or after 24 days, which is the most that timers take.
  do {
    await pause(runtime, end - runtime.now(), signal)
    throwIfAborted(signal)
  } while (runtime.now() < end)
}
