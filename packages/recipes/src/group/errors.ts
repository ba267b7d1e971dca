import { branded, hex, inJson, printable } from '@zk/client/internal'

/** The brand by which `NameTakenError.is` finds errors of any copy of this package. */
const takenBrand = Symbol.for('@zk/NameTakenError')
/** The brand by which `MembershipLostError.is` finds errors of any copy of this package. */
const lostBrand = Symbol.for('@zk/MembershipLostError')

/** The node that has a member's name. */
export interface NameOwner {
  /** The session that the node belongs to; 0 for a node without a session, which stays until a client deletes it. */
  readonly sessionId: bigint
  /**
   * When the node was created, by the leader's clock, in ms since the epoch. It is 0, and so is `sessionId`, if this client may
   * not read the node, so that the server does not tell.
   */
  readonly since: number
  /** Whether it is a membership of this same client. */
  readonly isOwn: boolean
}

/** Another member of the group has the name, and kept it for as long as `join` could wait. */
export class NameTakenError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'NameTakenError'
  /** The brand for `is`. */
  readonly [takenBrand] = true
  /** The path of the member's node. */
  readonly path: string
  /** The member that has the name. */
  readonly owner: NameOwner

  constructor(path: string, timeout: number, owner: NameOwner) {
    super(printable(`${path} was not free within ${timeout} ms: ${ownerText(owner)}`))
    this.path = path
    this.owner = inJson({ ...owner })
  }

  /** For logs: all fields, with the session's id as text. */
  toJSON(): object {
    const { name, message, path, owner } = this
    return { name, message, path, owner }
  }

  /** True for a `NameTakenError` of any copy of this package in the program. */
  static is(error: unknown): error is NameTakenError {
    return branded(error, takenBrand)
  }
}

function ownerText({ sessionId, since, isOwn }: NameOwner): string {
  if (isOwn) return 'this very client has joined under this name'
  if (since === 0) return 'this client may not read whose node it is'
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  const time = new Date(since).toISOString()
  return sessionId === 0n
    ? `the node belongs to no session, and was created at ${time}`
    : `session ${hex(sessionId)} has had it since ${time}; if its process is gone, the name is free when that session expires`
}

/** Why a membership has ended. */
export type MembershipLossReason =
  /** `leave` was called */
  | 'Left'
  /** the client was closed or detached, its credentials were refused, or its session expired and no other session follows */
  | 'Closed'
  /** another member had taken the name meanwhile: `cause` is the `NameTakenError` */
  | 'NameTaken'
  /** the servers refuse the node for a permanent reason, such as `NoAuth`: `cause` is that error */
  | 'Refused'

/** The membership has ended, and its node is not created again. */
export class MembershipLostError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'MembershipLostError'
  /** The brand for `is`. */
  readonly [lostBrand] = true
  /** The first cause of its end. */
  readonly reason: MembershipLossReason
  /** The path of the member's node. */
  readonly path: string

  constructor(reason: MembershipLossReason, path: string, options?: ErrorOptions) {
    super(printable(`${path} is no longer a member: ${explain[reason]}`), options)
    this.reason = reason
    this.path = path
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, reason, path } = this
    return { name, message, reason, path }
  }

  /** True for a `MembershipLostError` of any copy of this package in the program. */
  static is(error: unknown): error is MembershipLostError {
    return branded(error, lostBrand)
  }
}

const explain: Record<MembershipLossReason, string> = {
  Left: 'it has left',
  Closed: 'the client was closed or detached, or has no session any more',
  NameTaken: 'another member has its name',
  Refused: 'the servers refuse its node',
}
