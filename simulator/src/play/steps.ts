// The steps of recipes that hold nothing, each with the program of its recipe.
import type { ZooKeeper } from '@zk/client'
import type { Step } from '../scenario/steps.ts'
import { beInside, pass } from './barrier-program.ts'
import { count, counterOf, type StepsOptions } from './counter-program.ts'
import { pause } from './settled.ts'

/** Does the steps of each worker, one after the other. */
export async function doSteps(
  zk: ZooKeeper,
  workers: readonly (readonly Step[])[],
  options: StepsOptions,
): Promise<void> {
  // The first two share a counter, the third has its own.
  const counters = [counterOf(zk), counterOf(zk)] as const
  const work = async (steps: readonly Step[], worker: number) => {
    for (const step of steps) {
      await pause(options.runtime, step.after)
      if ('counts' in step) await count(zk, counters[worker < 2 ? 0 : 1], step, options)
      else if ('barrier' in step) await pass(zk, step, options)
      else await beInside(zk, step, options)
    }
  }
  await Promise.all(workers.map(work))
}
