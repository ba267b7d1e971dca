// The checks that several recipes have in common.
import type { Check } from './check.ts'
import { fencesRise } from './fences.ts'
import { entriesRise, guardedWhileHeld, repliesMatch } from './guarded-set.ts'
import { healthySessions } from './healthy-sessions.ts'
import { oneHolder } from './one-holder.ts'
import { noOrphans, nothingLeft } from './orphans.ts'
import { lostIsLost, refusedIsRefused, settledInTime } from './settling.ts'
import { everyWorkerEnds, grantsAreProven, inOrder, noHerd, noWaitForOwnNode } from './waiting.ts'
import { watchesLoseNothing } from './watches.ts'

/** For recipes of which several attempts may hold: I1 to I15 but I8, and I18. */
export const checksOfHolds: readonly Check[] = [
  oneHolder,
  fencesRise,
  guardedWhileHeld,
  noOrphans,
  noWaitForOwnNode,
  everyWorkerEnds,
  inOrder,
  grantsAreProven,
  refusedIsRefused,
  lostIsLost,
  settledInTime,
  repliesMatch,
  watchesLoseNothing,
  nothingLeft,
  healthySessions('I18'),
]

/** For recipes that have one holder at a time, also I8, and I3 for the order of entries. */
export const checksOfOneHolder: readonly Check[] = [noHerd, entriesRise]

/** For several locks at once. I9 is M3 for each path. */
export const checksOfSeveral: readonly Check[] = checksOfHolds.filter((each) => each !== grantsAreProven)

/** For recipes that hold nothing. */
export const checksOfCalls: readonly Check[] = [noOrphans, settledInTime, healthySessions('I18'), nothingLeft]
