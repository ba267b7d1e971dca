import { barrierBugs } from './barrier-bugs.ts'
import type { PlantedBug } from './bug.ts'
import { clientBugs } from './client-bugs.ts'
import { counterBugs } from './counter-bugs.ts'
import { groupBugs } from './group-bugs.ts'
import { locksBugs } from './locks-bugs.ts'
import { mirrorBugs } from './mirror-bugs.ts'
import { promiseBugs } from './promise-bugs.ts'
import { recipeBugs } from './recipe-bugs.ts'
import { semaphoreBugs } from './semaphore-bugs.ts'
import { worldBugs } from './world-bugs.ts'

export const plantedBugs: readonly PlantedBug[] = [
  ...recipeBugs,
  ...clientBugs,
  ...promiseBugs,
  ...counterBugs,
  ...groupBugs,
  ...semaphoreBugs,
  ...locksBugs,
  ...barrierBugs,
  ...mirrorBugs,
  ...worldBugs,
]
