// Acquiring, for every recipe: contenders of one role on one path.
import { type ACL, KeeperError, type ZooKeeper } from '@zk/client'
import type { Acquirable, AcquireOptions, TryAcquireOptions } from './acquirable.ts'
import { Contender, type Grant, NodeVanished } from './contender.ts'
import { checkAcquireOptions, checkBody } from './checks.ts'
import { LockTimeoutError } from './errors.ts'
import { firstLease } from './first-lease.ts'
import { Held } from './held.ts'
import { ifMissing } from './if-missing.ts'
import type { ContenderName } from './names.ts'
import { Patience } from './patience.ts'
import { Queue } from './queue.ts'
import type { Role } from './roles.ts'
import type { HoldListeners, HoldOptions } from './terms.ts'
import { persist } from './transient.ts'

export interface ContendedOptions extends HoldOptions {
  /** Stored in the contender's node. */
  readonly data: Uint8Array | string
  readonly acl?: readonly ACL[] | undefined
}

export class Contended implements Acquirable<Held> {
  readonly queue: Queue
  readonly #role: Role
  readonly #options: ContendedOptions

  constructor(zk: ZooKeeper, path: string, role: Role, options: ContendedOptions) {
    this.queue = new Queue(zk, path, role.rivals)
    this.#role = role
    this.#options = options
  }

  async acquire(options: AcquireOptions = {}): Promise<Held> {
    checkAcquireOptions(options)
    options.signal?.throwIfAborted()
    const { zk, path } = this.queue
    const { timeout, signal, onQueued, onSuspended, onResumed } = options
    let ahead: string[] | undefined
    const queued = (names: readonly ContenderName[]) => {
      ahead = names.map(({ name }) => this.queue.pathOf(name))
      onQueued?.({ position: ahead.length, ahead })
    }
    const tooLate = () => new LockTimeoutError(path, timeout ?? Infinity, ahead)
    const patience = new Patience(zk.runtime, { signal, timeout: { after: timeout ?? Infinity, error: tooLate } })
    try {
      for (;;) {
        const held = await this.#attempt(queued, patience, { onSuspended, onResumed })
        if (held?.isHeld()) return held
      }
    } finally {
      patience.stop()
    }
  }

  async tryAcquire({ signal, ...listeners }: TryAcquireOptions = {}): Promise<Held | undefined> {
    checkAcquireOptions({ signal, ...listeners })
    signal?.throwIfAborted()
    const { zk } = this.queue
    const patience = new Patience(zk.runtime, { signal })
    const contender = this.#contender(() => {})
    const { session } = contender
    try {
      // Where somebody is seen to be in the way no node is made.
      const looking = persist(zk.runtime, () => ifMissing(this.queue.list({ session }), []))
      if (this.#role.blocker(await patience.during(looking)) !== undefined) return undefined
      const held = await this.#hold(contender, contender.competeOnce(), patience, listeners)
      held?.throwIfLost()
      return held
    } finally {
      patience.stop()
    }
  }

  async run<T>(body: (held: Held) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    checkBody(body)
    const held = await this.acquire(options)
    let result: T
    try {
      result = await body(held)
    } catch (error) {
      await held.release().catch(() => {})
      throw error
    }
    await held.release().catch(unlessLate)
    return result
  }

  /** One node in one session. undefined when it must queue again: the session expired, or the node was deleted. */
  async #attempt(
    onQueued: (ahead: readonly ContenderName[]) => void,
    patience: Patience,
    listeners: HoldListeners,
  ): Promise<Held | undefined> {
    const contender = this.#contender(onQueued)
    try {
      return await this.#hold(contender, contender.compete(), patience, listeners)
    } catch (error) {
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && this.queue.zk.session !== contender.session
      if (hasNextSession) return undefined
      throw error
    }
  }

  /** What the contender gets by competing. It may be lost by now. Without it the contender leaves. */
  async #hold(
    contender: Contender,
    competing: Promise<Grant | undefined>,
    patience: Patience,
    listeners: HoldListeners,
  ): Promise<Held | undefined> {
    const { zk } = this.queue
    let held: Held | undefined
    try {
      const grant = await patience.during(competing)
      if (grant === undefined) return undefined
      const lease = await patience.during(firstLease(zk, contender.session, grant, this.#options))
      held = new Held(zk, contender, grant.node, lease, { ...this.#options, ...listeners })
      return held
    } catch (error) {
      if (error instanceof NodeVanished) return undefined
      throw error
    } finally {
      if (held === undefined) contender.leave().catch(() => {})
    }
  }

  #contender(onQueued: (ahead: readonly ContenderName[]) => void): Contender {
    return new Contender(this.queue, this.#role, { ...this.#options, onQueued })
  }
}

/** A release that takes long goes on in the background. */
export function unlessLate(error: unknown): void {
  if (!KeeperError.is(error, 'RequestTimeout')) throw error
}
