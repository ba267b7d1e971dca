import type { CallOptions, ZooKeeper } from '@zk/client'
import type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from '../held/acquirable.ts'
import { checkRecipe, lockOptions } from '../held/checks.ts'
import { type LockOptions, nodeOptionsOf } from '../held/lock-options.ts'
import { checkPaths, type MultiLockPath, pathOf } from './paths.ts'
import { MultiHeld } from './multi-held.ts'
import type { Entries } from '../queue/contender.ts'
import type { Entry } from '../queue/queue-position.ts'
import { type ContenderInfo, Queue } from '../queue/queue.ts'
import { QueueLock } from '../held/queue-lock.ts'
import { exclusive, reader, type Role, writer } from '../queue/roles.ts'

const roles = { exclusive, read: reader, write: writer } as const satisfies Record<string, Role>

/**
 * Several locks as one: all of them are acquired, or none, and two `MultiLock`s that overlap never wait for each other, whatever
 * the order of their paths. Each path is the path of a `Lock` or a `SharedLock`, and shares one line with it.
 *
 *     const transfer = new MultiLock(zk, ['/locks/account/7', '/locks/account/4'])
 *     await transfer.run(async (held) => { … })
 *
 * It waits in all queues at the same time. Later contenders of a queue wait until it has all its locks. A program that takes plain
 * locks of these paths one by one may still deadlock with it.
 *
 * The nodes are created in one transaction, so together they must fit into a request: 1 to 100 paths.
 */
export class MultiLock implements Acquirable<MultiHeld> {
  /** The paths passed to the constructor, in their order. */
  readonly paths: readonly string[]
  readonly #queueLock: QueueLock<MultiHeld>

  constructor(zk: ZooKeeper, paths: readonly MultiLockPath[], options: LockOptions = {}) {
    checkPaths(paths)
    for (const each of paths) checkRecipe('MultiLock', zk, pathOf(each), options, lockOptions)
    const entries = paths.map((each): Entry => {
      const role = roles[typeof each === 'string' ? 'exclusive' : each.mode]
      return { role, queue: new Queue(zk, pathOf(each), role.kinds) }
    })
    const subject = { zk, path: paths.map(pathOf).join(', '), kind: 'multi' }
    this.paths = paths.map(pathOf)
    this.#queueLock = new QueueLock(
      subject,
      entries as unknown as Entries,
      nodeOptionsOf(options),
      (...granted) => new MultiHeld(...granted),
    )
  }

  /** See `Acquirable`. `onQueued` is called for each path in whose line contenders are ahead. */
  acquire(options?: AcquireOptions): Promise<MultiHeld> {
    return this.#queueLock.acquire(options)
  }

  /** See `Acquirable`. It resolves with undefined if another contender blocks it on any of the paths. */
  tryAcquire(options?: TryAcquireOptions): Promise<MultiHeld | undefined> {
    return this.#queueLock.tryAcquire(options)
  }

  /** See `Acquirable`. */
  run<T>(body: (held: MultiHeld) => T | Promise<T>, options?: RunOptions): Promise<T> {
    return this.#queueLock.run(body, options)
  }

  /** See `Acquirable`. */
  tryRun<T>(body: (held: MultiHeld) => T | Promise<T>, options?: TryRunOptions): Promise<TryRunResult<T>> {
    return this.#queueLock.tryRun(body, options)
  }

  /** All contenders of all paths, one path after another, oldest first in each. */
  contenders(options?: CallOptions): Promise<ContenderInfo[]> {
    return this.#queueLock.contenders(options)
  }
}
