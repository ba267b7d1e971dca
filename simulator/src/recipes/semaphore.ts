// Clients take one to three permits at a time. In half of the histories the number of permits is stored from the beginning, and
// clients change it now and then.
import { KeeperError, type ZooKeeper } from '@zk/client'
import { type HoldOptions, Semaphore, type SemaphoreHeld } from '@zk/recipes'
import { Random } from '@zk/testing/internal'
import { checksOfHolds } from '../checks/lists.ts'
import { LEASES, LOCKS, PATH } from '../play/paths.ts'
import type { SemaphorePlan, Task } from '../scenario/scenario.ts'
import { locked, ofHolders, withEach } from './holders/index.ts'
import { atMostPermits, onePermitOneHolder, permitsInOrder } from './semaphore-checks.ts'

/** What a task has besides. */
interface PermitTask extends Task {
  /** How many permits it takes. */
  readonly count?: number | undefined
  /** The number of permits that it stores first. */
  readonly resize?: number
}

const MOST = 3

export const semaphore = ofHolders<PermitTask>({
  kinds: ['permits'],
  ways: locked,
  drawMore(plans, seed) {
    const random = new Random(seed, 'semaphore')
    const semaphore = { permits: random.between(1, MOST), isStored: random.chance(0.5) }
    return { clients: plans.map((plan) => withEach<PermitTask>(plan, () => drawPermits(random, semaphore))), semaphore }
  },
  prepare(operator, { semaphore }) {
    if (!semaphore!.isStored) return
    operator.create(PATH.slice(0, PATH.lastIndexOf('/')))
    // The number of permits, in four bytes.
    operator.create(PATH, Uint8Array.of(0, 0, 0, semaphore!.permits))
  },
  /** Stores another number of permits, if the task has one. Faults may make the call fail; the task goes on then. */
  async before(zk, { resize }, { semaphore }) {
    if (resize === undefined) return
    try {
      await semaphoreOf(zk, semaphore!).resize(resize)
    } catch (error) {
      if (!KeeperError.is(error)) throw error
    }
  },
  acquirable(zk, { count, holdOptions }, { semaphore }) {
    const permits = semaphoreOf(zk, semaphore!, holdOptions)
    return {
      acquire: (options) => permits.acquire({ ...options, count }),
      tryAcquire: (options) => permits.tryAcquire({ ...options, count }),
      run: (body, options) => permits.run(body, { ...options, count }),
    }
  },
  details: (held) => ({ permits: (held as SemaphoreHeld).permits }),
  paths: [LOCKS, LEASES],
  checks: [...checksOfHolds, atMostPermits, onePermitOneHolder, permitsInOrder],
})

function drawPermits(random: Random, { permits, isStored }: SemaphorePlan): Pick<PermitTask, 'count' | 'resize'> {
  return {
    count: random.one([1, 1, random.between(1, permits)]),
    ...(isStored && random.chance(0.25) && { resize: random.between(1, MOST) }),
  }
}

function semaphoreOf(zk: ZooKeeper, plan: SemaphorePlan, holdOptions?: HoldOptions): Semaphore {
  return new Semaphore(zk, PATH, { ...holdOptions, ...(!plan.isStored && { permits: plan.permits }) })
}
