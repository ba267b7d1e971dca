import type { Chapter } from './clause.ts'
import { acl } from './acl.ts'
import { auth } from './auth.ts'
import { multi } from './multi.ts'
import { multiRead } from './multi-read.ts'
import { quota } from './quota.ts'
import { reconfig } from './reconfig.ts'
import { sasl } from './sasl.ts'
import { watches } from './watches.ts'
import { whoAmI } from './who-am-i.ts'

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
export const chapters: readonly Chapter[] = [watches, multi, multiRead, auth, acl, whoAmI, sasl, quota, reconfig]
