import { KeeperError, type MultiResults, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { hex } from '@zk/client/internal'
import type { OwnNodes } from './queue/protected-create.ts'
import { downgraded, logLateRelease, report } from './diagnostics.ts'
import { LockLostError, type LossReason } from './errors.ts'
import { LeaseKeeper } from './lease/lease-keeper.ts'
import type { Lease } from './lease/lease.ts'
import { OwnNodeWatch } from './queue/own-node-watch.ts'
import { WaitLimit } from './queue/wait.ts'
import { type HeldWhile, followerRelayDelayOf, type HoldTerms } from './hold-options.ts'

/** A release that comes so long after the loss is logged, in ms. Work that uses the signal ends sooner. */
const LATE_RELEASE = 1_000

/** The end of a hold. */
interface Loss {
  readonly reason: LossReason
  readonly cause: unknown
  /** Made at the first look, unless the holder did not want the loss: then its stack shows the loss. */
  error: LockLostError | undefined
}

/** The owner of the node, which deletes it. */
export interface Owner {
  readonly session: Session
  /** Deletes the node, in the background until that is confirmed, or the session has ended. Idempotent. */
  leave(): Promise<void>
}

/**
 * A hold: what `acquire` gives. It is held until it is released or lost, and never again after that.
 *
 * A signal is always late for code that blocks the event loop, and nothing stops code that does not check. Only the fencing
 * token, checked by the resource that is written to, protects against that.
 */
export class Held implements AsyncDisposable {
  /** The path of the contender's znode; of the first one, where a hold has several. */
  readonly path: string
  /** The czxid of that znode: greater than that of every contender that entered before. See `fencingText`. */
  readonly fencingToken: bigint
  /** @internal */
  readonly lease: Lease
  readonly #zk: ZooKeeper
  readonly #owner: Owner
  readonly #terms: HoldTerms
  readonly #ownNodes: readonly OwnNodeWatch[]
  readonly #keeper: LeaseKeeper
  readonly #nodes: OwnNodes
  readonly #kind: string
  readonly #since: number
  /** Made for the first look at `signal`: few holders look at it. It takes 4 µs, and an error 3 µs. */
  #abort: AbortController | undefined
  #loss: Loss | undefined
  #isSuspended = false
  /** Whether `zk:acquired` was reported. */
  #isReported = false
  /** When the loss was reported. undefined before, and when it was logged how late the release came. */
  #lostAt: number | undefined

  /** @internal `nodes` are all of one transaction. The hold ends with the first that is gone. */
  constructor(zk: ZooKeeper, owner: Owner, nodes: OwnNodes, lease: Lease, terms: HoldTerms) {
    const [node] = nodes
    const { session } = owner
    const { runtime } = zk
    this.path = node.path
    this.fencingToken = node.czxid
    this.lease = lease
    this.#zk = zk
    this.#owner = owner
    this.#terms = terms
    this.#nodes = nodes
    this.#kind = node.name.kind.name
    this.#since = runtime.now()
    // If its lease was over before, that is the loss.
    const gone = () => this.isHeld() && this.lose('NodeGone')
    this.#ownNodes = nodes.map(({ path }) => new OwnNodeWatch(zk, session, path, gone))
    this.#keeper = LeaseKeeper.of(zk, session)
    this.#keeper.add(this)
  }

  /** Aborts when it is no longer held. Its reason is a `LockLostError`. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#loss !== undefined) this.#abort.abort(this.#errorOf(this.#loss))
    }
    return this.#abort.signal
  }

  /** Makes a transaction of your own fail unless this is still held: `zk.multi([held.checkOp, …])`. */
  get checkOp(): Op<void> {
    return op.check(this.path)
  }

  /** As `checkOp`, for every kind of hold: one for each of its nodes. Several permits have several nodes. */
  get checkOps(): readonly Op<void>[] {
    return this.#nodes.map(({ path }) => op.check(path))
  }

  /** The session of the hold: with `{ session }` a call runs in it, or not at all. */
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
   * Whether it is held. It compares clocks at the call, so it is right also after the process stood still. Call it after
   * every await, before acting.
   */
  isHeld(): boolean {
    if (this.lease.remaining <= 0) this.lose('LeaseLost', this.#keeper.doubt)
    return this.#loss === undefined
  }

  /**
   * How many ms of the lease are left; 0 when it is not held. The lease is renewed several times in a session timeout.
   * `Infinity` with a `heldWhile` other than `confirmed`.
   */
  leaseRemaining(): number {
    return this.isHeld() ? this.lease.remaining : 0
  }

  /**
   * Throws a `LockLostError` when it is no longer held. Its stack shows this call. That of `signal.reason` shows the loss; for
   * a hold that was released, the first look at `signal` where that came later.
   */
  throwIfLost(): void {
    if (!this.isHeld()) throw this.#errorOf(this.#loss!).with(undefined)
  }

  /**
   * Executes the operations, all or none, and only while this is held: the servers check in the same transaction that its
   * node exists. Rejects with a `LockLostError` when it is no longer held. Other errors are those of `zk.multi`, and their
   * `index` counts these operations.
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
   * Ends the hold at the call. Resolves when the node is gone or the session over. When that takes longer than the session
   * timeout it rejects with `RequestTimeout`, and goes on in the background.
   */
  async release(): Promise<void> {
    // A lease that has ended unnoticed is a loss: the event loop was busy until now.
    if (this.isHeld()) this.lose('Released')
    else this.#reportLateRelease()
    // The reader has its place now, or deletes both nodes.
    if (this.#loss?.reason === 'Downgraded') return
    const late = () => new KeeperError('RequestTimeout', { op: 'release', path: this.path })
    const timeout = { after: this.#owner.session.timeout, error: late }
    const limit = new WaitLimit(this.#zk.runtime, { timeout })
    try {
      await limit.during(this.#owner.leave())
    } finally {
      limit.stop()
    }
  }

  /** @internal Why the hold has ended; undefined while it is held, and where its holder has ended it. */
  get loss(): LockLostError | undefined {
    return this.isHeld() || isWanted(this.#loss!.reason) ? undefined : this.#errorOf(this.#loss!)
  }

  /** @internal Releases it at the end of a `run`. Resolves with its loss, which hides an error of the release. */
  async finish(): Promise<LockLostError | undefined> {
    const { loss } = this
    const releasing = this.release()
    await (loss === undefined ? releasing.catch(unlessLate) : releasing.catch(() => {}))
    return loss
  }

  /** For logs: the token as text, `0x…`. */
  toJSON(): object {
    const { path, fencingToken } = this
    return { path, kind: this.#kind, fencingToken: hex(fencingToken), isHeld: this.isHeld() }
  }

  /** As `release`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal Called when the caller gets the hold. `waited` is the time since the call, in ms. */
  acquired(waited: number): void {
    this.#isReported = true
    report(this.#zk, 'zk:acquired', this.#kind, () => ({
      ...this.#identity,
      waited,
      leaseRemaining: this.leaseRemaining(),
    }))
    if (this.#isSuspended) this.#reportSuspension(this.leaseRemaining())
  }

  /** @internal */
  confirmed(): void {
    // It may have been lost while its check was under way.
    if (!this.#isSuspended || !this.isHeld()) return
    this.#isSuspended = false
    if (this.#isReported) this.#reportResumption()
    this.#notify(this.#terms.onResumed)
  }

  /** @internal */
  suspended(): void {
    const leaseRemaining = this.leaseRemaining()
    if (leaseRemaining <= 0 || this.#isSuspended) return
    this.#isSuspended = true
    if (this.#isReported) this.#reportSuspension(leaseRemaining)
    this.#notify(this.#terms.onSuspended, { leaseRemaining })
  }

  /** @internal */
  lose(reason: LossReason, cause?: unknown): void {
    if (this.#loss !== undefined) return
    for (const each of this.#ownNodes) each.stop()
    this.#keeper.remove(this)
    const loss: Loss = { reason, cause, error: undefined }
    this.#loss = loss
    if (this.#abort !== undefined || !isWanted(reason)) this.#errorOf(loss)
    this.#abort?.abort(loss.error)
    this.#reportEnd(reason)
    // The reader's node takes the place of the writer's, in one transaction.
    if (reason === 'Downgraded') return
    // It is never held again under this grant, so the node must go.
    this.#owner.leave().catch(() => {})
  }

  #errorOf(loss: Loss): LockLostError {
    const { reason, cause } = loss
    loss.error ??= new LockLostError(reason, this.path, cause === undefined ? undefined : { cause })
    return loss.error
  }

  get #identity() {
    const { path: node, fencingToken } = this
    return { path: this.recipePath, node, fencingToken }
  }

  /** @internal The path that users know. */
  get recipePath(): string {
    return parentOf(this.path)
  }

  #reportSuspension(leaseRemaining: number): void {
    report(this.#zk, 'zk:suspended', this.#kind, () => ({ ...this.#identity, leaseRemaining }))
  }

  #reportResumption(): void {
    const leaseRemaining = this.leaseRemaining()
    report(this.#zk, 'zk:resumed', this.#kind, () => ({ ...this.#identity, leaseRemaining }))
  }

  #reportEnd(reason: LossReason): void {
    if (!this.#isReported) return
    const now = this.#zk.runtime.now()
    const held = now - this.#since
    if (reason === 'Released') {
      report(this.#zk, 'zk:released', this.#kind, () => ({ ...this.#identity, held }))
      return
    }
    const line = reason === 'Downgraded' ? downgraded : undefined
    const leaseEnd = reason === 'LeaseLost' ? { leaseEndedAgo: Math.max(0, -this.lease.remaining) } : {}
    report(this.#zk, 'zk:lost', this.#kind, () => ({ ...this.#identity, held, reason, ...leaseEnd }), line)
    if (reason !== 'Downgraded') this.#lostAt = now
  }

  /** Work that goes on long after the loss does not use the signal: the log shows it. */
  #reportLateRelease(): void {
    if (this.#lostAt === undefined) return
    const after = this.#zk.runtime.now() - this.#lostAt
    this.#lostAt = undefined
    if (after >= LATE_RELEASE) logLateRelease(this.#zk, this.#kind, { ...this.#identity, after })
  }

  /** Calls it in a turn of its own: an error that it throws is uncaught, and stops no other callback. */
  #notify<Args extends readonly unknown[]>(callback: ((...args: Args) => void) | undefined, ...args: Args): void {
    if (callback === undefined) return
    queueMicrotask(() => {
      // It may have been released in the same turn.
      if (this.#loss === undefined) callback(...args)
    })
  }

  /** The error of a guarded multi, with the caller's index of the operations. */
  #ofCaller(error: unknown): unknown {
    if (!KeeperError.is(error)) return error
    // The hold ended while the request waited, and it was not executed: that is the reason.
    const isUnsent = !error.outcomeUnknown && KeeperError.is(error, ...unanswered)
    if (isUnsent && this.loss !== undefined) return this.loss.with(undefined)
    if (error.index === undefined) return error
    const { length: checks } = this.#nodes
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
      // Without an index it is the check that failed: it needs the right to read the node.
      index: index < checks ? undefined : index - checks,
      results: results?.slice(checks),
    })
  }
}

/** The path above this one. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

/** The errors of a request that no server has answered. */
const unanswered = ['RequestTimeout', 'ConnectionLoss', 'SessionExpired', 'Closed'] as const

/** Whether the holder itself has ended it. */
function isWanted(reason: LossReason): boolean {
  return reason === 'Released' || reason === 'Downgraded'
}

/** Ignores a release that takes too long: it goes on in the background. */
export function unlessLate(error: unknown): void {
  if (!KeeperError.is(error, 'RequestTimeout')) throw error
}

/** The token as text of a fixed width, which sorts like the tokens. */
export function fencingText(token: bigint): string {
  return token.toString(16).padStart(16, '0')
}
