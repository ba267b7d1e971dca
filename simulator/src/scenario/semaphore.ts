// What histories of a semaphore have besides those of locks, and how it is drawn.
import type { Random } from '@zk/testing/internal'

export interface SemaphorePlan {
  /** How many permits there are at first. */
  readonly permits: number
  /**
   * Whether the number is stored from the beginning, and all clients follow it. Then they may change it. Otherwise all of them
   * are made with this number, and the first one stores it.
   */
  readonly isStored: boolean
}

/** What a task has besides. */
export interface PermitTask {
  /** How many permits it takes. */
  readonly count?: number | undefined
  /** The number of permits that it stores first. */
  readonly resize?: number
}

const MOST = 3

export function drawSemaphore(random: Random): SemaphorePlan {
  return { permits: random.between(1, MOST), isStored: random.chance(0.5) }
}

export function drawPermitTask(random: Random, { permits, isStored }: SemaphorePlan): PermitTask {
  return {
    count: random.one([1, 1, random.between(1, permits)]),
    ...(isStored && random.chance(0.25) && { resize: random.between(1, MOST) }),
  }
}
