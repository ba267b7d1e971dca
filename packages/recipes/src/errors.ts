const lostBrand = Symbol.for('@zk/LockLostError')
const timeoutBrand = Symbol.for('@zk/LockTimeoutError')

/** Why something is no longer held. */
export type LossReason =
  /** by its holder */
  | 'Released'
  /** its lease ended before it was confirmed anew: the ensemble may give it to another from now on */
  | 'LeaseLost'
  /** the connection was lost, of what is held while `connected` */
  | 'Disconnected'
  /** the session is over, and the node with it */
  | 'SessionExpired'
  /** the client was closed, or its credentials were refused */
  | 'Closed'
  /** somebody else deleted our node */
  | 'NodeGone'

/** What was held is held no longer, and never will be again under this grant. */
export class LockLostError extends Error {
  override readonly name = 'LockLostError'
  readonly [lostBrand] = true
  readonly reason: LossReason
  /** Of the contender's node. */
  readonly path: string

  constructor(reason: LossReason, path: string, options?: ErrorOptions) {
    super(`${path} is no longer held: ${explain[reason]}`, options)
    this.reason = reason
    this.path = path
  }

  /** True for a `LockLostError` of any copy of this package in the program. */
  static is(error: unknown): error is LockLostError {
    return typeof error === 'object' && error !== null && lostBrand in error
  }
}

/** Nothing was granted in time. The place in the queue has been given up. */
export class LockTimeoutError extends Error {
  override readonly name = 'LockTimeoutError'
  readonly [timeoutBrand] = true
  readonly path: string
  /** How many were ahead when last seen; undefined when nobody was. */
  readonly position: number | undefined
  /** Paths of those ahead, oldest first. */
  readonly ahead: readonly string[]

  constructor(path: string, timeout: number, ahead: readonly string[] | undefined) {
    const place =
      ahead === undefined
        ? 'nobody was seen ahead; is the ensemble reachable?'
        : `${ahead.length} ahead, the oldest is ${ahead[0]}`
    super(`${path} was not granted within ${timeout} ms: ${place}`)
    this.path = path
    this.position = ahead?.length
    this.ahead = ahead ?? []
  }

  /** True for a `LockTimeoutError` of any copy of this package in the program. */
  static is(error: unknown): error is LockTimeoutError {
    return typeof error === 'object' && error !== null && timeoutBrand in error
  }
}

const explain: Record<LossReason, string> = {
  Released: 'it was released',
  LeaseLost: 'its lease ended before the ensemble confirmed it again',
  Disconnected: 'the connection to the ensemble was lost',
  SessionExpired: 'the session expired',
  Closed: 'the client was closed',
  NodeGone: 'somebody else deleted its node',
}
