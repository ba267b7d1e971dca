import { KeeperError, type MultiResults, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { hex } from '@zk/client/internal'
import type { Owner } from '../queue/owners.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'
import { HoldReports } from './hold-reports.ts'
import type { LostError } from '../errors/lost-error.ts'
import { lostHold } from './lost-hold.ts'
import { type LossReason } from '../lease/loss-reason.ts'
import { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { Lease } from '../lease/lease.ts'
import { OwnNodesWatch } from '../queue/own-nodes-watch.ts'
import { Limit, reasonOf, serverTimeout } from '../kernel/limit.ts'
import { type HeldWhile, followerRelayDelayOf, type HoldTerms } from '../lease/hold-options.ts'
import { unawaited } from '../kernel/promises.ts'

/** The end of a hold. */
interface Loss {
  readonly reason: LossReason
  readonly cause: unknown
  /** If the holder ended the hold, the error is made at the first use. Otherwise it is made at once, so its stack shows the loss. */
  error: LostError | undefined
}

/**
 * A hold, the result of `acquire`. It is held until it is released or lost, and never again after that.
 *
 * Code that blocks the event loop gets the signal late, and code that does not check continues after a loss. Only the fencing
 * token protects against that, if the resource that is written to checks the token.
 */
export class Held implements AsyncDisposable {
  /** The path of the contender's znode; of the first one, if the hold has several. */
  readonly path: string
  /** @internal The paths of all its znodes. */
  readonly paths: readonly string[]
  /** The czxid of that znode, which is greater than the czxid of every older contender. See `fencingText`. */
  readonly fencingToken: bigint
  /** @internal */
  readonly lease: Lease
  readonly #zk: ZooKeeper
  readonly #owner: Owner
  readonly #terms: HoldTerms
  readonly #watch: OwnNodesWatch
  readonly #keeper: LeaseKeeper
  readonly #reports: HoldReports
  /** Made at the first use of `signal`, because few holders use it. It takes 4 µs, and an error 3 µs. */
  #abort: AbortController | undefined
  #loss: Loss | undefined
  #isSuspended = false

  /** @internal `nodes` were all created in one transaction. The hold ends as soon as one of them is gone. */
  constructor(zk: ZooKeeper, owner: Owner, nodes: ContenderNodes, lease: Lease, terms: HoldTerms, kind?: string) {
    const [node] = nodes
    const { session } = owner
    this.path = node.path
    this.paths = nodes.map(({ path }) => path)
    this.fencingToken = node.czxid
    this.lease = lease
    this.#zk = zk
    this.#owner = owner
    this.#terms = terms
    this.#reports = new HoldReports(zk, nodes, this, kind ?? node.name.kind.name)
    // If the lease has already ended, `isHeld` reports `LeaseLost` as the reason.
    this.#watch = new OwnNodesWatch(zk, session, this.paths, () => this.isHeld() && this.lose('NodeGone'))
    this.#keeper = LeaseKeeper.of(zk, session)
    this.#keeper.add(this)
  }

  /** Aborts when this is no longer held. Its reason is a `LostError`. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#loss !== undefined) this.#abort.abort(this.#errorOf(this.#loss))
    }
    return this.#abort.signal
  }

  /** An operation for your own transactions, which then fail unless this is still held: `zk.multi([held.checkOp, …])`. */
  get checkOp(): Op<void> {
    return op.check(this.path)
  }

  /**
   * Like `checkOp`, for every kind of hold: one for each of its nodes. Several permits, and the locks of a `MultiLock`, have
   * several nodes.
   */
  get checkOps(): readonly Op<void>[] {
    return this.paths.map((path) => op.check(path))
  }

  /** The session of the hold. A call with the option `{ session }` runs in this session, or rejects. */
  get session(): Session {
    return this.#owner.session
  }

  /** @internal */
  get heldWhile(): HeldWhile {
    return this.#terms.heldWhile ?? 'confirmed'
  }

  /** @internal */
  get followerRelayDelay(): number {
    return followerRelayDelayOf(this.#terms, this.#owner.session)
  }

  /** @internal */
  get isSuspended(): boolean {
    return this.#isSuspended
  }

  /**
   * Whether this is held. It reads the clocks at each call, so it is right even after the process was paused. Call it after
   * every `await`, before you act.
   */
  isHeld(): boolean {
    if (this.lease.remaining <= 0) this.lose('LeaseLost', this.#keeper.lastFailure)
    return this.#loss === undefined
  }

  /**
   * How many ms of the lease are left; 0 if this is not held. The lease is renewed several times in a session timeout.
   * `Infinity` with a `heldWhile` other than `confirmed`.
   */
  leaseRemaining(): number {
    return this.isHeld() ? this.lease.remaining : 0
  }

  /**
   * Throws a `LostError` if this is no longer held. The stack of the error shows this call. The stack of `signal.reason`
   * shows the loss. (After a release it shows the release, or the first use of `signal` if that was later.)
   */
  throwIfLost(): void {
    if (!this.isHeld()) throw this.#errorOf(this.#loss!).with(undefined)
  }

  /**
   * Executes the operations, all or none, and only while this is held: the servers check in the same transaction that the node
   * of this hold exists. Rejects with a `LostError` if this is no longer held. Other errors are those of `zk.multi`. Their
   * `index` is the index in `ops`.
   */
  async multi<const Ops extends readonly Op<unknown>[]>(ops: Ops): Promise<MultiResults<Ops>> {
    this.throwIfLost()
    const checks: readonly Op<unknown>[] = this.checkOps
    try {
      const results = await this.#zk.multi([...checks, ...ops], { session: this.#owner.session })
      return results.slice(checks.length) as MultiResults<Ops>
    } catch (error) {
      throw this.#ofCaller(error)
    }
  }

  /**
   * Ends the hold as soon as it is called. Resolves when the node is gone. If that takes longer than the session timeout, it rejects with
   * `RequestTimeout`, and the delete continues in the background. If the client has given up its session without an answer from
   * any server, the delete is made in its next session. Without a next session `release` resolves at once, and the ensemble may
   * show the node until it ends the session.
   */
  async release(): Promise<void> {
    // `isHeld` notices that the lease has ended: this is a loss, even if the event loop was too busy to notice it before.
    if (this.isHeld()) this.lose('Released')
    else this.#reports.releasedAfterLoss()
    // The downgrade has replaced the node, or deletes it.
    if (this.#loss?.reason === 'Downgraded') return
    const timeout = serverTimeout('release', this.path, this.#owner.session.timeout)
    const limit = new Limit(this.#zk.runtime, { timeout })
    try {
      await limit.orReached(this.#owner.leave())
    } catch (error) {
      throw reasonOf(error)
    } finally {
      limit.stop()
    }
  }

  /** @internal Why the hold was lost; undefined while it is held, and if its holder has ended it. */
  get loss(): LostError | undefined {
    return this.isHeld() || isWanted(this.#loss!.reason) ? undefined : this.#errorOf(this.#loss!)
  }

  /** @internal Releases the hold at the end of a `run`. Resolves with its loss, if any. Then an error of the release is ignored. */
  async finish(): Promise<LostError | undefined> {
    const { loss } = this
    const releasing = this.release()
    await (loss === undefined ? releasing.catch(unlessLate) : releasing.catch(() => {}))
    return loss
  }

  /** The fields for logs, with the token as text, `0x…`. */
  toJSON(): object {
    const { path, fencingToken } = this
    return { path, kind: this.#reports.kind, fencingToken: hex(fencingToken), isHeld: this.isHeld() }
  }

  /** The same as `release`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal Reports that the caller gets the hold. `waited` is the time since the call, in ms. */
  acquired(waited: number, isContended = false): void {
    this.#reports.acquired(waited, isContended)
    if (this.#isSuspended) this.#reports.suspended(this.leaseRemaining())
  }

  /** @internal */
  confirmed(): void {
    // The hold may have been lost while its check was under way.
    if (!this.#isSuspended || !this.isHeld()) return
    this.#isSuspended = false
    this.#reports.resumed()
    this.#notify(this.#terms.onResumed)
  }

  /** @internal */
  suspended(): void {
    const leaseRemaining = this.leaseRemaining()
    if (leaseRemaining <= 0 || this.#isSuspended) return
    this.#isSuspended = true
    this.#reports.suspended(leaseRemaining)
    this.#notify(this.#terms.onSuspended, { leaseRemaining })
  }

  /** @internal */
  lose(reason: LossReason, cause?: unknown): void {
    if (this.#loss !== undefined) return
    this.#watch.stop()
    this.#keeper.remove(this)
    const loss: Loss = { reason, cause, error: undefined }
    this.#loss = loss
    if (this.#abort !== undefined || !isWanted(reason)) this.#errorOf(loss)
    this.#abort?.abort(loss.error)
    this.#reports.ended(reason, cause)
    // A downgrade replaces the node in a transaction.
    if (reason === 'Downgraded') return
    // After a loss the node is never used again, so it is deleted.
    unawaited(this.#owner.leave())
  }

  #errorOf(loss: Loss): LostError {
    const { reason, cause } = loss
    loss.error ??= lostHold(reason, this.path, { cause })
    return loss.error
  }

  /** Calls `callback` in a microtask of its own: if it throws, the error is uncaught, and other callbacks are still called. */
  #notify<Args extends readonly unknown[]>(callback: ((...args: Args) => void) | undefined, ...args: Args): void {
    if (callback === undefined) return
    queueMicrotask(() => {
      // The hold may have been released in the same turn.
      if (this.#loss === undefined) callback(...args)
    })
  }

  /** The error for the caller of `multi`: its index and results do not count our check. */
  #ofCaller(error: unknown): unknown {
    if (!KeeperError.is(error)) return error
    // The request was not executed. If the hold has ended meanwhile, the error is a `LostError`.
    const isUnsent = !error.outcomeUnknown && KeeperError.is(error, ...unanswered)
    if (isUnsent && this.loss !== undefined) return this.loss.with(undefined)
    if (error.index === undefined) return error
    const { length: checks } = this.paths
    if (error.index < checks && error.code === 'NoNode') {
      this.lose('NodeGone', error)
      return this.#errorOf(this.#loss!)
    }
    const { code, op: name, path, number, server, sessionId, needs, index, results } = error
    return new KeeperError(code, {
      op: name,
      path,
      number,
      server,
      sessionId,
      needs,
      // If our check fails with another error (it needs the right to read the node), there is no index.
      index: index < checks ? undefined : index - checks,
      results: results?.slice(checks),
    })
  }
}

/** The codes of requests that no server has answered. */
const unanswered = ['RequestTimeout', 'ConnectionLoss', 'SessionExpired', 'Closed'] as const

/** Whether the holder itself has ended the hold. */
function isWanted(reason: LossReason): boolean {
  return reason === 'Released' || reason === 'Downgraded'
}

/** Ignores the error of a release that takes too long, since the release continues in the background. Rethrows other errors. */
export function unlessLate(error: unknown): void {
  if (!KeeperError.is(error, 'RequestTimeout')) throw error
}

/**
 * Whether a call rejected with this error because its signal aborted. The error is then the reason of the signal, or, for Node's
 * own calls, an error with the reason as its cause.
 */
export function isAbortOf({ reason }: AbortSignal, error: unknown): boolean {
  return error === reason || (error instanceof Error && error.cause === reason)
}

/** The token as 16 hexadecimal digits. These strings sort in the same order as their tokens. */
export function fencingText(token: bigint): string {
  return token.toString(16).padStart(16, '0')
}
