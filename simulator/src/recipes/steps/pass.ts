// A call of a recipe that holds nothing, recorded.
import type { ZooKeeper } from '@zk/client'
import type { Random } from '@zk/testing/internal'
import type { StepHappening } from '../../history/steps.ts'
import { type CallSite, type Ending, settled } from './settled.ts'

type Passing = Extract<StepHappening, { type: 'passing' }>

export function drawEnding(random: Random, sessionTimeout: number): Ending {
  return {
    ...(random.chance(0.2) && { timeout: random.below(random.one([20, 300, 3 * sessionTimeout])) }),
    ...(random.chance(0.15) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
  }
}

/** With a timeout of 0 a wait waits for servers only, as long as the session timeout. */
export function endingOfWait(zk: ZooKeeper, ending: Ending): Ending {
  return ending.timeout === 0 ? { ...ending, timeout: zk.session.timeout } : ending
}

export async function pass(
  { client, runtime, recorder }: CallSite,
  what: Pick<Passing, 'what' | 'about'>,
  { timeout = Infinity, abortAfter }: Ending,
  make: (signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const call = recorder.newAttempt()
  const within = Math.min(timeout, abortAfter ?? Infinity)
  recorder.add({ type: 'passing', call, client, ...what, within })
  const outcome = await settled(runtime, abortAfter, make)
  recorder.add({ type: 'passed', call, outcome })
}
