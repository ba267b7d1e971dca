import type { LostErrorCode } from '../errors/lost-error.ts'

/** Why a hold has ended. Only a member has a name that another may take. */
export type LossReason = Exclude<LostErrorCode, 'NameTaken'>
