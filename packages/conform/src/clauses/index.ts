import type { Chapter } from './clause.ts'
import { containers } from './containers.ts'
import { create } from './create.ts'
import { deletion } from './delete.ts'
import { ephemeral } from './ephemeral.ts'
import { paths } from './paths.ts'
import { reads } from './reads.ts'
import { sequential } from './sequential.ts'
import { setData } from './set-data.ts'
import { stat } from './stat.ts'
import { sync } from './sync.ts'
import { ttl } from './ttl.ts'
import { watches } from './watches.ts'

export {
  type Chapter,
  type Check,
  type Clause,
  expectedOf,
  idOf,
  type Level,
  type Need,
  type Profile,
  type ReleaseDifference,
} from './clause.ts'
export { Trial } from './trial.ts'

/** All chapters, in the order of the pages. */
export const chapters: readonly Chapter[] = [
  paths,
  create,
  deletion,
  reads,
  stat,
  setData,
  sync,
  sequential,
  ephemeral,
  containers,
  ttl,
  watches,
]
