import { KeeperError, type Runtime } from '@zk/client'
import type { Recorder } from '../../history/recorder.ts'
import type { StepOutcome } from '../../history/steps.ts'

/** Where a call is made. */
export interface CallSite {
  readonly client: number
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** How a call may be given up. */
export interface Ending {
  readonly timeout?: number
  readonly abortAfter?: number
}

/** How the call ends. Its signal aborts after this time. */
export async function settled<Value>(
  runtime: Runtime,
  abortAfter: number,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<StepOutcome<Value>> {
  const aborting = new AbortController()
  const stop =
    abortAfter === Infinity ? () => {} : runtime.setTimer(abortAfter, () => aborting.abort(new Error('aborted')))
  try {
    return { how: 'resolved', value: await call(aborting.signal) }
  } catch (error) {
    if (aborting.signal.aborted && error === aborting.signal.reason) return { how: 'aborted' }
    return { how: 'rejected', error: String(error), outcomeUnknown: KeeperError.is(error) && error.outcomeUnknown }
  } finally {
    stop()
  }
}

export function pause(runtime: Runtime, delay: number): Promise<void> {
  return new Promise((resolve) => void runtime.setTimer(delay, resolve))
}
