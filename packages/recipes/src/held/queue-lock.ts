// The common part of all recipes that hold something: the methods of `Acquirable`, for contenders of one role on one path, or on
// several.
import { AsyncResource } from 'node:async_hooks'
import type { CallOptions, Session, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from './acquirable.ts'
import { Contender, type ContenderOptions, type Entries } from '../queue/contender.ts'
import type { Grant } from '../queue/grant-proof.ts'
import { acquireOptions, checkBody, checkCall, runOptions, tryOptions, tryRunOptions } from './checks.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'
import { formerOwnersGone, registerOwner } from '../queue/owners.ts'
import type { NodeOptions } from '../queue/protected-nodes.ts'
import { firstLease } from '../lease/lease-renewal.ts'
import { Held } from './held.ts'
import { runWhileHeld } from './run-while-held.ts'
import type { Owner } from '../queue/owners.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import type { Lease } from '../lease/lease.ts'
import type { Slowness } from '../lease/slow-answers.ts'
import { BeginAnew, beginsAnew, NodeVanished } from '../kernel/sessions.ts'
import { NewestList } from '../queue/newest-list.ts'
import type { Entry, WaitListener } from '../queue/queue-position.ts'
import { checkLease, type HoldListeners, type HoldOptions, type HoldTerms } from '../lease/hold-options.ts'
import { retry } from '../kernel/retry.ts'
import { type Limit, limitForOthers, reasonOf, serverTimeout, within, withLimit } from '../kernel/limit.ts'
import { type ContenderInfo, contendersOf } from '../queue/queue.ts'
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
    this.#folders = entries.map(({ queue }) => queue.folder)
  }

  /** One queue. */
  static of<H extends Held>({ queue, role }: Entry, options: QueueLockOptions, toHeld: ToHeld<H>): QueueLock<H> {
    return new QueueLock(subjectOf({ queue, role }), [{ queue, role }], options, toHeld)
  }

  /** For logs: what is locked. */
  toJSON(): object {
    const { path, kind } = this.#subject
    return { path, kind }
  }

  async acquire(options: AcquireOptions = {}): Promise<H> {
    checkCall('acquire', options, acquireOptions)
    const { timeout = Infinity, signal } = options
    throwIfAborted(signal)
    const zk = this.#zk
    const wait = new Wait(this.#subject, options.onQueued, timeout < Infinity)
    wait.begin()
    const { limit, mustWait } = limitForOthers(zk, { timeout, signal }, wait.tooLong.bind(wait))
    wait.blocked = mustWait
    const forget = wait.mayTimeOut ? NewestList.keep(zk, this.#folders) : undefined
    // A waiter waits in this function, and not also in one for each step: each would take 500 bytes.
    try {
      for (;;) {
        const { session } = zk
        const contender = this.#contender(wait)
        try {
          const former = formerOwnersGone(zk, this.#folders)
          const competing = former === undefined ? contender.compete() : former.then(() => contender.compete())
          registerOwner(contender, this.#folders)
          const grant = await limit.orReached(competing)
          const lease = await this.#lease(contender, grant, wait, limit)
          const held = this.#hold(contender, grant, lease, options)
          if (held.isHeld()) return wait.ended(held)
        } catch (error) {
          // The reason names the contenders ahead, so it is made before this one leaves.
          const reason = reasonOf(error)
          unawaited(contender.leave())
          if (!beginsAnew(zk, session, error, signal)) throw reason
          if (!(error instanceof BeginAnew)) continue
        }
        // If it had several nodes, some may be left. The next contender would queue behind them.
        await limit.during(settled(contender.leave()))
      }
    } catch (error) {
      throw wait.failed(error, signal)
    } finally {
      limit.stop()
      forget?.()
    }
  }

  async tryAcquire(options: TryAcquireOptions = {}): Promise<H | undefined> {
    checkCall('tryAcquire', options, tryOptions)
    return await this.#tryAcquire('tryAcquire', options)
  }

  async run<T>(body: (held: H) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    checkBody('run', body)
    checkCall('run', options, runOptions)
    const { onLost, ...acquiring } = options
    return await runWhileHeld(await this.acquire(acquiring), body, onLost)
  }

  async tryRun<T>(body: (held: H) => T | Promise<T>, options: TryRunOptions = {}): Promise<TryRunResult<T>> {
    checkBody('tryRun', body)
    checkCall('tryRun', options, tryRunOptions)
    const { onLost, ...acquiring } = options
    const held = await this.#tryAcquire('tryRun', acquiring)
    return held === undefined ? { ran: false } : { ran: true, result: await runWhileHeld(held, body, onLost) }
  }

  async contenders(options: CallOptions = {}): Promise<ContenderInfo[]> {
    checkCall('contenders', options)
    const queues = this.#entries.map(({ queue }) => queue)
    return await within(this.#subject, 'contenders', options, (limited) => contendersOf(queues, limited))
  }

  /** `op` is the call, for its errors. */
  async #tryAcquire(op: string, options: TryAcquireOptions): Promise<H | undefined> {
    const { signal } = options
    throwIfAborted(signal)
    const { path } = this.#subject
    const wait = new Wait(this.#subject, undefined, false)
    const contender = this.#contender(wait)
    const { session } = contender
    const { timeout = session.timeout } = options
    const limits = { signals: [signal], timeout: serverTimeout(op, path, timeout) }
    wait.begin()
    try {
      return await withLimit(this.#zk.runtime, limits, async (limit) => {
        contender.prepare()
        const former = formerOwnersGone(this.#zk, this.#folders)
        if (former !== undefined) await limit.during(former)
        // The list is read before a node is created: if there is a blocker, no node is needed.
        if (await limit.asking((signal) => this.hasBlocker({ session, signal }))) return wait.busy()
        let held: H | undefined
        try {
          const competing = contender.competeOnce()
          registerOwner(contender, this.#folders)
          const grant = await limit.during(competing)
          if (grant !== undefined) {
            held = this.#hold(contender, grant, await this.#lease(contender, grant, wait, limit), options)
          }
        } catch (error) {
          if (!(error instanceof NodeVanished)) throw error
        } finally {
          if (held === undefined) unawaited(contender.leave())
        }
        held?.throwIfLost()
        return held === undefined ? wait.busy() : wait.ended(held)
      })
    } catch (error) {
      throw wait.failed(error, signal)
    }
  }

  #lease(contender: Competitor, grant: Grant, wait: Wait, limit: Limit): Lease | Promise<Lease> {
    const onProving = (slowness?: Slowness) => wait.proving(contender, slowness)
    return firstLease(this.#zk, contender.session, grant, this.#options, { limit, onProving })
  }

  /** Turns a grant into a hold, which may already be lost. */
  #hold(contender: Competitor, grant: Grant, lease: Lease, { onSuspended, onResumed }: HoldListeners): H {
    const listeners = { onSuspended: inThisContext(onSuspended), onResumed: inThisContext(onResumed) }
    return this.#toHeld(this.#zk, contender, grant.nodes, lease, Object.assign(listeners, this.#options))
  }

  #contender(wait: Wait): Competitor {
    const { session } = this.#zk
    throwIfAborted(session.detaching)
    checkLease(this.#options, session)
    const contender = this.makeContender(this.#options, wait)
    wait.goesOnWith(contender)
    return contender
  }

  /** Creates the contender. */
  protected makeContender(options: ContenderOptions, listener: WaitListener): Competitor {
    return new Contender(this.#entries, options, listener)
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
