import type { ACL, CallOptions, ZooKeeper } from '@zk/client'
import type { Acquirable, AcquireOptions, TryAcquireOptions } from './acquirable.ts'
import { checkClient, checkHoldOptions, checkPath } from './checks.ts'
import { Contended } from './contended.ts'
import type { Held } from './held.ts'
import type { ContenderInfo } from './queue.ts'
import { exclusive } from './roles.ts'
import type { HoldOptions } from './terms.ts'

export interface LockOptions extends HoldOptions {
  /** Says to others who holds or waits; stored in the contender's node. @default '' */
  readonly label?: string
  /** Of the contenders' nodes. Other contenders must be able to read them. @default OPEN_ACL_UNSAFE */
  readonly acl?: readonly ACL[]
}

/**
 * A fair exclusive lock: one holder at a time, in the order of asking. Its znodes are those of Curator's
 * InterProcessMutex. One object serves any number of concurrent `acquire`s; each is a contender of its own.
 *
 *     const lock = new Lock(zk, '/locks/report')
 *     await lock.run(async (held) => { … })
 *
 * The path and what is missing above it are made as containers: the servers remove them when nobody queues any more.
 */
export class Lock implements Acquirable<Held> {
  readonly path: string
  readonly #contended: Contended

  constructor(zk: ZooKeeper, path: string, { label = '', ...options }: LockOptions = {}) {
    checkClient(zk)
    this.path = checkPath(path)
    checkHoldOptions(options)
    this.#contended = new Contended(zk, path, exclusive, { data: label, ...options })
  }

  acquire(options?: AcquireOptions): Promise<Held> {
    return this.#contended.acquire(options)
  }

  tryAcquire(options?: TryAcquireOptions): Promise<Held | undefined> {
    return this.#contended.tryAcquire(options)
  }

  run<T>(body: (held: Held) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    return this.#contended.run(body, options)
  }

  /** Who holds and who waits, oldest first: the first one holds. */
  contenders(options: CallOptions = {}): Promise<ContenderInfo[]> {
    return this.#contended.queue.contenders(options)
  }
}
