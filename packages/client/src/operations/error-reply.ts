import type { KeeperErrorCode, KeeperErrorDetails } from '../base/errors.ts'

interface FailedMulti extends Pick<KeeperErrorDetails, 'needs'> {
  readonly index: number
  readonly path: string | undefined
  readonly results: readonly (KeeperErrorCode | 'Ok')[]
}

/** A valid reply with an error code. */
export class ErrorReply {
  readonly code: number
  /** For a failed multi: the operation that failed, its path, what it needs, and the results of all operations. */
  readonly multi: FailedMulti | undefined

  constructor(code: number, multi?: FailedMulti) {
    this.code = code
    this.multi = multi
  }
}
