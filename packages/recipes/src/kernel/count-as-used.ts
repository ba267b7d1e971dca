import { type CallOptions, op, type ZooKeeper } from '@zk/client'
import { settled } from './promises.ts'
import { retry } from './retry.ts'

/**
 * Lets servers delete these containers, which were created for nothing: they delete only containers that had a child
 * (`ContainerManager`). A child that is created and deleted in one transaction is enough, and no other client sees it. `name` is
 * the name of the child.
 */
export async function countAsUsed(
  zk: ZooKeeper,
  containers: readonly string[],
  name: string,
  options: CallOptions,
): Promise<void> {
  const using = containers.map((path) => {
    const child = `${path}/${name}`
    // This fails if the container is gone, if the client may not create there, or if the session is over.
    return settled(retry(zk, () => zk.multi([op.create(child), op.delete(child)], options)))
  })
  await Promise.all(using)
}
