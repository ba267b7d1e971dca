import { type ACL, type CallOptions, type Data, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { logWith } from '@zk/client/internal'
import { createWithParents } from './create-with-parents.ts'
import { inCleanupSession } from './cleanup-session.ts'
import { ifMissing } from './if-missing.ts'
import { NodeVanished } from './sessions.ts'
import { pinnedTo, retry } from './retry.ts'
import { SessionOptions } from './session-options.ts'

/** An ephemeral node of one session. Its name has a uuid, so it is created once, even if replies are lost. */
export class EphemeralNode {
  readonly session: Session
  readonly path: string
  readonly #zk: ZooKeeper

  constructor(zk: ZooKeeper, prefix: string) {
    this.session = zk.session
    this.path = `${prefix}${zk.runtime.uuid()}`
    this.#zk = zk
  }

  /** Creates the node, and resolves with its czxid. The call may be repeated after a failure. */
  async create(data: Data, acl: readonly ACL[] | undefined, parents = false): Promise<bigint> {
    const pinned = pinnedTo(this.session)
    try {
      const options = { mode: 'EPHEMERAL', acl, ...pinned } as const
      const { stat } = parents
        ? await createWithParents(this.#zk, this.path, data, options)
        : await this.#zk.create(this.path, data, options)
      return stat.czxid
    } catch (error) {
      // An earlier create was not answered.
      if (!KeeperError.is(error, 'NodeExists')) throw error
      const stat = await retry(this.#zk, () => this.#zk.exists(this.path, pinned))
      if (stat === undefined) throw new NodeVanished()
      return stat.czxid
    }
  }

  /** Deletes it, and repeats this until it is confirmed or a server has ended the session: see `cleanupSessionOf`. */
  async delete(): Promise<void> {
    const deleting = (options: CallOptions) => retry(this.#zk, () => this.#zk.delete(this.path, options))
    try {
      await inCleanupSession(this.#zk, this.session, (current) =>
        ifMissing(deleting, SessionOptions.of(current).bound, undefined),
      )
    } catch (error) {
      logWith(this.#zk, 'error', 'a node cannot be deleted', () => ({ node: this.path, err: error }))
    }
  }
}
