// One server's data: what is in it, what may change it, and who is told.
export { allowed, fixupACL } from './acl.ts'
export { type Answer, answerRead, answerWrite } from './answer.ts'
export { addAuthInfo, authenticate, firstAuthInfo } from './auth.ts'
export { toStat } from './data-node.ts'
export { DataTree, type DataTreeOptions, type SequenceOverflow, type TxnResult } from './data-tree.ts'
export { ttlOf } from './ephemeral-type.ts'
export { goesToLeader, isKnown, isWrite, type ServerVersion } from './op-codes.ts'
export { Preparation, type PreparationOptions } from './preparation.ts'
