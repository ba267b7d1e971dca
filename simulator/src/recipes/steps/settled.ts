import { KeeperError, type Runtime } from '@zk/client'
import type { Recorder } from '../../history/recorder.ts'
import type { StepOutcome } from '../../history/steps.ts'
import { abortedAfter } from '../../play/aborted-after.ts'

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
  abortAfter: number | undefined,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<StepOutcome<Value>> {
  const { signal, stop } = abortedAfter(runtime, abortAfter)
  try {
    return { how: 'resolved', value: await call(signal) }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return { how: 'aborted' }
    return { how: 'rejected', error: String(error), outcomeUnknown: KeeperError.is(error) && error.outcomeUnknown }
  } finally {
    stop()
  }
}

export function pause(runtime: Runtime, delay: number): Promise<void> {
  return new Promise((resolve) => void runtime.setTimer(delay, resolve))
}
