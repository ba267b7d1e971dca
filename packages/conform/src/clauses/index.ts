import type { Chapter } from './clause.ts'
import { persistentWatches } from './persistent-watches.ts'
import { removeWatches } from './remove-watches.ts'
import { setWatches } from './set-watches.ts'
import { setWatches2 } from './set-watches2.ts'
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
export const chapters: readonly Chapter[] = [watches, persistentWatches, removeWatches, setWatches, setWatches2]
