import type { Chapter } from './clause.ts'
import { acl } from './acl.ts'
import { auth } from './auth.ts'
import { containers } from './containers.ts'
import { create } from './create.ts'
import { deletion } from './delete.ts'
import { ephemeral } from './ephemeral.ts'
import { framesNobodySends } from './frames-nobody-sends.ts'
import { framing } from './framing.ts'
import { handshake } from './handshake.ts'
import { multi } from './multi.ts'
import { multiRead } from './multi-read.ts'
import { order } from './order.ts'
import { paths } from './paths.ts'
import { persistentWatches } from './persistent-watches.ts'
import { quota } from './quota.ts'
import { readOnly } from './read-only.ts'
import { reads } from './reads.ts'
import { reconfig } from './reconfig.ts'
import { removeWatches } from './remove-watches.ts'
import { sasl } from './sasl.ts'
import { sequential } from './sequential.ts'
import { sessions } from './sessions.ts'
import { setData } from './set-data.ts'
import { setWatches } from './set-watches.ts'
import { setWatches2 } from './set-watches2.ts'
import { stat } from './stat.ts'
import { sync } from './sync.ts'
import { ttl } from './ttl.ts'
import { watches } from './watches.ts'
import { whoAmI } from './who-am-i.ts'
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
  persistentWatches,
  removeWatches,
  setWatches,
  setWatches2,
  multi,
  multiRead,
  auth,
  acl,
  whoAmI,
  sasl,
  quota,
  reconfig,
  readOnly,
  framesNobodySends,
  words,
]
