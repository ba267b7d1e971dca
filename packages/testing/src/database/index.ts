// The data of one server: the tree, the requests that change it, and the watches.
export { allowed, fixupACL } from './acl.ts'
export { type Answer, answerRead, answerWrite } from './answer.ts'
export { addAuthInfo, authenticate, firstAuthInfo } from './auth.ts'
export { configIn, configOf, writeConfig } from './config-node.ts'
export { toStat } from './data-node.ts'
export { DataTree, type DataTreeOptions, type SequenceOverflow, type TxnResult } from './data-tree.ts'
export { ttlOf } from './ephemeral-type.ts'
export { goesToLeader, isKnown, isWrite } from './op-codes.ts'
export { formatConfig, initialConfig, isQuorum, type QuorumConfig, votersIn } from './quorum-config.ts'
export { Preparation, type PreparationOptions } from './preparation.ts'
export {
  behaviours,
  concerns,
  DEBIAN,
  defaultsOf,
  isBefore,
  NEWEST,
  newest,
  type Release,
  releaseOf,
  type ReleaseLine,
  type Releases,
  type ServerRelease,
} from './releases.ts'
export { DEFAULT_SCHEMES } from './schemes.ts'
export type { WatchModes } from './watch-manager.ts'
