import { branded, hex, inJson, printable, setHidden } from '@zk/client/internal'
import type { Slowness } from './lease/slow-answers.ts'

/** The brand by which `LockLostError.is` finds errors of any copy of this package. */
const lostBrand = Symbol.for('@zk/LockLostError')
/** The brand by which `LockTimeoutError.is` finds errors of any copy of this package. */
const timeoutBrand = Symbol.for('@zk/LockTimeoutError')
/** The brand by which `WouldDeadlockError.is` finds errors of any copy of this package. */
const deadlockBrand = Symbol.for('@zk/WouldDeadlockError')
/** The brand by which `PermitsError.is` finds errors of any copy of this package. */
const permitsBrand = Symbol.for('@zk/PermitsError')

/** Why a hold has ended. */
export type LossReason =
  /** the holder released it */
  | 'Released'
  /** the holder downgraded it, and goes on as a reader */
  | 'Downgraded'
  /** the lease ended before the hold was confirmed again: from now on another contender may be granted */
  | 'LeaseLost'
  /** the connection was lost, with `heldWhile: 'connected'` */
  | 'Disconnected'
  /** the session expired, and the node was deleted with it */
  | 'SessionExpired'
  /** the client was closed or detached, or its credentials were refused */
  | 'Closed'
  /** the node is gone: another client deleted it, or the session has expired and the client does not know it yet */
  | 'NodeGone'
  /** the ensemble refuses to confirm it: this client has lost its right to read the node. `cause` has the answer */
  | 'Refused'

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

  /** @internal The same loss with the stack of the present caller, and the result of the body of a `run`. */
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

/** The state of a wait when its timeout ended. */
export interface EndedWait {
  /** When the timeout ended, in ms since the epoch. */
  readonly at: number
  /** The paths of the contenders that were ahead in the last list, oldest first; undefined if no list showed any. */
  readonly ahead?: readonly string[] | undefined
  /** The contender for which the caller waited; undefined if it was not known. */
  readonly blocker?: Blocker | undefined
  /** @internal It was first in line, but its lease was not proven yet, or always too late. */
  readonly proof?: Slowness | 'unfinished' | undefined
  /** @internal Why answers may be missing, if that is known. */
  readonly trouble?: string | undefined
}

/** The caller was not granted in time. Its place in the queue has been given up. */
export class LockTimeoutError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'LockTimeoutError'
  /** The brand for `is`. */
  readonly [timeoutBrand] = true
  /** The path of the lock or the election. */
  readonly path: string
  /** How many contenders were ahead in the last list; undefined if no list showed any. */
  readonly position: number | undefined
  /** The paths of the contenders ahead, oldest first. */
  readonly ahead: readonly string[]
  /** The contender for which the caller waited: the next one ahead, or, for a reader, the next writer ahead. */
  readonly blocker: Blocker | undefined

  constructor(path: string, timeout: number, wait: EndedWait) {
    super(printable(`${path} was not granted within ${timeout} ms: ${placeOf(wait)}`))
    const { ahead, blocker } = wait
    this.path = path
    this.position = ahead?.length
    this.ahead = ahead ?? []
    this.blocker = blocker && inJson({ ...blocker })
  }

  /** For logs: all fields, with the session's id as text. */
  toJSON(): object {
    const { name, message, path, position, ahead, blocker } = this
    return { name, message, path, position, ahead, blocker }
  }

  /** True for a `LockTimeoutError` of any copy of this package in the program. */
  static is(error: unknown): error is LockTimeoutError {
    return branded(error, timeoutBrand)
  }
}

/** An `acquire` inside a `run` of the same re-entrant lock: it would never be granted. Nothing was sent. */
export class WouldDeadlockError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'WouldDeadlockError'
  /** The brand for `is`. */
  readonly [deadlockBrand] = true
  /** The path of the lock. */
  readonly path: string

  constructor(path: string) {
    super(
      printable(
        `${path} is held by the run that this acquire is in, and would never be granted: use run, which re-enters`,
      ),
    )
    this.path = path
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path } = this
    return { name, message, path }
  }

  /** True for a `WouldDeadlockError` of any copy of this package in the program. */
  static is(error: unknown): error is WouldDeadlockError {
    return branded(error, deadlockBrand)
  }
}

/**
 * The semaphore's node stores another number of permits than the one that this `Semaphore` was made with, or no number.
 * Nothing was acquired.
 */
export class PermitsError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'PermitsError'
  /** The brand for `is`. */
  readonly [permitsBrand] = true
  /** The path of the semaphore. */
  readonly path: string
  /** The number that this `Semaphore` was made with; undefined if it was made without. */
  readonly permits: number | undefined
  /** The number that the node stores; undefined if it stores none. */
  readonly stored: number | undefined

  /** @internal `stored` is the data of the node if it is no number. */
  constructor(path: string, permits: number | undefined, stored: number | Uint8Array | undefined) {
    super(printable(`${path} ${explainPermits(permits, stored)}`))
    this.path = path
    this.permits = permits
    this.stored = typeof stored === 'number' ? stored : undefined
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path, permits, stored } = this
    return { name, message, path, permits, stored }
  }

  /** True for a `PermitsError` of any copy of this package in the program. */
  static is(error: unknown): error is PermitsError {
    return branded(error, permitsBrand)
  }
}

function explainPermits(permits: number | undefined, stored: number | Uint8Array | undefined): string {
  if (stored === undefined) return 'stores no number of permits: make one Semaphore with { permits }, or call resize'
  if (typeof stored !== 'number')
    return `has ${stored.length} bytes of data, where a number of permits has 4: is it the path of something else?`
  return (
    `has ${stored} permits, and this Semaphore was made with { permits: ${permits} }: make it with ${stored}, ` +
    'make it without permits to follow what is stored, or change what is stored with resize'
  )
}

function placeOf({ ahead, blocker, at, proof, trouble = 'is the ensemble reachable?' }: EndedWait): string {
  if (proof === 'unfinished') return 'it was first in line, but its lease was not proven in this time: answers are slow'
  if (proof !== undefined) return `it was first in line, but ${explainSlowness(proof)}`
  if (ahead === undefined) return `no contender was seen ahead; ${trouble}`
  if (ahead.length === 0) return `no contender is ahead any more, but no answer confirmed it; ${trouble}`
  if (blocker === undefined) return `${ahead.length} ahead, the oldest is ${ahead[0]}`
  const { path, label, sessionId, since, isOwn } = blocker
  const owner = sessionId === 0n ? 'a node of no session, which no client releases' : `session ${hex(sessionId)}`
  const whose = isOwn ? 'this very client' : owner
  const named = label === '' ? whose : `${whose} (${JSON.stringify(label)})`
  return `${ahead.length} ahead; waited for ${named}, queued since ${timeOf(since, at)} as ${path}`
}

function explainSlowness({ answers, within, T }: Slowness): string {
  const isPossible = within > 0
  const bound = isPossible ? `a lease needs them within ${seconds(within)} s` : 'no lease is possible'
  return (
    `answers take ${seconds(answers)} s each, and with a session timeout of ${seconds(T)} s ${bound}: ` +
    'ask for a longer session timeout, or find out why servers or network are slow'
  )
}

/** A duration in s, with enough digits to compare it with another one. */
const seconds = (ms: number) => String(Number((ms / 1_000).toPrecision(3)))

/** The text of a time by the leader's clock, with how long ago this is by our clock. The two clocks may differ. */
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
  Closed: 'the client was closed or detached, or its credentials were refused',
  NodeGone: 'its node is gone: another client deleted it, or the session has expired',
  Refused: 'the ensemble refuses to confirm it: this client may no longer read its node',
}
