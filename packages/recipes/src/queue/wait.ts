// The wait of a caller, which may use several contenders one after the other.
import type { Connection, Session, ZooKeeper } from '@zk/client'
import { wasAborted } from '@zk/client/internal'
import { type AcquireMessage, acquisitions, logSlowAnswers, report } from './diagnostics.ts'
import type { Blocker, WaitTimeoutError } from '../errors/wait-timeout-error.ts'
import { type EndedWait, notGranted } from './not-granted.ts'
import type { Slowness } from '../lease/slow-answers.ts'
import type { BlockerInfo, WaitListener } from './queue-position.ts'

/** A place in the queue, as in the last list. */
export interface QueuePlace {
  /** How many contenders are ahead. */
  readonly position: number
  /** The paths of their nodes, oldest first. */
  readonly ahead: readonly string[]
}

/** What a wait knows about a contender. */
export interface Waiter {
  readonly session: Session
  /** The paths of the contenders ahead when last seen, oldest first; undefined if they are not known. */
  readonly ahead: readonly string[] | undefined
  /** The contender that it waits for; undefined if that is not known. */
  readonly blocker: BlockerInfo | undefined
}

/** What is waited for, as it is reported. */
export interface Subject {
  readonly zk: ZooKeeper
  /** The path that users know; all paths if there are several. */
  readonly path: string
  /** See `RecipeMessages`. */
  readonly kind: string
}

export class Wait implements WaitListener {
  readonly mayTimeOut: boolean
  blocked: () => void = () => {}
  readonly #subject: Subject
  readonly #onQueued: ((place: QueuePlace) => void) | undefined
  readonly #since: number
  /** The connection at the beginning. */
  readonly #connection: Connection | undefined
  /** Undefined if nobody traces the call. */
  #traced: AcquireMessage | undefined
  #isTooLong = false
  /** The present contender. */
  #present: Waiter | undefined
  /** The last contender that had to wait. */
  #contender: Waiter | undefined
  /** The last contender that was first in line without a lease, and how slow its last proof was. */
  #proving: { readonly contender: Waiter; readonly slowness: Slowness | undefined } | undefined

  constructor(subject: Subject, onQueued: ((place: QueuePlace) => void) | undefined, mayTimeOut: boolean) {
    this.mayTimeOut = mayTimeOut
    this.#subject = subject
    this.#onQueued = onQueued
    this.#since = subject.zk.runtime.now()
    this.#connection = subject.zk.session.connection
  }

  /** Publishes that the call begins. `ended`, `busy` or `failed` must follow. */
  begin(): void {
    if (!acquisitions.hasSubscribers) return
    const { zk, path, kind } = this.#subject
    const open = { position: undefined, waited: undefined, outcome: undefined, node: undefined, error: undefined }
    this.#traced = { client: zk.name, path, kind, ...open }
    acquisitions.begin(this.#traced)
  }

  /** From now on this contender competes. */
  goesOnWith(contender: Waiter): void {
    this.#present = contender
  }

  /** See `WaitListener`. */
  queued(ahead: () => readonly string[]): void {
    this.#contender = this.#present
    this.#proving = undefined
    const place = () => {
      const paths = ahead()
      return { position: paths.length, ahead: paths }
    }
    const { zk, path, kind } = this.#subject
    report(zk, 'zk:queued', kind, () => ({ path, ...place() }))
    if (this.#traced !== undefined) this.#traced.position = place().position
    this.#onQueued?.(place())
  }

  /** The contender is first in line, and proves its lease. `slowness` says that it was proven too late. */
  proving(contender: Waiter, slowness: Slowness | undefined): void {
    const { zk, path, kind } = this.#subject
    const isFirst = this.#proving?.contender !== contender || this.#proving.slowness === undefined
    // A new contender keeps what is known about the answers.
    this.#proving = { contender, slowness: slowness ?? this.#proving?.slowness }
    if (slowness !== undefined && isFirst) logSlowAnswers(zk, kind, { path, ...slowness })
  }

  /** The caller gets this hold. Reports how long the caller has waited, and whether others were ahead. */
  ended<H extends { readonly path: string; acquired(waited: number, isContended: boolean): void }>(held: H): H {
    held.acquired(this.#waited, this.#contender !== undefined)
    this.#settled({ outcome: 'granted', node: held.path })
    return held
  }

  /** The lock is taken, and the caller does not wait. */
  busy(): undefined {
    this.#settled({ outcome: 'busy' })
  }

  /** The call rejects with this error. */
  failed(error: unknown, signal: AbortSignal | undefined): unknown {
    const outcome = this.#isTooLong ? 'timeout' : wasAborted(error, signal) ? 'aborted' : 'failed'
    // The reason of a signal may be null.
    this.#settled({ outcome, error: error ?? new Error(`rejected with ${String(error)}`) })
    return error
  }

  /** The error for a wait that has timed out. */
  tooLong(timeout: number): WaitTimeoutError {
    this.#isTooLong = true
    const { path, zk } = this.#subject
    const at = zk.runtime.wallNow()
    const { ahead, blocker } = this.#contender ?? {}
    const proof: EndedWait['proof'] = this.#proving && (this.#proving.slowness ?? 'unfinished')
    return notGranted(path, timeout, {
      at,
      ahead,
      proof,
      trouble: this.#trouble,
      blocker: blocker && this.#asBlocker(blocker),
    })
  }

  get #waited(): number {
    return this.#subject.zk.runtime.now() - this.#since
  }

  #settled(end: Partial<AcquireMessage>): void {
    if (this.#traced !== undefined) acquisitions.settle(Object.assign(this.#traced, { waited: this.#waited }, end))
  }

  /** Why answers may be missing. */
  get #trouble(): string | undefined {
    const { state, session } = this.#subject.zk
    if ('error' in state && state.error !== undefined) return `the client has no connection: ${state.error.message}`
    const before = this.#connection
    const connection = session.connection
    if (connection !== undefined && (before === undefined || before === connection)) {
      return `${connection.server} has not answered in this time: it is slow or cut off, or the timeout is too short`
    }
    if (before?.signal.aborted !== true) return undefined
    const { message } = before.signal.reason as Error
    return `the connection was lost meanwhile: ${message} (${session.timeout / 1_000} s)`
  }

  #asBlocker({ path, label, sessionId, since }: BlockerInfo): Blocker {
    return { path, label, sessionId, since, isOwn: sessionId === this.#contender?.session.id }
  }
}
