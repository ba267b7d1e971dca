import type { CallOptions, ZooKeeper } from '@zk/client'
import type { Acquirable } from './acquirable.ts'
import { checkCall, checkRecipe } from './checks.ts'
import { QueueLock, type ToHeld, plainHold } from './queue/queue-lock.ts'
import type { Held } from './held.ts'
import type { LockOptions } from './lock.ts'
import { type ContenderInfo, Queue } from './queue/queue.ts'
import { reader, writer } from './queue/roles.ts'
import { within } from './queue/wait.ts'
import { WriteHeld } from './write-held.ts'

const toWriteHeld: ToHeld<WriteHeld> = (...granted) => new WriteHeld(...granted)

/**
 * A fair read/write lock: any number of readers, or one writer. A reader waits behind a waiting writer, so writers do not
 * starve. Its znodes are those of Curator's InterProcessReadWriteLock.
 *
 *     const shared = new SharedLock(zk, '/locks/catalogue')
 *     await shared.read.run(async (held) => { … })
 *     await shared.write.run(async (held) => { … })
 *
 * A writer can go on as a reader with `downgrade`. There is no way from read to write: two readers that both want it would
 * wait for each other. Release, acquire `write`, and read again.
 *
 * Fencing: a resource accepts a write whose token is not below any token it has seen, and a read whose token is not
 * below any *write's*.
 */
export class SharedLock {
  /** The path that was given: the parent of the contenders' nodes. */
  readonly path: string
  /** Shared: it waits for the writers ahead, not for readers. */
  readonly read: Acquirable<Held>
  /** Exclusive: it waits for all contenders ahead. */
  readonly write: Acquirable<WriteHeld>
  readonly #queue: Queue

  constructor(zk: ZooKeeper, path: string, options: LockOptions = {}) {
    checkRecipe('SharedLock', zk, path, options)
    const { label = '', ...others } = options
    this.path = path
    this.#queue = new Queue(zk, path, reader.rivals)
    this.read = new QueueLock(this.#queue, reader, { data: label, ...others }, plainHold)
    this.write = new QueueLock(this.#queue, writer, { data: label, ...others }, toWriteHeld)
  }

  /** Readers and writers that hold or wait, oldest first. */
  async contenders(options: CallOptions = {}): Promise<ContenderInfo[]> {
    checkCall('contenders', options)
    return await within(this.#queue, 'contenders', options, (limited) => this.#queue.contenders(limited))
  }
}
