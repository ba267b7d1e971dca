// The simplest lock of the literature: whoever creates the one ephemeral node holds it, and everybody else watches it. It
// excludes; but a release wakes all who wait, and whoever is quickest gets it: nobody knows when it will be one's turn.
import { KeeperError, type ZooKeeper } from '@zk/recipes'

export type Release = () => Promise<void>

/** Resolves when it is held. `waiting` is called whenever somebody else holds it and is watched. */
export async function acquireSingleNode(zk: ZooKeeper, path: string, waiting = () => {}): Promise<Release> {
  for (;;) {
    try {
      await zk.create(path, '', { mode: 'EPHEMERAL' })
      return () => zk.delete(path)
    } catch (error) {
      // (Any other error, a lost connection above all, leaves open whether the node is there: that is a lock's real work.)
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
