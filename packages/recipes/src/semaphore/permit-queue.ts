// The queue of a semaphore: below `locks`, in Curator's mutex.
import { type EnsureOptions, KeeperError, type Session } from '@zk/client'
import { failuresOf, throwIfAborted } from '@zk/client/internal'
import { parentOf } from '../kernel/paths.ts'
import { Queue } from '../queue/queue.ts'
import type { Role } from '../queue/roles.ts'
import type { Leases } from './leases.ts'
import type { StoredPermits } from './stored-permits.ts'

export class PermitQueue extends Queue {
  readonly #stored: StoredPermits
  readonly #leases: Leases

  constructor({ kinds }: Role, leases: Leases, stored: StoredPermits) {
    super(leases.zk, `${leases.recipePath}/locks`, kinds, leases.recipePath)
    this.#leases = leases
    this.#stored = stored
  }

  /**
   * Creates the node above, which stores the number, and `locks` and `leases` below it, in one segment. If that fails, they are
   * created one by one. The node above is never a container, because servers would delete it with the number.
   */
  override async make(options: EnsureOptions & { readonly session: Session }): Promise<void> {
    const { zk, recipePath } = this
    const creations = [
      zk.ensureContainer(parentOf(recipePath), options),
      this.#stored.store(options),
      zk.create(this.path, '', { mode: 'CONTAINER', ...options }),
      this.#leases.make(options),
    ]
    const failures = await failuresOf(creations)
    if (failures.every((failure) => failure === undefined || KeeperError.is(failure.error, 'NodeExists'))) return
    throwIfAborted(options.session.signal)
    throwIfAborted(options.signal)
    await this.#stored.agree(options.session, 1, () => throwIfAborted(options.signal))
    await super.make(options)
  }
}
