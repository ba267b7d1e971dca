// The simplest lock of the literature: the client that creates the one ephemeral node holds it, and all others watch it. It
// excludes; but a release wakes all waiting clients, the quickest gets the lock, and no client has a place in an order.
import { KeeperError, type ZooKeeper } from '@zk/recipes'

export type Release = () => Promise<void>

/** Resolves when it is held. `waiting` is called whenever another client holds it and is watched. */
export async function acquireSingleNode(zk: ZooKeeper, path: string, waiting = () => {}): Promise<Release> {
  for (;;) {
    try {
      await zk.create(path, '', { mode: 'EPHEMERAL' })
      return () => zk.delete(path)
    } catch (error) {
      // (After any other error, above all a lost connection, the node may exist or not: this is the difficult part of a lock.)
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
