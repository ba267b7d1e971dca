// Acquiring, for every recipe: contenders of one role on one path.
import { type ACL, KeeperError, type ZooKeeper } from '@zk/client'
import type { Acquirable, AcquireOptions } from './acquirable.ts'
import { Contender, NodeVanished } from './contender.ts'
import { checkAcquireOptions, checkBody } from './checks.ts'
import { LockTimeoutError } from './errors.ts'
import { Held } from './held.ts'
import type { ContenderName } from './names.ts'
import { Patience } from './patience.ts'
import { noneIfMissing, Queue } from './queue.ts'
import type { Role } from './roles.ts'

export interface ContendedOptions {
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
    const { zk, path } = this.queue
    const { timeout, signal, onQueued } = options
    let ahead: string[] | undefined
    const queued = (names: readonly ContenderName[]) => {
      ahead = names.map(({ name }) => this.queue.pathOf(name))
      onQueued?.({ position: ahead.length, ahead })
    }
    const patience = new Patience(zk.runtime, {
      signal,
      timeout:
        timeout === undefined ? undefined : { after: timeout, error: () => new LockTimeoutError(path, timeout, ahead) },
    })
    try {
      for (;;) {
        const held = await this.#attempt(queued, patience)
        if (held?.isHeld()) return held
      }
    } finally {
      patience.stop()
    }
  }

  async tryAcquire(options: Pick<AcquireOptions, 'signal'> = {}): Promise<Held | undefined> {
    checkAcquireOptions(options)
    const { zk } = this.queue
    const patience = new Patience(zk.runtime, options)
    const contender = this.#contender(() => {})
    try {
      // Where somebody is seen to be in the way no node is made.
      const { session } = contender
      const waiting = await patience.during(this.queue.list({ session }).catch(noneIfMissing))
      if (this.#role.blocker(waiting) !== undefined) return undefined
      const node = await patience.during(contender.competeOnce())
      if (node !== undefined) return new Held(zk, contender, node)
      contender.leave().catch(() => {})
      return undefined
    } catch (error) {
      contender.leave().catch(() => {})
      if (error instanceof NodeVanished) return undefined
      throw error
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
    await held.release()
    return result
  }

  /** One node in one session. undefined when it must queue again: the session expired, or the node was deleted. */
  async #attempt(onQueued: (ahead: readonly ContenderName[]) => void, patience: Patience): Promise<Held | undefined> {
    const { zk } = this.queue
    const contender = this.#contender(onQueued)
    try {
      return new Held(zk, contender, await patience.during(contender.compete()))
    } catch (error) {
      contender.leave().catch(() => {})
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && zk.session !== contender.session
      if (hasNextSession || error instanceof NodeVanished) return undefined
      throw error
    }
  }

  #contender(onQueued: (ahead: readonly ContenderName[]) => void): Contender {
    return new Contender(this.queue, this.#role, { ...this.#options, onQueued })
  }
}
