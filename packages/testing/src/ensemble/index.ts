// The quorum as a model: members that agree on one tree, in virtual time.
export { Agenda } from './agenda.ts'
export { Ensemble } from './ensemble.ts'
export type { Member, Role } from './member.ts'
export type { Network } from './network.ts'
export type { OperatorChange } from './operator.ts'
export type { SessionInfo, Sessions } from './sessions.ts'
export type { EnsembleSettings, MemberLimits, SessionLimits } from './settings.ts'
