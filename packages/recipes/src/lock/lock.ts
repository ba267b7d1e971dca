import type { CallOptions, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from '../held/acquirable.ts'
import { checkBody, checkCall, checkRecipe, lockOptions, runOptions, tryRunOptions } from '../held/checks.ts'
import { QueueLock, plainHold } from '../held/queue-lock.ts'
import type { Held } from '../held/held.ts'
import { type ContenderInfo, Queue } from '../queue/queue.ts'
import { exclusive } from '../queue/roles.ts'
import { type LockOptions, nodeOptionsOf } from '../held/lock-options.ts'
import { Reentrancy } from './reentrancy.ts'

/** The options of `Lock`. */
export interface ExclusiveLockOptions extends LockOptions {
  /**
   * Whether a `run` inside a `run` of this object, in one chain of async calls, uses the hold of the outer run, as Curator's
   * mutex does in one thread. Only the outermost run releases the lock. If an inner run continues after the outer run has ended,
   * it has lost the lock. A new `run` in a task that continues after the outer run rejects with a `LostError`. With this
   * option every promise of the program takes a little longer (`AsyncLocalStorage`).
   * @default false
   */
  reentrant?: boolean | undefined
}

/**
 * A fair exclusive lock: one holder at a time, in the order of the calls. Its znodes are those of Curator's
 * InterProcessMutex. One object may be used for any number of concurrent calls. Each call is a contender of its own.
 *
 *     const lock = new Lock(zk, '/locks/report')
 *     await lock.run(async (held) => { … })
 *
 * If the path, or a node above it, does not exist, it is created as a container. Servers delete containers when they are empty
 * again.
 */
export class Lock implements Acquirable<Held> {
  /** The path passed to the constructor: the parent of the contenders' nodes. */
  readonly path: string
  readonly #queueLock: QueueLock
  readonly #reentrancy: Reentrancy<Held> | undefined

  constructor(zk: ZooKeeper, path: string, options: ExclusiveLockOptions = {}) {
    checkRecipe('Lock', zk, path, options, [...lockOptions, 'reentrant'])
    const { reentrant, ...others } = options
    const queue = new Queue(zk, path, exclusive.kinds)
    this.path = path
    this.#queueLock = QueueLock.of({ queue, role: exclusive }, nodeOptionsOf(others), plainHold)
    this.#reentrancy = reentrant ? new Reentrancy(path) : undefined
  }

  /** See `Acquirable`. With `reentrant` it rejects with a `RecipeError`, `WouldDeadlock`, inside a `run` of this object. */
  acquire(options?: AcquireOptions): Promise<Held> {
    const acquiring = () => this.#queueLock.acquire(options)
    return this.#reentrancy === undefined ? acquiring() : this.#reentrancy.outside(acquiring)
  }

  /** See `Acquirable`. Inside a `run` of this object it resolves with undefined, even with `reentrant`. */
  tryAcquire(options?: TryAcquireOptions): Promise<Held | undefined> {
    return this.#queueLock.tryAcquire(options)
  }

  /** See `Acquirable`. With `reentrant` a `run` inside a run uses the hold of the outer run. */
  async run<T>(body: (held: Held) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    checkBody('run', body)
    checkCall('run', options, runOptions)
    const outermost = this.#outermost(body)
    if (outermost !== undefined) return await this.#queueLock.run(outermost, options)
    throwIfAborted(options.signal)
    return await this.#reentrancy!.again(body, options)
  }

  /** See `Acquirable`. With `reentrant` a `tryRun` inside a run uses the hold of the outer run. */
  async tryRun<T>(body: (held: Held) => T | Promise<T>, options: TryRunOptions = {}): Promise<TryRunResult<T>> {
    checkBody('tryRun', body)
    checkCall('tryRun', options, tryRunOptions)
    const outermost = this.#outermost(body)
    if (outermost !== undefined) return await this.#queueLock.tryRun(outermost, options)
    throwIfAborted(options.signal)
    return { ran: true, result: await this.#reentrancy!.again(body, options) }
  }

  /**
   * All contenders, oldest first: the first one holds, the others wait. See `ContenderInfo.isGranted`. For the path of another kind of
   * recipe, such as a `SharedLock`, or a wrong path, it resolves with an empty list.
   */
  contenders(options?: CallOptions): Promise<ContenderInfo[]> {
    return this.#queueLock.contenders(options)
  }

  /** The body for the outermost run; undefined inside a run of this object, which uses the hold of that run. */
  #outermost<T>(body: (held: Held) => T | Promise<T>): ((held: Held) => T | Promise<T>) | undefined {
    const reentrancy = this.#reentrancy
    if (reentrancy === undefined) return body
    return reentrancy.current === undefined ? (held) => reentrancy.inside(held, body) : undefined
  }
}
