import type { Played } from '../history/played.ts'
import type { Check, Violation } from './check.ts'
import { fencesRise } from './fences.ts'
import { guardedWhileHeld, repliesMatch } from './guarded-set.ts'
import { oneHolder } from './one-holder.ts'
import { noOrphans, nothingLeft } from './orphans.ts'
import { healthySessions } from './healthy-sessions.ts'
import { lostIsLost, refusedIsRefused, settledInTime } from './settling.ts'
import { atMostPermits, onePermitOneHolder, permitsInOrder } from './permits.ts'
import { promises } from './promises/index.ts'
import { everybodyIsServed, grantsAreProven, inOrder, nobodyWaitsOnHimself, noHerd } from './waiting.ts'
import { watchesLoseNothing } from './watches.ts'

/** The checks, one for each invariant of a history of a recipe, in their order: I1 to I15, and I18. */
const checks: readonly Check[] = [
  oneHolder,
  fencesRise,
  guardedWhileHeld,
  noOrphans,
  nobodyWaitsOnHimself,
  everybodyIsServed,
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

/** Those of a semaphore, besides. */
const ofPermits: readonly Check[] = [atMostPermits, onePermitOneHolder, permitsInOrder]

export function check(played: Played): Violation[] {
  const { recipe } = played.scenario
  const asked = recipe === 'ZooKeeper' ? promises : recipe === 'Semaphore' ? [...checks, ...ofPermits] : checks
  return asked.flatMap((each) => each(played))
}
