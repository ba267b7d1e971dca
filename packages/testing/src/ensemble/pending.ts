import { ErrorCode } from '@zk/wire'
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { Owner } from './session-tracker.ts'

/** A request on its way through a server's processors, which fill it in (Request). */
export class Pending {
  readonly request: ServerRequest
  /** With this the leader checks the session; undefined for requests of no session. */
  readonly owner: Owner | undefined
  /** The result of a write. */
  entry: LoggedTxn | undefined
  /** Why a read, or a request that has waited too long, is refused: an `ErrorCode`, 0 for not refused. */
  refused: number = ErrorCode.Ok

  constructor(request: ServerRequest, owner: Owner | undefined, entry?: LoggedTxn) {
    this.request = request
    this.owner = owner
    this.entry = entry
  }

  /** It takes its turn among the requests of its session, and is not executed, not even a write. */
  get isThrottled(): boolean {
    return this.refused === ErrorCode.ThrottledOp
  }
}
