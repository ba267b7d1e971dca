// A queue of ephemeral sequential nodes, like ours, but each waiting contender watches the list. It is fair, but a herd:
// each release wakes all contenders, and each of them reads the whole list only to find that it is not its turn.
import type { ZooKeeper } from '@zk/recipes'
import type { Release } from './single-node-lock.ts'

/** Resolves when the lock is held. Awaits `entered` after its create, and calls `waiting` whenever it waits. */
export async function acquireWatchingParent(
  zk: ZooKeeper,
  parent: string,
  waiting = () => {},
  entered: () => void | Promise<void> = () => {},
): Promise<Release> {
  const { path: own } = await zk.create(`${parent}/lock-`, '', { mode: 'EPHEMERAL_SEQUENTIAL' })
  await entered()
  for (;;) {
    const { children, changed, unwatch } = await zk.getChildrenAndWatch(parent)
    const [first] = children.toSorted()
    if (`${parent}/${first}` === own) {
      await unwatch()
      return () => zk.delete(own)
    }
    waiting()
    await changed
  }
}
