// The simplest lock in books: the client that creates the one ephemeral node holds the lock, and all others watch the node.
// It excludes, but a release wakes all waiting clients: the fastest gets the lock, and they have no order.
import { KeeperError, type ZooKeeper } from '@zk/recipes'

export type Release = () => Promise<void>

/** Resolves when the lock is held. Calls `waiting` whenever another client holds the lock and its node is watched. */
export async function acquireSingleNode(zk: ZooKeeper, path: string, waiting = () => {}): Promise<Release> {
  for (;;) {
    try {
      await zk.create(path, '', { mode: 'EPHEMERAL' })
      return () => zk.delete(path)
    } catch (error) {
      // (After another error, above all a lost connection, the node may exist or not: this is the difficult part of a lock.)
      if (!KeeperError.is(error, 'NodeExists')) throw error
    }
    const { stat, changed, unwatch } = await zk.existsAndWatch(path)
    if (stat === undefined) {
      await unwatch()
      continue
    }
    waiting()
    await changed
  }
}
