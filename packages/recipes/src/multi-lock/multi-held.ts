import type { ZooKeeper } from '@zk/client'
import { Held } from '../held/held.ts'
import type { Owner } from '../queue/owners.ts'
import type { HoldTerms } from '../lease/hold-options.ts'
import type { Lease } from '../lease/lease.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'

/** The locks of a `MultiLock`. They are held together: all are released together, and all are lost when the node of one is gone. */
export class MultiHeld extends Held {
  /** The token of each path. All nodes were created in one transaction, so all tokens are equal to `fencingToken`. */
  readonly fencingTokens: ReadonlyMap<string, bigint>

  /** @internal */
  constructor(zk: ZooKeeper, owner: Owner, nodes: ContenderNodes, lease: Lease, terms: HoldTerms) {
    super(zk, owner, nodes, lease, terms, 'multi')
    this.fencingTokens = new Map(nodes.map(({ folder, czxid }) => [folder.recipePath, czxid]))
  }

  /** For logs: the token as text, and the paths of all nodes. */
  override toJSON(): object {
    return { ...super.toJSON(), paths: this.paths }
  }
}
