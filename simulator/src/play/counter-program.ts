// What a client does with a `Counter`.
import type { Runtime, ZooKeeper } from '@zk/client'
import { Counter } from '@zk/recipes'
import type { Recorder } from '../history/recorder.ts'
import type { Count, CounterStep } from '../scenario/steps.ts'
import { PATH } from './paths.ts'
import { settled } from './settled.ts'

export interface StepsOptions {
  readonly client: number
  readonly runtime: Runtime
  readonly recorder: Recorder
}

export async function count(
  zk: ZooKeeper,
  counter: Counter,
  { counts }: CounterStep,
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
  await Promise.all(counts.map(one))
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
