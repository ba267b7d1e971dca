import type { ZooKeeper } from '@zk/client'
import { Held } from '../held/held.ts'
import type { Owner } from '../queue/owners.ts'
import type { HoldTerms } from '../lease/hold-options.ts'
import type { Lease } from '../lease/lease.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'

/**
 * Permits of a `Semaphore`. They are held together: all are released together, and all are lost when the node of one is gone.
 *
 * The fencing token rises with every grant of the semaphore. Several holders have permits at the same time, so a resource that
 * they share cannot refuse all lower tokens. A resource that belongs to one permit (a shard) can: a permit has one holder at a time.
 */
export class SemaphoreHeld extends Held {
  /** Which permits: numbers from 0 on, smallest first. No two holders have the same at the same time. */
  readonly permits: readonly number[]

  /** @internal */
  constructor(zk: ZooKeeper, owner: Owner, nodes: ContenderNodes, lease: Lease, terms: HoldTerms) {
    super(zk, owner, nodes, lease, terms)
    this.permits = nodes.map(({ name }) => name.sequence).sort((one, other) => one - other)
  }

  /** The first of `permits`: the only one, unless several were acquired. */
  get permit(): number {
    return this.permits[0]!
  }

  /** How many permits. */
  get count(): number {
    return this.permits.length
  }

  /** For logs: the token as text, and the permits. */
  override toJSON(): object {
    return { ...super.toJSON(), permits: this.permits }
  }
}
