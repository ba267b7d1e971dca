import type { ScenarioGroup } from './group.ts'
import { acl } from './acl.ts'
import { containers } from './containers.ts'
import { create, sequentialNodes } from './create.ts'
import { data } from './data.ts'
import { failover } from './failover.ts'
import { fourLetterWords } from './four-letter-words.ts'
import { hostileFrames } from './hostile.ts'
import { multiRead } from './multi-read.ts'
import { multi } from './multi.ts'
import { addWatch, removalOfPersistentWatches, setWatches2 } from './persistent-watches.ts'
import { pipelining } from './pipelining.ts'
import { quotas } from './quota.ts'
import { sessions, expiry } from './sessions.ts'
import { setWatches } from './set-watches.ts'
import { ttl } from './ttl.ts'
import { unusualRequests } from './unusual-requests.ts'
import { watches, checkWatchesAndRemoveWatches } from './watches.ts'

export { type Scenarios, type ScenarioGroup, type VersionedScenario } from './group.ts'
export {
  acl,
  containers,
  create,
  sequentialNodes,
  data,
  failover,
  fourLetterWords,
  hostileFrames,
  multiRead,
  multi,
  addWatch,
  removalOfPersistentWatches,
  setWatches2,
  pipelining,
  quotas,
  sessions,
  expiry,
  setWatches,
  ttl,
  unusualRequests,
  watches,
  checkWatchesAndRemoveWatches,
}

/** All scenarios, by subject. */
export const scenarioGroups: readonly ScenarioGroup[] = [
  acl,
  containers,
  create,
  sequentialNodes,
  data,
  failover,
  fourLetterWords,
  hostileFrames,
  multiRead,
  multi,
  addWatch,
  removalOfPersistentWatches,
  setWatches2,
  pipelining,
  quotas,
  sessions,
  expiry,
  setWatches,
  ttl,
  unusualRequests,
  watches,
  checkWatchesAndRemoveWatches,
]
