// All workloads, a row each.
import type { Scenario } from '../scenario/scenario.ts'
import { barrier } from './barrier.ts'
import { counter } from './counter.ts'
import { doubleBarrier } from './double-barrier.ts'
import { group } from './group.ts'
import { leaderElection } from './leader-election.ts'
import { lock } from './lock.ts'
import { mirror } from './mirror.ts'
import { multiLock } from './multi-lock.ts'
import { onceCalls } from './once.ts'
import { semaphore } from './semaphore.ts'
import { sharedLock } from './shared-lock.ts'
import type { Workload } from './workload.ts'
import { plainCalls } from './zookeeper.ts'

export const workloads = {
  Lock: lock,
  SharedLock: sharedLock,
  LeaderElection: leaderElection,
  Semaphore: semaphore,
  MultiLock: multiLock,
  ZooKeeper: plainCalls,
  Counter: counter,
  Barrier: barrier,
  DoubleBarrier: doubleBarrier,
  Group: group,
  Mirror: mirror,
  Once: onceCalls,
}

export type WorkloadName = keyof typeof workloads
export const workloadNames = Object.keys(workloads) as readonly WorkloadName[]

/** Runs without `--recipe` draw one of these. */
export const drawnNames = workloadNames.filter((name) => workloadNamed(name).isDrawn)

export function workloadNamed(name: WorkloadName): Workload {
  return workloads[name]
}

export function workloadOf({ recipe }: Pick<Scenario, 'recipe'>): Workload {
  return workloadNamed(recipe as WorkloadName)
}
