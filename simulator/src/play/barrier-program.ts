// What a client does with a `Barrier`, and as a member of a `DoubleBarrier`.
import type { ZooKeeper } from '@zk/client'
import { Barrier, type BarrierEntry, DoubleBarrier } from '@zk/recipes'
import type { StepOutcome } from '../history/steps.ts'
import type { BarrierStep, Ending, MemberStep } from '../scenario/steps.ts'
import type { StepsOptions } from './counter-program.ts'
import { PATH } from './paths.ts'
import { pause, settled } from './settled.ts'

type What = 'set' | 'remove' | 'wait' | 'enter' | 'leave'

export async function pass(
  zk: ZooKeeper,
  { barrier: what, ...ending }: BarrierStep,
  options: StepsOptions,
): Promise<void> {
  const barrier = new Barrier(zk, PATH)
  const { timeout } = ending
  // Only a wait is for ever.
  const limit = what === 'wait' ? ofWait(zk, ending) : { ...ending, timeout: timeout ?? zk.session.timeout }
  await call(options, what, limit, async (signal) => {
    await barrier[what]({ timeout, signal })
    return ''
  })
}

export async function beInside(zk: ZooKeeper, step: MemberStep, options: StepsOptions): Promise<void> {
  const { size, enter, inside, leave } = step
  const barrier = new DoubleBarrier(zk, PATH, { size })
  let entry: BarrierEntry | undefined
  await call(options, 'enter', ofWait(zk, enter), async (signal) => {
    entry = await barrier.enter({ timeout: enter.timeout, signal })
    return entry.path
  })
  if (entry === undefined) return
  const { path } = entry
  await pause(options.runtime, inside)
  const leaving = async (signal?: AbortSignal) => {
    await entry!.leave({ timeout: leave.timeout, signal })
    return path
  }
  await call(options, 'leave', ofWait(zk, leave), leaving, path)
}

/** With a timeout of 0 a call waits for servers only, as long as the session timeout. */
function ofWait(zk: ZooKeeper, ending: Ending): Ending {
  return ending.timeout === 0 ? { ...ending, timeout: zk.session.timeout } : ending
}

async function call(
  { client, runtime, recorder }: StepsOptions,
  what: What,
  { timeout = Infinity, abortAfter = Infinity }: Ending,
  make: (signal: AbortSignal) => Promise<string>,
  path?: string,
): Promise<void> {
  const number = recorder.newAttempt()
  const within = Math.min(timeout, abortAfter)
  recorder.add({ type: 'passing', call: number, client, what, ...(path !== undefined && { path }), within })
  const outcome: StepOutcome<string> = await settled(runtime, abortAfter, make)
  recorder.add({ type: 'passed', call: number, outcome })
}
