import { hex } from '@zk/client/internal'

/** What `LockLostError.is` knows errors of any copy of this package by. */
const lostBrand = Symbol.for('@zk/LockLostError')
/** What `LockTimeoutError.is` knows errors of any copy of this package by. */
const timeoutBrand = Symbol.for('@zk/LockTimeoutError')
/** What `WouldDeadlockError.is` knows errors of any copy of this package by. */
const deadlockBrand = Symbol.for('@zk/WouldDeadlockError')

/** Why something is no longer held. */
export type LossReason =
  /** by its holder */
  | 'Released'
  /** by its holder, which goes on as a reader */
  | 'Downgraded'
  /** its lease ended before it was confirmed anew: the ensemble may give it to another from now on */
  | 'LeaseLost'
  /** the connection was lost, of what is held while `connected` */
  | 'Disconnected'
  /** the session is over, and the node with it */
  | 'SessionExpired'
  /** the client was closed, or its credentials were refused */
  | 'Closed'
  /** its node is gone: another client deleted it, or the servers did with a session that expired, which the client learns later */
  | 'NodeGone'

/** What was held is held no longer, and never will be again under this grant. */
export class LockLostError extends Error {
  /** As of every error: what its stack begins with. */
  override readonly name = 'LockLostError'
  /** What `is` looks for. */
  readonly [lostBrand] = true
  /** The first thing that ended it: what comes later does not change it. */
  readonly reason: LossReason
  /** The path of the contender's node. */
  readonly path: string
  /** What the body of a `run` resolved with, though the lock had been lost; undefined anywhere else. */
  readonly result: unknown

  constructor(
    reason: LossReason,
    path: string,
    { result, ...options }: ErrorOptions & { readonly result?: unknown } = {},
  ) {
    super(`${path} is no longer held: ${explain[reason]}`, options)
    this.reason = reason
    this.path = path
    this.result = result
  }

  /** @internal The same loss where the caller learns of it, which its stack shows, with what the body of a `run` gave. */
  with(result: unknown): LockLostError {
    const { reason, path, cause } = this
    return new LockLostError(reason, path, cause === undefined ? { result } : { cause, result })
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, reason, path, result } = this
    return { name, message, reason, path, result }
  }

  /** True for a `LockLostError` of any copy of this package in the program. */
  static is(error: unknown): error is LockLostError {
    return typeof error === 'object' && error !== null && lostBrand in error
  }
}

/** The contender that was in the way when the wait ended. */
export interface Blocker {
  /** The path of the contender's node. */
  readonly path: string
  /** What it stored in its node. */
  readonly label: string
  /** The session that its node belongs to. */
  readonly sessionId: bigint
  /** When it entered, by the leader's clock, in ms since the epoch. */
  readonly since: number
  /** Whether it is of the very client that waited. */
  readonly isOwn: boolean
}

/** How a wait stood when its time was over. */
export interface EndedWait {
  /** When that was, in ms since the epoch. */
  readonly at: number
  /** Paths of the contenders that were ahead when last seen, oldest first; undefined when none ever was. */
  readonly ahead?: readonly string[] | undefined
  /** The contender that was waited for; undefined where that was not known. */
  readonly blocker?: Blocker | undefined
}

/** Nothing was granted in time. The place in the queue has been given up. */
export class LockTimeoutError extends Error {
  /** As of every error: what its stack begins with. */
  override readonly name = 'LockTimeoutError'
  /** What `is` looks for. */
  readonly [timeoutBrand] = true
  /** The path of the lock or the election. */
  readonly path: string
  /** How many were ahead when last seen; undefined when none ever was. */
  readonly position: number | undefined
  /** Paths of those ahead, oldest first. */
  readonly ahead: readonly string[]
  /** The one that was waited for: a writer or a candidate the one right ahead, a reader the writer right ahead. */
  readonly blocker: Blocker | undefined

  constructor(path: string, timeout: number, wait: EndedWait) {
    super(`${path} was not granted within ${timeout} ms: ${placeOf(wait)}`)
    const { ahead, blocker } = wait
    this.path = path
    this.position = ahead?.length
    this.ahead = ahead ?? []
    this.blocker = blocker
  }

  /** For logs: all that it says, the session's id as text. */
  toJSON(): object {
    const { name, message, path, position, ahead } = this
    const blocker = this.blocker && { ...this.blocker, sessionId: hex(this.blocker.sessionId) }
    return { name, message, path, position, ahead, blocker }
  }

  /** True for a `LockTimeoutError` of any copy of this package in the program. */
  static is(error: unknown): error is LockTimeoutError {
    return typeof error === 'object' && error !== null && timeoutBrand in error
  }
}

/** To wait would be to wait for oneself: an `acquire` inside a `run` of the same re-entrant lock. */
export class WouldDeadlockError extends Error {
  /** As of every error: what its stack begins with. */
  override readonly name = 'WouldDeadlockError'
  /** What `is` looks for. */
  readonly [deadlockBrand] = true
  /** The path of the lock. */
  readonly path: string

  constructor(path: string) {
    super(`${path} is held by the run that this acquire is in, and would never be granted: use run, which re-enters`)
    this.path = path
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path } = this
    return { name, message, path }
  }

  /** True for a `WouldDeadlockError` of any copy of this package in the program. */
  static is(error: unknown): error is WouldDeadlockError {
    return typeof error === 'object' && error !== null && deadlockBrand in error
  }
}

function placeOf({ ahead, blocker, at }: EndedWait): string {
  if (ahead === undefined) return 'no contender was seen ahead; is the ensemble reachable?'
  if (ahead.length === 0)
    return 'no contender is ahead any more, but no answer confirmed it; is the ensemble reachable?'
  if (blocker === undefined) return `${ahead.length} ahead, the oldest is ${ahead[0]}`
  const { path, label, sessionId, since, isOwn } = blocker
  const whose = isOwn ? 'this very client' : `session ${hex(sessionId)}`
  const named = label === '' ? whose : `${whose} (${JSON.stringify(label)})`
  return `${ahead.length} ahead; waited for ${named}, queued since ${timeOf(since, at)} as ${path}`
}

/** A time by the leader's clock, and how long ago that is by our clock, which need not agree with it. */
function timeOf(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1_000))
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  return `${new Date(time).toISOString()} (${seconds} s ago)`
}

const explain: Record<LossReason, string> = {
  Released: 'it was released',
  Downgraded: 'it was downgraded to a read lock',
  LeaseLost: 'its lease ended before the ensemble confirmed it again: servers, network or this process were too slow',
  Disconnected: 'the connection to the ensemble was lost',
  SessionExpired: 'the session expired',
  Closed: 'the client was closed',
  NodeGone: 'its node is gone: another client deleted it, or the session has expired',
}
