import { ErrorCode } from '@zk/wire'
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { Owner } from './session-tracker.ts'

/** A request on its way through the processors of a server, which set its fields (Request). */
export class Pending {
  readonly request: ServerRequest
  /** The source of the request, by which the leader checks the session; undefined if there is no session. */
  readonly owner: Owner | undefined
  /** The transaction of a write. */
  entry: LoggedTxn | undefined
  /** The `ErrorCode` with which a read, or a request that is skipped, is refused; 0 if it is not refused. */
  refused: number = ErrorCode.Ok

  constructor(request: ServerRequest, owner: Owner | undefined, entry?: LoggedTxn) {
    this.request = request
    this.owner = owner
    this.entry = entry
  }

  /**
   * Whether the request has waited too long, or cannot be read. It keeps its place among the requests of its session, but is
   * not executed.
   */
  get isSkipped(): boolean {
    return this.refused === ErrorCode.ThrottledOp || this.refused === ErrorCode.MarshallingError
  }
}
