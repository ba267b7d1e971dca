// What histories of a semaphore have besides those of locks, and how it is drawn.
import type { Random } from '@zk/testing/internal'
import type { ClientPlan, Task } from './scenario.ts'

export interface SemaphorePlan {
  /** How many permits there are at first. */
  readonly permits: number
  /**
   * Whether the number is stored from the beginning, and all clients follow it. Then they may change it. Otherwise all of them
   * are made with this number, and the first one stores it.
   */
  readonly isStored: boolean
}

const MOST = 3

/** Draws the plan, and adds to the tasks how many permits they take, and whether they change the number first. */
export function drawSemaphore(
  random: Random,
  clients: readonly ClientPlan[],
): { readonly semaphore: SemaphorePlan; readonly clients: readonly ClientPlan[] } {
  const semaphore = { permits: random.between(1, MOST), isStored: random.chance(0.5) }
  const withCount = (task: Task): Task => ({
    ...task,
    count: random.one([1, 1, random.between(1, semaphore.permits)]),
    ...(semaphore.isStored && random.chance(0.25) && { resize: random.between(1, MOST) }),
  })
  return {
    semaphore,
    clients: clients.map((plan) => ({ ...plan, workers: plan.workers.map((tasks) => tasks.map(withCount)) })),
  }
}
