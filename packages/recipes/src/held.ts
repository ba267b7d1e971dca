import { KeeperError, type MultiResults, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { hex } from '@zk/client/internal'
import type { OwnNode } from './queue/protected-create.ts'
import { report } from './diagnostics.ts'
import { LockLostError, type LossReason } from './errors.ts'
import { LeaseKeeper } from './lease/lease-keeper.ts'
import type { Lease } from './lease/lease.ts'
import { OwnNodeWatch } from './queue/own-node-watch.ts'
import { WaitLimit } from './queue/wait.ts'
import { type HeldWhile, followerRelayDelayOf, type HoldTerms } from './hold-options.ts'

/** What has the node, and takes it away. */
export interface Owner {
  readonly session: Session
  /** In the background until it is confirmed, or the session has ended. Idempotent. */
  leave(): Promise<void>
}

/**
 * What was acquired. It is held until it is released or lost; once it is not held it never is again.
 *
 * A signal is always late for code that blocks the event loop, and code that does not ask is not stopped: only the
 * fencing token, checked by whatever is written to, protects against that.
 */
export class Held implements AsyncDisposable {
  /** The path of the contender's znode. */
  readonly path: string
  /** The czxid of that znode: greater than that of every contender that entered before. See `fencingText`. */
  readonly fencingToken: bigint
  /** Fails a transaction of one's own unless this is still held: `zk.multi([held.checkOp, …])`. */
  readonly checkOp: Op<void>
  /** @internal */
  readonly lease: Lease
  readonly #zk: ZooKeeper
  readonly #owner: Owner
  readonly #terms: HoldTerms
  readonly #lost = new AbortController()
  readonly #ownNode: OwnNodeWatch
  readonly #keeper: LeaseKeeper
  readonly #kind: string
  readonly #since: number
  #isSuspended = false
  /** Whether it was reported that it is held. */
  #isReported = false

  /** @internal */
  constructor(zk: ZooKeeper, owner: Owner, node: OwnNode, lease: Lease, terms: HoldTerms) {
    const { session } = owner
    const { runtime } = zk
    this.path = node.path
    this.fencingToken = node.czxid
    this.checkOp = op.check(node.path)
    this.lease = lease
    this.#zk = zk
    this.#owner = owner
    this.#terms = terms
    this.#kind = node.name.kind.name
    this.#since = runtime.now()
    this.#ownNode = new OwnNodeWatch(zk, session, node.path, () => {
      // Where its lease was over before, the ensemble has taken it.
      if (this.isHeld()) this.lose('NodeGone')
    })
    this.#keeper = LeaseKeeper.of(zk, session)
    this.#keeper.add(this)
  }

  /** Aborts when it is no longer held; its reason is a `LockLostError`. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** The session that it is held in: with `{ session }` a call runs in it, or not at all. */
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
   * Whether it is held, as far as can be known here and now: it compares clocks when asked, so it is right also after the
   * process stood still. Ask after every await, before acting.
   */
  isHeld(): boolean {
    if (this.lease.remaining <= 0) this.lose('LeaseLost')
    return !this.signal.aborted
  }

  /**
   * ms until it is lost, unless it is confirmed before, as it is several times in a session timeout; 0 when it is not held.
   * `Infinity` for what is not held while `confirmed`.
   */
  leaseRemaining(): number {
    return this.isHeld() ? this.lease.remaining : 0
  }

  /** Throws a `LockLostError` when it is no longer held: its stack shows this call, that of `signal.reason` where it was lost. */
  throwIfLost(): void {
    if (this.isHeld()) return
    throw (this.signal.reason as LockLostError).with(undefined)
  }

  /**
   * The operations, all or none, and only while this is held: the servers check that its node exists, in the same transaction.
   * Rejects with a `LockLostError` when it is held no longer; else as `zk.multi` does, where `index` counts these operations.
   */
  async multi<const Ops extends readonly Op<unknown>[]>(ops: Ops): Promise<MultiResults<Ops>> {
    this.throwIfLost()
    try {
      const [, ...results] = await this.#zk.multi([this.checkOp, ...ops], { session: this.#owner.session })
      return results
    } catch (error) {
      throw this.#ofCaller(error)
    }
  }

  /**
   * Gives it up. Not held from the call on; resolves when the node is gone or the session over. When that takes longer
   * than the session timeout it rejects with `RequestTimeout`, and goes on in the background.
   */
  async release(): Promise<void> {
    // A lease that has ended unnoticed is a loss: the event loop was busy until now.
    if (this.isHeld()) this.lose('Released')
    // The reader has its place now, or has taken both nodes away.
    if ((this.signal.reason as LockLostError).reason === 'Downgraded') return
    const late = () => new KeeperError('RequestTimeout', { op: 'release', path: this.path })
    const timeout = { after: this.#owner.session.timeout, error: late }
    const limit = new WaitLimit(this.#zk.runtime, { timeout })
    try {
      await limit.during(this.#owner.leave())
    } finally {
      limit.stop()
    }
  }

  /** @internal Why it is held no longer, where its holder has not given it up itself. */
  get loss(): LockLostError | undefined {
    if (this.isHeld()) return undefined
    const loss = this.signal.reason as LockLostError
    return loss.reason === 'Released' || loss.reason === 'Downgraded' ? undefined : loss
  }

  /** @internal Releases it at the end of a `run`. Resolves with its loss, which is more than an error of the release. */
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

  /** @internal It is handed to its holder, so many ms after the call. */
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
    if (this.signal.aborted) return
    this.#ownNode.stop()
    this.#keeper.remove(this)
    this.#lost.abort(new LockLostError(reason, this.path, cause === undefined ? undefined : { cause }))
    this.#reportEnd(reason)
    // The reader's node takes the place of the writer's, in one transaction.
    if (reason === 'Downgraded') return
    // Released or not, it is never held again under this grant: the node must go.
    this.#owner.leave().catch(() => {})
  }

  get #identity() {
    const { path: node, fencingToken } = this
    return { path: node.slice(0, node.lastIndexOf('/')), node, fencingToken }
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
    const held = this.#zk.runtime.now() - this.#since
    if (reason === 'Released') report(this.#zk, 'zk:released', this.#kind, () => ({ ...this.#identity, held }))
    else report(this.#zk, 'zk:lost', this.#kind, () => ({ ...this.#identity, held, reason }))
  }

  /** In a turn of its own: what a callback throws is the program's, and stops no other callback. */
  #notify<Args extends readonly unknown[]>(callback: ((...args: Args) => void) | undefined, ...args: Args): void {
    if (callback === undefined) return
    queueMicrotask(() => {
      // It may have been given up in the same turn.
      if (!this.signal.aborted) callback(...args)
    })
  }

  /** An error of a guarded multi, as its caller sees the operations. */
  #ofCaller(error: unknown): unknown {
    if (!KeeperError.is(error) || error.index === undefined) return error
    if (error.index === 0 && error.code === 'NoNode') {
      this.lose('NodeGone', error)
      return this.signal.reason
    }
    const { code, op: name, path, number, server, sessionId, needs, index, results } = error
    return new KeeperError(code, {
      op: name,
      path,
      number,
      server,
      sessionId,
      needs,
      // Without one it is the check: it needs the right to read the node.
      index: index === 0 ? undefined : index - 1,
      results: results?.slice(1),
    })
  }
}

/** A release that takes long goes on in the background. */
export function unlessLate(error: unknown): void {
  if (!KeeperError.is(error, 'RequestTimeout')) throw error
}

/** The token as text of a fixed width, which sorts as the tokens do. */
export function fencingText(token: bigint): string {
  return token.toString(16).padStart(16, '0')
}
