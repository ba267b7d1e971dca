import type { CallOptions, ZooKeeper } from '@zk/client'
import type { Acquirable } from '../held/acquirable.ts'
import { checkRecipe, lockOptions } from '../held/checks.ts'
import { QueueLock, plainHold } from '../held/queue-lock.ts'
import type { Held } from '../held/held.ts'
import { type LockOptions, nodeOptionsOf } from '../held/lock-options.ts'
import { type ContenderInfo, Queue } from '../queue/queue.ts'
import { reader, writer } from '../queue/roles.ts'
import { WriteHeld } from './write-held.ts'

/**
 * A fair read/write lock: any number of readers, or one writer. A reader waits behind a waiting writer, so writers do not
 * starve. Its znodes are those of Curator's InterProcessReadWriteLock.
 *
 *     const shared = new SharedLock(zk, '/locks/catalogue')
 *     await shared.read.run(async (held) => { … })
 *     await shared.write.run(async (held) => { … })
 *
 * A writer can become a reader with `downgrade`. A reader cannot become a writer: two readers that both want to would wait for
 * each other. Instead release, acquire `write`, and read the data again.
 *
 * Fencing: a resource must refuse a write if its token is below any token that the resource has seen. It must refuse a read if
 * its token is below the token of any *write*.
 */
export class SharedLock {
  /** The path passed to the constructor: the parent of the contenders' nodes. */
  readonly path: string
  /** The shared side: a reader waits for the writers ahead, not for readers. Its `contenders` are those of the whole line. */
  readonly read: Acquirable<Held>
  /** The exclusive side: a writer waits for all contenders ahead. Its `contenders` are those of the whole line. */
  readonly write: Acquirable<WriteHeld>

  constructor(zk: ZooKeeper, path: string, options: LockOptions = {}) {
    checkRecipe('SharedLock', zk, path, options, lockOptions)
    this.path = path
    const queue = new Queue(zk, path, reader.kinds)
    const nodeOptions = nodeOptionsOf(options)
    this.read = QueueLock.of({ queue, role: reader }, nodeOptions, plainHold)
    this.write = QueueLock.of({ queue, role: writer }, nodeOptions, (_, ...granted) => new WriteHeld(queue, ...granted))
  }

  /** All readers and writers that hold or wait, oldest first. */
  contenders(options?: CallOptions): Promise<ContenderInfo[]> {
    return this.read.contenders(options)
  }
}
