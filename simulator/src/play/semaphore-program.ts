// What clients do with a semaphore besides holding permits.
import { KeeperError, type ZooKeeper } from '@zk/client'
import { type Acquirable, type HoldOptions, Semaphore, type SemaphoreHeld } from '@zk/recipes'
import type { PermitTask, SemaphorePlan } from '../scenario/semaphore.ts'
import type { Task } from '../scenario/scenario.ts'
import { PATH } from './paths.ts'

export function semaphoreOf(zk: ZooKeeper, plan: SemaphorePlan, holdOptions?: HoldOptions): Semaphore {
  return new Semaphore(zk, PATH, { ...holdOptions, ...(!plan.isStored && { permits: plan.permits }) })
}

/** The permits of one task, to be acquired as a lock is. */
export function permitsOf(semaphore: Semaphore, { count }: PermitTask): Acquirable<SemaphoreHeld> {
  return {
    acquire: (options) => semaphore.acquire({ ...options, count }),
    tryAcquire: (options) => semaphore.tryAcquire({ ...options, count }),
    run: (body, options) => semaphore.run(body, { ...options, count }),
  }
}

/** Stores another number of permits, if the task has one. Faults may make the call fail; the task goes on then. */
export async function resizeFirst(zk: ZooKeeper, plan: SemaphorePlan, { resize }: Task): Promise<void> {
  if (resize === undefined) return
  try {
    await semaphoreOf(zk, plan).resize(resize)
  } catch (error) {
    if (!KeeperError.is(error)) throw error
  }
}
