import type { Played } from '../history/played.ts'
import type { Workload } from '../scenario/scenario.ts'
import type { Check, Violation } from './check.ts'
import {
  callsInTime,
  insideTogether,
  departures,
  leftTogether,
  nothingLeftBesideWaits,
  openedOnce,
  openings,
  passedWhileOpen,
} from './barrier.ts'
import { changesOnce, countedInTime, everyWriteAdds, readsNeverGoBack } from './counter.ts'
import { groupChecks } from './group.ts'
import { mirrorChecks } from './mirror.ts'
import { fencesRise } from './fences.ts'
import { guardedWhileHeld, repliesMatch } from './guarded-set.ts'
import { eachIsProven, oneHolderOfEach, tokensAreOfNodes } from './locks.ts'
import { oneHolder } from './one-holder.ts'
import { noOrphans, nothingLeft } from './orphans.ts'
import { healthySessions } from './healthy-sessions.ts'
import { lostIsLost, refusedIsRefused, settledInTime } from './settling.ts'
import { atMostPermits, onePermitOneHolder, permitsInOrder } from './permits.ts'
import { promises } from './promises/index.ts'
import { everyWorkerEnds, grantsAreProven, inOrder, noWaitForOwnNode, noHerd } from './waiting.ts'
import { watchesLoseNothing } from './watches.ts'

/** The checks, one for each invariant of a history of a recipe, in their order: I1 to I15, and I18. */
const checks: readonly Check[] = [
  oneHolder,
  fencesRise,
  guardedWhileHeld,
  noOrphans,
  noWaitForOwnNode,
  everyWorkerEnds,
  inOrder,
  noHerd,
  grantsAreProven,
  refusedIsRefused,
  lostIsLost,
  settledInTime,
  repliesMatch,
  watchesLoseNothing,
  nothingLeft,
  healthySessions('I18'),
]

/** For several locks at once. I9 is M3 for each path. */
const ofSeveral: readonly Check[] = [
  ...checks.filter((each) => each !== grantsAreProven),
  oneHolderOfEach,
  tokensAreOfNodes,
  eachIsProven,
]

/** For recipes that hold nothing. */
const common: readonly Check[] = [noOrphans, settledInTime, healthySessions('I18')]

const checksOf: Partial<Record<Workload, readonly Check[]>> = {
  ZooKeeper: promises,
  Semaphore: [...checks, atMostPermits, onePermitOneHolder, permitsInOrder],
  MultiLock: ofSeveral,
  Counter: [...common, nothingLeft, everyWorkerEnds, everyWriteAdds, changesOnce, readsNeverGoBack, countedInTime],
  Barrier: [...common, nothingLeftBesideWaits, passedWhileOpen, openedOnce, callsInTime('B3')],
  DoubleBarrier: [
    ...common,
    nothingLeft,
    everyWorkerEnds,
    insideTogether,
    openings,
    leftTogether,
    departures,
    callsInTime('D3'),
  ],
  Group: [...common, nothingLeft, ...groupChecks],
  Mirror: [settledInTime, healthySessions('I18'), nothingLeft, ...mirrorChecks],
}

export function check(played: Played): Violation[] {
  const asked = checksOf[played.scenario.recipe] ?? checks
  return asked.flatMap((each) => each(played))
}
