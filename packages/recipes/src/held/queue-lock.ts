// The common part of all recipes: `acquire`, `tryAcquire` and `run` for contenders of one role on one path, or on several.
import { AsyncResource } from 'node:async_hooks'
import type { CallOptions, Session, ZooKeeper } from '@zk/client'
import { onAbort, throwIfAborted } from '@zk/client/internal'
import type { Acquirable, AcquireOptions, RunOptions, TryAcquireOptions } from './acquirable.ts'
import { Contender, type ContenderOptions, type Entries } from '../queue/contender.ts'
import type { Grant } from '../queue/grant-proof.ts'
import { acquireOptions, checkBody, checkCall, runOptions, tryOptions } from './checks.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'
import { formerOwnersGone, registerOwner } from '../queue/owners.ts'
import type { NodeOptions } from '../queue/protected-nodes.ts'
import { firstLease } from '../lease/lease-renewal.ts'
import { Held, isAbortOf } from './held.ts'
import type { Owner } from '../queue/owners.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import type { Lease } from '../lease/lease.ts'
import type { Slowness } from '../lease/slow-answers.ts'
import { inEachSession, NodeVanished } from '../kernel/sessions.ts'
import type { Entry } from '../queue/queue-position.ts'
import { checkLease, type HoldListeners, type HoldOptions, type HoldTerms } from '../lease/hold-options.ts'
import { retry } from '../kernel/retry.ts'
import { type Limit, serverTimeout, withLimit, withLimitForOthers } from '../kernel/limit.ts'
import { type Subject, Wait, type Waiter } from '../queue/wait.ts'
import { awaitedLater, settled, unawaited } from '../kernel/promises.ts'

export interface QueueLockOptions extends NodeOptions, HoldOptions {}

/** What competes in one session for one call. A `Contender` is one. */
export interface Competitor extends Owner, Waiter {
  /** Sends the sync of `competeOnce` ahead of time. */
  prepare(): void
  /** Waits in line. */
  compete(): Promise<Grant>
  /** Like `compete`, without waiting: undefined if it would have to wait. */
  competeOnce(): Promise<Grant | undefined>
}

/** Turns a grant into a hold. */
export type ToHeld<H extends Held> = (
  zk: ZooKeeper,
  owner: Owner,
  nodes: ContenderNodes,
  lease: Lease,
  options: NodeOptions & HoldTerms,
) => H

export const plainHold: ToHeld<Held> = (...granted) => new Held(...granted)

export class QueueLock<H extends Held = Held> implements Acquirable<H> {
  readonly #zk: ZooKeeper
  readonly #entries: Entries
  readonly #subject: Subject
  readonly #options: QueueLockOptions
  readonly #toHeld: ToHeld<H>
  /** The paths of its queues in the ensemble. */
  readonly #folders: readonly string[]

  /** `subject` is what is reported. */
  constructor(subject: Subject, entries: Entries, options: QueueLockOptions, toHeld: ToHeld<H>) {
    this.#zk = subject.zk
    this.#entries = entries
    this.#subject = subject
    this.#options = options
    this.#toHeld = toHeld
    // A view of the client may have another chroot.
    const chroot = this.#zk.chroot === '/' ? '' : this.#zk.chroot
    this.#folders = entries.map(({ queue }) => `${chroot}${queue.path}`)
  }

  /** One queue. */
  static of<H extends Held>({ queue, role }: Entry, options: QueueLockOptions, toHeld: ToHeld<H>): QueueLock<H> {
    return new QueueLock(subjectOf({ queue, role }), [{ queue, role }], options, toHeld)
  }

  async acquire(options: AcquireOptions = {}): Promise<H> {
    checkCall('acquire', options, acquireOptions)
    throwIfAborted(options.signal)
    const { timeout = Infinity, signal } = options
    const wait = new Wait(this.#subject, options.onQueued, timeout < Infinity)
    return await withLimitForOthers(this.#zk, { timeout, signal }, wait.tooLong.bind(wait), (limit, mustWait) => {
      const acquireIn = async () => {
        const contender = this.#contender(wait, mustWait)
        const former = formerOwnersGone(this.#zk, this.#folders)
        const competing = former === undefined ? contender.compete() : former.then(() => contender.compete())
        const held = await this.#hold(contender, competing, { wait, limit }, options)
        if (held?.isHeld()) return wait.ended(held)
        // If it had several nodes, some may be left. The next contender would queue behind them.
        await limit.during(settled(contender.leave()))
        throw new NodeVanished()
      }
      return inEachSession(this.#zk, acquireIn, { signal })
    })
  }

  async tryAcquire(options: TryAcquireOptions = {}): Promise<H | undefined> {
    checkCall('tryAcquire', options, tryOptions)
    const { signal } = options
    throwIfAborted(signal)
    const { path } = this.#subject
    const wait = new Wait(this.#subject, undefined, false)
    const contender = this.#contender(wait)
    const { session } = contender
    const { timeout = session.timeout } = options
    const limits = { signals: [signal], timeout: serverTimeout('tryAcquire', path, timeout) }
    return await withLimit(this.#zk.runtime, limits, async (limit) => {
      contender.prepare()
      const former = formerOwnersGone(this.#zk, this.#folders)
      if (former !== undefined) await limit.during(former)
      // The list is read before a node is created: if there is a blocker, no node is needed.
      if (await limit.asking((signal) => this.hasBlocker({ session, signal }))) return undefined
      const held = await this.#hold(contender, contender.competeOnce(), { wait, limit }, options)
      held?.throwIfLost()
      return held && wait.ended(held)
    })
  }

  async run<T>(body: (held: H) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    checkBody(body)
    checkCall('run', options, runOptions)
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

  /** Waits for a grant, and turns it into a hold, which may already be lost. Without a grant the contender leaves. */
  async #hold(
    contender: Competitor,
    competing: Promise<Grant | undefined>,
    { wait, limit }: { readonly wait: Wait; readonly limit: Limit },
    { onSuspended, onResumed }: HoldListeners,
  ): Promise<H | undefined> {
    let held: H | undefined
    registerOwner(contender, this.#folders)
    const leave = () => unawaited(contender.leave())
    const unlisten = onAbort(contender.session.detaching, leave)
    try {
      const grant = await limit.during(competing)
      if (grant === undefined) return undefined
      const onProving = (slowness?: Slowness) => wait.proving(contender, slowness)
      const lease = await firstLease(this.#zk, contender.session, grant, this.#options, { limit, onProving })
      const listeners = { onSuspended: inThisContext(onSuspended), onResumed: inThisContext(onResumed) }
      held = this.#toHeld(this.#zk, contender, grant.nodes, lease, Object.assign(listeners, this.#options))
      return held
    } catch (error) {
      if (error instanceof NodeVanished) return undefined
      throw error
    } finally {
      unlisten()
      if (held === undefined) leave()
    }
  }

  #contender(wait: Wait, onBlocked = () => {}): Competitor {
    const { session } = this.#zk
    throwIfAborted(session.detaching)
    checkLease(this.#options, session)
    // Not a spread: V8 would give each object a hidden class of its own.
    const own = {
      remembersAhead: wait.mayTimeOut,
      onQueued: (ahead: () => readonly string[]) => wait.queued(contender, ahead),
      onBlocked,
    }
    const contender = this.makeContender(Object.assign(own, this.#options))
    return contender
  }

  /** Creates the contender. */
  protected makeContender(options: ContenderOptions): Competitor {
    return new Contender(this.#entries, options)
  }

  /** Whether a contender that enters now would have to wait, as far as reads show. */
  protected async hasBlocker(options: CallOptions & { readonly session: Session }): Promise<boolean> {
    const listings = this.#entries.map(({ queue }) => {
      const listing = () => ifMissing((asking) => queue.list(asking), options, undefined)
      return awaitedLater(retry(this.#zk, listing, options.signal))
    })
    for (const [index, { role }] of this.#entries.entries()) {
      const list = await listings[index]
      if (list !== undefined && role.blockers(list.everyone).length > 0) return true
    }
    return false
  }
}

/** What is reported about a lock with one queue. */
export function subjectOf({ queue: { zk, recipePath: path }, role: { kind } }: Entry): Subject {
  return { zk, path, kind: kind.name }
}

/** Binds the listener to the current async context (`AsyncLocalStorage`): connections are lost outside of it. */
function inThisContext<Args extends unknown[]>(
  listener: ((...args: Args) => void) | undefined,
): ((...args: Args) => void) | undefined {
  return listener && AsyncResource.bind(listener)
}
