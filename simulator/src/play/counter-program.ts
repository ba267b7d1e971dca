// What a client does with a `Counter`.
import { KeeperError, type Runtime, type ZooKeeper } from '@zk/client'
import { Counter } from '@zk/recipes'
import type { Recorder } from '../history/recorder.ts'
import type { StepOutcome } from '../history/steps.ts'
import type { Count, CounterStep } from '../scenario/steps.ts'
import { PATH } from './paths.ts'

export interface StepsOptions {
  readonly client: number
  readonly runtime: Runtime
  readonly recorder: Recorder
}

export async function count(
  zk: ZooKeeper,
  counter: Counter,
  steps: readonly CounterStep[],
  { client, runtime, recorder }: StepsOptions,
): Promise<void> {
  const one = async (count: Count) => {
    const call = recorder.newAttempt()
    const { timeout = zk.session.timeout, abortAfter = Infinity } = count
    const within = Math.min(timeout, abortAfter)
    recorder.add({ type: 'counting', call, client, count, session: zk.session.id, within })
    const outcome = await settled(runtime, abortAfter, (signal) => make(counter, count, signal))
    recorder.add({ type: 'counted', call, session: zk.session.id, outcome })
  }
  for (const { after, counts } of steps) {
    await new Promise<void>((resolve) => void runtime.setTimer(after, resolve))
    await Promise.all(counts.map(one))
  }
}

export const counterOf = (zk: ZooKeeper): Counter => new Counter(zk, PATH)

function make(counter: Counter, { how, number, timeout }: Count, signal: AbortSignal): Promise<bigint> {
  const options = { timeout, signal }
  const digit = 4n ** BigInt(number)
  switch (how) {
    case 'add':
      return counter.add(digit, options)
    case 'update':
      return counter.update((value) => value + digit, options)
    case 'get':
      return counter.get(options)
  }
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
