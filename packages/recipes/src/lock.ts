import type { ACL, CallOptions, ZooKeeper } from '@zk/client'
import type { Acquirable, AcquireOptions, RunOptions, TryAcquireOptions } from './acquirable.ts'
import { checkBody, checkCall, checkRecipe } from './checks.ts'
import { QueueLock, plainHold } from './queue/queue-lock.ts'
import type { Held } from './held.ts'
import { type ContenderInfo, Queue } from './queue/queue.ts'
import { exclusive } from './queue/roles.ts'
import { within } from './queue/wait.ts'
import { Reentrancy } from './reentrancy.ts'
import type { HoldOptions } from './hold-options.ts'

/** The contenders' data, and the terms of their holds. */
export interface LockOptions extends HoldOptions {
  /** Shows others which program holds or waits. It is stored in the contender's node. @default '' */
  label?: string | undefined
  /** The rights to the contenders' nodes. Other contenders must be able to read them. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

/** The options of `Lock`. */
export interface ExclusiveLockOptions extends LockOptions {
  /**
   * Whether a `run` inside a `run` of this object, in one chain of async calls, uses the hold of the outer one, as Curator's
   * mutex does per thread. Only the outermost run releases. An inner run that the outer one does not wait for loses the lock
   * with it. A task that is left behind gets a `LockLostError` from `run`. This costs every promise of the program a little
   * (`AsyncLocalStorage`).
   * @default false
   */
  reentrant?: boolean | undefined
}

/**
 * A fair exclusive lock: one holder at a time, in the order of the calls. Its znodes are those of Curator's
 * InterProcessMutex. One object serves any number of concurrent calls. Each is a contender of its own.
 *
 *     const lock = new Lock(zk, '/locks/report')
 *     await lock.run(async (held) => { … })
 *
 * The path and what is missing above it are made as containers. Servers delete them when the queue is empty again.
 */
export class Lock implements Acquirable<Held> {
  /** The path that was given: the parent of the contenders' nodes. */
  readonly path: string
  readonly #queueLock: QueueLock
  readonly #reentrancy: Reentrancy<Held> | undefined

  constructor(zk: ZooKeeper, path: string, options: ExclusiveLockOptions = {}) {
    checkRecipe('Lock', zk, path, options)
    const { label = '', reentrant, ...others } = options
    const queue = new Queue(zk, path, exclusive.rivals)
    this.path = path
    this.#queueLock = new QueueLock(queue, exclusive, { data: label, ...others }, plainHold)
    this.#reentrancy = reentrant ? new Reentrancy(path) : undefined
  }

  /** See `Acquirable`. With `reentrant` it rejects with a `WouldDeadlockError` inside a `run` of this object. */
  async acquire(options?: AcquireOptions): Promise<Held> {
    this.#reentrancy?.refuseInside()
    return await this.#queueLock.acquire(options)
  }

  /** See `Acquirable`. Inside a `run` of this object it is undefined, also with `reentrant`: the run is in the way. */
  tryAcquire(options?: TryAcquireOptions): Promise<Held | undefined> {
    return this.#queueLock.tryAcquire(options)
  }

  /** See `Acquirable`. With `reentrant` a `run` inside a run uses the hold of the outer one. */
  async run<T>(body: (held: Held) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    checkBody(body)
    checkCall('run', options)
    const reentrancy = this.#reentrancy
    if (reentrancy === undefined) return await this.#queueLock.run(body, options)
    if (reentrancy.current === undefined) {
      return await this.#queueLock.run((held) => reentrancy.inside(held, body), options)
    }
    options.signal?.throwIfAborted()
    return await reentrancy.again(body, options)
  }

  /** The contenders that hold and wait, oldest first: the first one holds. */
  async contenders(options: CallOptions = {}): Promise<ContenderInfo[]> {
    checkCall('contenders', options)
    const { queue } = this.#queueLock
    return await within(queue, 'contenders', options, (limited) => queue.contenders(limited))
  }
}
