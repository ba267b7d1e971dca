import { ErrorCode } from '@zk/wire'
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { Owner } from './session-tracker.ts'

/** A request on its way through a server's processors (Request, as they fill it in). */
export class Pending {
  readonly request: ServerRequest
  /** By this the leader knows whether the session may ask; undefined for requests of no session. */
  readonly owner: Owner | undefined
  /** What became of a write. */
  entry: LoggedTxn | undefined
  /** Why a read is refused, or what has waited too long: an `ErrorCode`, 0 for not at all. */
  refused: number = ErrorCode.Ok

  constructor(request: ServerRequest, owner: Owner | undefined, entry?: LoggedTxn) {
    this.request = request
    this.owner = owner
    this.entry = entry
  }

  /** It takes its turn among the requests of its session, and is not done, not even a write. */
  get isThrottled(): boolean {
    return this.refused === ErrorCode.ThrottledOp
  }
}
