import type { Chapter } from './clause.ts'
import { framesNobodySends } from './frames-nobody-sends.ts'
import { framing } from './framing.ts'
import { handshake } from './handshake.ts'
import { order } from './order.ts'
import { readOnly } from './read-only.ts'
import { sessions } from './sessions.ts'
import { watches } from './watches.ts'
import { words } from './words.ts'

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
  framing,
  handshake,
  sessions,
  order,
  watches,
  readOnly,
  framesNobodySends,
  words,
]
