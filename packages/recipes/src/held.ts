import { KeeperError, type MultiResults, type Op, op, type ZooKeeper } from '@zk/client'
import type { Contender, OwnNode } from './contender.ts'
import { LockLostError, type LossReason } from './errors.ts'
import { type Holding, Holdings } from './holdings.ts'
import type { Lease } from './lease.ts'
import { leaseTimes } from './lease-times.ts'
import { OwnNodeWatch } from './own-node-watch.ts'
import { Patience } from './patience.ts'
import { type HeldWhile, relayAllowanceOf, type Terms } from './terms.ts'

/**
 * What was acquired. It is held until it is released or lost; once it is not held it never is again.
 *
 * A signal is always late for code that blocks the event loop, and code that does not ask is not stopped: only the
 * fencing token, checked by whatever is written to, protects against that.
 */
export class Held implements AsyncDisposable, Holding {
  /** Of the contender's znode. */
  readonly path: string
  /** The czxid of that znode: greater than that of every contender that entered before. See `fencingText`. */
  readonly fencingToken: bigint
  /** Fails a transaction of one's own unless this is still held: `zk.multi([held.checkOp, …])`. */
  readonly checkOp: Op<void>
  /** @internal */
  readonly lease: Lease
  /** @internal */
  readonly relayAllowance: number
  readonly #zk: ZooKeeper
  readonly #contender: Contender
  readonly #terms: Terms
  readonly #lost = new AbortController()
  readonly #ownNode: OwnNodeWatch
  #isSuspended = false

  /** @internal */
  constructor(zk: ZooKeeper, contender: Contender, node: OwnNode, lease: Lease, terms: Terms) {
    const { session } = contender
    const { runtime } = zk
    this.path = node.path
    this.fencingToken = node.czxid
    this.checkOp = op.check(node.path)
    this.lease = lease
    this.relayAllowance = relayAllowanceOf(terms, session)
    this.#zk = zk
    this.#contender = contender
    this.#terms = terms
    this.#ownNode = new OwnNodeWatch(zk, session, node.path, () => this.lose('NodeGone'))
    Holdings.of(zk, session).add(this, runtime.now() + leaseTimes.firstProof(session.shortestTimeout))
  }

  /** Aborts when it is no longer held; its reason is a `LockLostError`. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** @internal */
  get heldWhile(): HeldWhile {
    return this.#terms.heldWhile ?? 'confirmed'
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

  /** Throws the `LockLostError` when it is no longer held. */
  throwIfLost(): void {
    if (!this.isHeld()) throw this.signal.reason
  }

  /** The operations, all or none, and only while this is held: the servers check. */
  async multi<const Ops extends readonly Op<unknown>[]>(ops: Ops): Promise<MultiResults<Ops>> {
    this.throwIfLost()
    try {
      const [, ...results] = await this.#zk.multi([this.checkOp, ...ops], { session: this.#contender.session })
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
    this.lose('Released')
    const late = () => new KeeperError('RequestTimeout', { op: 'release', path: this.path })
    const timeout = { after: this.#contender.session.timeout, error: late }
    const patience = new Patience(this.#zk.runtime, { timeout })
    try {
      await patience.during(this.#contender.leave())
    } finally {
      patience.stop()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal */
  confirmed(): void {
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.#tell(this.#terms.onResumed)
  }

  /** @internal */
  suspended(): void {
    const leaseRemaining = this.leaseRemaining()
    if (leaseRemaining <= 0) return
    this.#isSuspended = true
    this.#tell(this.#terms.onSuspended, { leaseRemaining })
  }

  /** @internal */
  lose(reason: LossReason, cause?: unknown): void {
    if (this.signal.aborted) return
    this.#ownNode.stop()
    Holdings.of(this.#zk, this.#contender.session).remove(this)
    this.#lost.abort(new LockLostError(reason, this.path, cause === undefined ? undefined : { cause }))
    // Released or not, it is never held again under this grant: the node must go.
    this.#contender.leave().catch(() => {})
  }

  /** In a turn of its own: what a callback throws is the program's, and stops nobody else from being told. */
  #tell<Args extends readonly unknown[]>(callback: ((...args: Args) => void) | undefined, ...args: Args): void {
    if (callback !== undefined) queueMicrotask(() => callback(...args))
  }

  /** An error of a guarded multi, as its caller sees the operations. */
  #ofCaller(error: unknown): unknown {
    if (!KeeperError.is(error) || error.index === undefined) return error
    if (error.index === 0 && error.code === 'NoNode') {
      this.lose('NodeGone', error)
      return this.signal.reason
    }
    const { code, op: name, path, number, server, sessionId, index, results } = error
    return new KeeperError(code, {
      op: name,
      path,
      number,
      server,
      sessionId,
      // Without one it is the check: it needs the right to read the node.
      index: index === 0 ? undefined : index - 1,
      results: results?.slice(1),
    })
  }
}

/** The token as text of a fixed width, which sorts as the tokens do. */
export function fencingText(token: bigint): string {
  return token.toString(16).padStart(16, '0')
}
