import { branded, printable, setHidden } from '@zk/client/internal'
import type { LossReason } from '../lease/loss-reason.ts'

/** The brand by which `LockLostError.is` finds errors of any copy of this package. */
const lostBrand = Symbol.for('@zk/LockLostError')

/** The hold has ended. It is never held again under this grant. */
export class LockLostError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'LockLostError'
  /** The brand for `is`. */
  readonly [lostBrand] = true
  /** Why the hold ended. If there are several causes, the first one. */
  readonly reason: LossReason
  /** The path of the contender's node. */
  readonly path: string
  /**
   * The value with which the body of a `run` resolved although the lock was lost; undefined for any other call. Not enumerable,
   * and not in JSON: it may be anything.
   */
  declare readonly result: unknown

  constructor(
    reason: LossReason,
    path: string,
    { result, ...options }: ErrorOptions & { readonly result?: unknown } = {},
  ) {
    super(printable(`${path} is no longer held: ${explain[reason]}`), options)
    this.reason = reason
    this.path = path
    setHidden<LockLostError>(this, { result })
  }

  /** @internal The same loss with the stack of the current caller, and the result of the body of a `run`. */
  with(result: unknown): LockLostError {
    const { reason, path, cause } = this
    return new LockLostError(reason, path, cause === undefined ? { result } : { cause, result })
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, reason, path } = this
    return { name, message, reason, path }
  }

  /** True for a `LockLostError` of any copy of this package in the program. */
  static is(error: unknown): error is LockLostError {
    return branded(error, lostBrand)
  }
}

const explain: Record<LossReason, string> = {
  Released: 'it was released',
  Downgraded: 'it was downgraded to a read lock',
  LeaseLost: 'its lease ended before the ensemble confirmed it again: servers, network or this process were too slow',
  Disconnected: 'the connection to the ensemble was lost',
  SessionExpired: 'the session expired',
  Closed: 'the client was closed or detached, or its credentials were refused',
  NodeGone: 'its node is gone: another client deleted it, or the session has expired',
  Refused: 'the ensemble refuses to confirm it: this client may no longer read its node',
}
