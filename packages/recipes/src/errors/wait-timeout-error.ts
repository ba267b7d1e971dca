import { ZkError } from '@zk/client'
import { nameErrors } from '@zk/client/internal'

/** The contender that the caller was waiting for when the wait ended. In JSON `sessionId` is text, `0x…`. */
export interface Blocker {
  /** The path of the contender's node. */
  readonly path: string
  /** The label that the contender stored in its node. */
  readonly label: string
  /** The session that its node belongs to. */
  readonly sessionId: bigint
  /** When its node was created, by the leader's clock, in ms since the epoch. */
  readonly since: number
  /** Whether it is a contender of this same client. */
  readonly isOwn: boolean
}

/** @internal The node that has a member's name: see `WaitTimeoutError.owner`. */
export type NameOwner = Pick<Blocker, 'sessionId' | 'since' | 'isOwn'>

/** What the caller waited for. */
export type WaitTimeoutErrorCode =
  /** a lock, a permit or a leadership: other contenders were ahead. See `position`, `ahead` and `blocker` */
  | 'LockHeld'
  /** a grant: no other contender was in the way, but the answers that prove the lease were missing, or too slow */
  | 'SlowAnswers'
  /** a barrier: it was not removed */
  | 'BarrierSet'
  /** the members of a double barrier: too few have entered. See `present` */
  | 'MembersMissing'
  /** the members of a double barrier: not all have left. See `present` */
  | 'MembersPresent'
  /** the name of a member: another member has kept it. See `owner` */
  | 'NameTaken'

/**
 * A `WaitTimeoutError` with this code, and with the fields that such an error has for certain. For several codes it is a union, which a
 * `switch` over `code` tells apart.
 */
export type WaitTimeoutErrorWith<Code extends WaitTimeoutErrorCode> = {
  [Each in Code]: WaitTimeoutError & { readonly code: Each } & (Each extends 'NameTaken'
      ? { readonly owner: Pick<Blocker, 'sessionId' | 'since' | 'isOwn'> }
      : Each extends 'LockHeld' | 'SlowAnswers'
        ? { readonly ahead: readonly string[] }
        : { readonly present: readonly string[] })
}[Code]

/**
 * The caller waited for other programs, and its time was up. Nothing is left behind: its place in the queue has been given up, and the
 * nodes that the call created are deleted.
 *
 * A call that waits only for servers rejects with a `KeeperError` instead, whose code is `RequestTimeout`.
 */
export class WaitTimeoutError extends ZkError {
  static {
    nameErrors(this, 'WaitTimeoutError')
  }
  /** What the caller waited for. */
  declare readonly code: WaitTimeoutErrorCode
  /** The path of the lock, the election or the barrier, or of the member's node. */
  declare readonly path: string
  /** The longest wait, in ms. */
  declare readonly timeout: number
  /** How many contenders were ahead in the last list; undefined if no list showed any. */
  declare readonly position: number | undefined
  /** The paths of the contenders ahead, oldest first. */
  declare readonly ahead: readonly string[] | undefined
  /** The contender for which the caller waited: the next one ahead, or, for a reader, the next writer ahead. */
  declare readonly blocker: Blocker | undefined
  /** The paths of the nodes that existed when last seen: the barrier, or the members that have entered, or not yet left. */
  declare readonly present: readonly string[] | undefined
  /**
   * The member that has the name. `sessionId` is 0 for a node without a session, which stays until a client deletes it. If this client
   * may not read the node, `sessionId` and `since` are 0, because the server does not show them.
   */
  declare readonly owner: Pick<Blocker, 'sessionId' | 'since' | 'isOwn'> | undefined

  /** The other fields are those of the code. */
  constructor(
    code: WaitTimeoutErrorCode,
    path: string,
    message: string,
    fields: Pick<WaitTimeoutError, 'timeout'> & {
      readonly [Field in 'position' | 'ahead' | 'blocker' | 'present' | 'owner']?: WaitTimeoutError[Field] | undefined
    },
  ) {
    super(code, message, { path })
    Object.assign(this, fields)
  }

  /** See `ZkError.is`. With codes, the error has their fields: `if (WaitTimeoutError.is(error, 'NameTaken')) log(error.owner.since)`. */
  static override is<Code extends WaitTimeoutErrorCode>(
    error: unknown,
    ...codes: Code[]
  ): error is WaitTimeoutErrorWith<Code>
  /** For a class of your own. */
  static override is<E extends ZkError, Code extends E['code']>(
    this: abstract new (...args: never) => E,
    error: unknown,
    ...codes: Code[]
  ): error is E & { readonly code: Code }
  static override is(error: unknown, ...codes: WaitTimeoutErrorCode[]): boolean {
    return super.is(error, ...codes)
  }
}
