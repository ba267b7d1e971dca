// The steps of recipes that hold nothing, each with the program of its recipe.
import type { ZooKeeper } from '@zk/client'
import type { Step } from '../scenario/steps.ts'
import { count, counterOf, type StepsOptions } from './counter-program.ts'

/** Does the steps of each worker, one after the other. */
export async function doSteps(
  zk: ZooKeeper,
  workers: readonly (readonly Step[])[],
  options: StepsOptions,
): Promise<void> {
  // The first two share a counter, the third has its own.
  const counters = [counterOf(zk), counterOf(zk)] as const
  await Promise.all(workers.map((steps, worker) => count(zk, counters[worker < 2 ? 0 : 1], steps, options)))
}
