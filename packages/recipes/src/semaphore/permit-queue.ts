// The queue of a semaphore: below `locks`, in Curator's mutex.
import type { CallOptions, Session, ZooKeeper } from '@zk/client'
import { Queue } from '../queue/queue.ts'
import type { Role } from '../queue/roles.ts'
import type { StoredPermits } from './stored-permits.ts'

export class PermitQueue extends Queue {
  readonly #stored: StoredPermits

  constructor(zk: ZooKeeper, recipePath: string, { kinds }: Role, stored: StoredPermits) {
    super(zk, `${recipePath}/locks`, kinds, recipePath)
    this.#stored = stored
  }

  /** The node above stores the number. It is created first: if it were a container, servers would delete it with the number. */
  override async make(options: CallOptions & { readonly session: Session }): Promise<void> {
    await this.#stored.agree(options.session, 1)
    await super.make(options)
  }
}
