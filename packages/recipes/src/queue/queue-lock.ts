// The common part of all recipes: `acquire`, `tryAcquire` and `run` for contenders of one role on one path.
import { type CallOptions, KeeperError, type Session } from '@zk/client'
import { onAbort, wasAborted } from '@zk/client/internal'
import type { Acquirable, AcquireOptions, RunOptions, TryAcquireOptions } from '../acquirable.ts'
import { Contender, type ContenderOptions, type Grant } from './contender.ts'
import { checkBody, checkCall } from '../checks.ts'
import type { NodeOptions, OwnNodes } from './protected-create.ts'
import { firstLease } from '../lease/lease-renewal.ts'
import { Held, type Owner } from '../held.ts'
import { ifMissing } from './if-missing.ts'
import type { Lease } from '../lease/lease.ts'
import { NodeVanished } from './node-vanished.ts'
import type { Queue } from './queue.ts'
import type { Role } from './roles.ts'
import { checkLease, type HoldListeners, type HoldOptions, type HoldTerms } from '../hold-options.ts'
import { retry } from './retry.ts'
import { Wait, type Waiter, WaitLimit } from './wait.ts'

export interface QueueLockOptions extends NodeOptions, HoldOptions {}

/** What competes in one session for one call. A `Contender` is one. */
export interface Competitor extends Owner, Waiter {
  /** Sends the sync of `competeOnce` ahead of time. */
  prepare(): void
  /** Waits in line. */
  compete(): Promise<Grant>
  /** As `compete`, without waiting: undefined if it would have to wait. */
  competeOnce(): Promise<Grant | undefined>
}

/** Turns a grant into a hold. */
export type ToHeld<H extends Held> = (
  queue: Queue,
  owner: Owner,
  nodes: OwnNodes,
  lease: Lease,
  options: NodeOptions & HoldTerms,
) => H

export const plainHold: ToHeld<Held> = ({ zk }, owner, nodes, lease, terms) => new Held(zk, owner, nodes, lease, terms)

export class QueueLock<H extends Held = Held> implements Acquirable<H> {
  readonly queue: Queue
  readonly #role: Role
  readonly #options: QueueLockOptions
  readonly #toHeld: ToHeld<H>

  constructor(queue: Queue, role: Role, options: QueueLockOptions, toHeld: ToHeld<H>) {
    this.queue = queue
    this.#role = role
    this.#options = options
    this.#toHeld = toHeld
  }

  async acquire(options: AcquireOptions = {}): Promise<H> {
    checkCall('acquire', options)
    options.signal?.throwIfAborted()
    const { timeout = Infinity, signal } = options
    const wait = new Wait(this.queue, this.#role.kind, options.onQueued, timeout < Infinity)
    const limit = new WaitLimit(this.queue.zk.runtime, {
      signals: [signal],
      timeout: { after: timeout, error: () => wait.tooLong(timeout) },
    })
    try {
      for (;;) {
        const held = await this.#attempt(wait, limit, options)
        if (held?.isHeld()) return wait.ended(held)
      }
    } finally {
      limit.stop()
    }
  }

  async tryAcquire(options: TryAcquireOptions = {}): Promise<H | undefined> {
    checkCall('tryAcquire', options)
    const { signal } = options
    signal?.throwIfAborted()
    const { zk, recipePath: path } = this.queue
    const wait = new Wait(this.queue, this.#role.kind, undefined, false)
    const contender = this.#contender(wait)
    const { session } = contender
    const { timeout = session.timeout } = options
    const late = () => new KeeperError('RequestTimeout', { op: 'tryAcquire', path })
    const limit = new WaitLimit(zk.runtime, { signals: [signal], timeout: { after: timeout, error: late } })
    try {
      contender.prepare()
      // The list is read before a node is created: if there is a blocker, no node is needed.
      if (await limit.asking((signal) => this.hasBlocker({ session, signal }))) return undefined
      const held = await this.#hold(contender, contender.competeOnce(), limit, options)
      held?.throwIfLost()
      return held && wait.ended(held)
    } finally {
      limit.stop()
    }
  }

  async run<T>(body: (held: H) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    checkBody(body)
    checkCall('run', options)
    const { onLost = 'reject', ...acquiring } = options
    const held = await this.acquire(acquiring)
    let result: T
    try {
      result = await body(held)
    } catch (error) {
      const loss = await held.finish().catch(() => undefined)
      throw loss !== undefined && onLost === 'reject' && isAbortOf(held.signal, error) ? loss.with(undefined) : error
    }
    const loss = await held.finish()
    if (loss !== undefined && onLost === 'reject') throw loss.with(result)
    return result
  }

  /** Waits with one contender. The result is undefined if its session expired or its node was deleted: then call it again. */
  async #attempt(wait: Wait, limit: WaitLimit, options: AcquireOptions): Promise<H | undefined> {
    const contender = this.#contender(wait)
    try {
      return await this.#hold(contender, contender.compete(), limit, options)
    } catch (error) {
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && this.queue.zk.session !== contender.session
      if (hasNextSession && !wasAborted(error, options.signal)) return undefined
      throw error
    }
  }

  /** Waits for a grant, and turns it into a hold, which may already be lost. Without a grant the contender leaves. */
  async #hold(
    contender: Competitor,
    competing: Promise<Grant | undefined>,
    limit: WaitLimit,
    { onSuspended, onResumed }: HoldListeners,
  ): Promise<H | undefined> {
    let held: H | undefined
    const leave = () => void contender.leave().catch(() => {})
    const unlisten = onAbort(contender.session.detaching, leave)
    try {
      const grant = await limit.during(competing)
      if (grant === undefined) return undefined
      const lease = await limit.during(firstLease(this.queue.zk, contender.session, grant, this.#options, limit))
      const options = { onSuspended, onResumed, ...this.#options }
      held = this.#toHeld(this.queue, contender, grant.nodes, lease, options)
      return held
    } catch (error) {
      if (error instanceof NodeVanished) return undefined
      throw error
    } finally {
      unlisten()
      if (held === undefined) leave()
    }
  }

  #contender(wait: Wait): Competitor {
    const { session } = this.queue.zk
    session.detaching.throwIfAborted()
    checkLease(this.#options, session)
    const contender = this.makeContender({
      // These keys come before the spread: V8 gives each object a hidden class of its own if new keys follow a spread.
      remembersAhead: wait.mayTimeOut,
      onQueued: (ahead) => wait.queued(contender, ahead),
      ...this.#options,
    })
    return contender
  }

  /** Makes what competes. */
  protected makeContender(options: ContenderOptions): Competitor {
    return new Contender(this.queue, this.#role, options)
  }

  /** Whether one that enters now would have to wait, as far as reads show. */
  protected async hasBlocker(options: CallOptions & { readonly session: Session }): Promise<boolean> {
    const listing = () => ifMissing((asking) => this.queue.list(asking), options, undefined)
    const list = await retry(this.queue.zk, listing, options.signal)
    return list !== undefined && this.#role.blockers(list.everyone).length > 0
  }
}

/**
 * Whether a call rejected with this error because its signal aborted. The error is then the reason of the signal, or, in calls
 * of Node itself, an error with the reason as its cause.
 */
function isAbortOf({ reason }: AbortSignal, error: unknown): boolean {
  return error === reason || (error instanceof Error && error.cause === reason)
}
