// A queue of ephemeral sequential nodes, like ours, but every waiting contender watches the list: fair, and a herd. Each
// release wakes all of them, and each reads the whole list only to find that it is not its turn.
import type { ZooKeeper } from '@zk/recipes'
import type { Release } from './single-node-lock.ts'

/** Resolves when it is held. `entered` is awaited between its create and its first read; `waiting` is as in single-node-lock.ts. */
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
