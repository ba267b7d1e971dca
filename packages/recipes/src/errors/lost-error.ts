import { ZkError } from '@zk/client'
import { nameErrors, setHidden } from '@zk/client/internal'

/** Why a hold or a membership has ended. If there are several causes, the first one. */
export type LostErrorCode =
  /** the holder released it, or the member left */
  | 'Released'
  /** the holder downgraded it, and continues as a reader */
  | 'Downgraded'
  /** the lease ended before the hold was confirmed again: from now on another contender may be granted */
  | 'LeaseLost'
  /** the connection was lost, with `heldWhile: 'connected'` */
  | 'Disconnected'
  /** the session expired, and the node was deleted with it */
  | 'SessionExpired'
  /** the client was closed or detached, or its credentials were refused; of a membership, also: no session follows the last one */
  | 'Closed'
  /** the node is gone: another client deleted it, or the session has expired and the client does not know it yet */
  | 'NodeGone'
  /** another member had taken the name meanwhile: `cause` is a `WaitTimeoutError` */
  | 'NameTaken'
  /** the ensemble refuses the node, for instance because this client may no longer read it. `cause` has the answer */
  | 'Refused'

/** What was held has ended: a lock, a permit, a leadership, or a membership. It is never held again under this grant. */
export class LostError extends ZkError {
  static {
    nameErrors(this, 'LostError')
  }
  /** Why it ended. */
  declare readonly code: LostErrorCode
  /** The path of the node of the contender or member. */
  declare readonly path: string
  /**
   * The value with which the body of a `run` resolved although the lock was lost; undefined for any other call. Not enumerable,
   * and not in JSON: it may be anything.
   */
  declare readonly result: unknown

  /** `message` is for people. */
  constructor(
    code: LostErrorCode,
    path: string,
    message: string,
    { result, ...options }: { readonly cause?: unknown; readonly result?: unknown } = {},
  ) {
    super(code, message, { path, ...options })
    setHidden<LostError>(this, { result })
  }

  /** @internal The same loss with the stack of the current caller, and the result of the body of a `run`. */
  with(result: unknown): LostError {
    const { code, path, message, cause } = this
    return new LostError(code, path, message, { cause, result })
  }
}
