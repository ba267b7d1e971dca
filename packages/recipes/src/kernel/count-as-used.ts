import { type CallOptions, KeeperError, op, type Stat, type ZooKeeper } from '@zk/client'
import { parentOf } from './paths.ts'
import { settled } from './promises.ts'
import { retry } from './retry.ts'

/**
 * Lets servers delete these containers, which were created for nothing, and the ones above them: servers delete only containers that
 * had a child (`ContainerManager`). A child that is created and deleted in one transaction is enough, and no read shows it.
 * `name` is the name of the child.
 */
export async function countAsUsed(
  zk: ZooKeeper,
  containers: readonly string[],
  name: string,
  options: CallOptions,
): Promise<void> {
  // This fails if the client may not create there, if a quota allows no child, or if the session is over.
  await Promise.all(containers.map((path) => settled(use(zk, path, name, options))))
}

async function use(zk: ZooKeeper, path: string, name: string, options: CallOptions): Promise<void> {
  const child = `${path}/${name}`
  try {
    await retry(zk, () => zk.multi([op.create(child), op.delete(child)], options))
  } catch (error) {
    if (!KeeperError.is(error, 'NoNode')) throw error
    await useAbove(zk, path, name, options)
  }
}

/** The container is gone, or the creates stopped above it: then the last one that was created has no child. */
async function useAbove(zk: ZooKeeper, path: string, name: string, options: CallOptions): Promise<void> {
  const above = parentOf(path)
  if (above === '/') return
  const stat = await retry(zk, () => zk.exists(above, options))
  if (stat === undefined) await useAbove(zk, above, name, options)
  else if (isUnused(stat)) await use(zk, above, name, options)
}

/** Whether it may be a container that never had a child: a Stat does not tell a container from a persistent node. */
const isUnused = (stat: Stat | undefined) =>
  stat?.cversion === 0 && stat.version === 0 && stat.dataLength === 0 && stat.ephemeralOwner === 0n
