import { type CallOptions, op, type ZooKeeper } from '@zk/client'
import { settled } from './promises.ts'
import { retry } from './retry.ts'

/**
 * Lets servers delete these containers, which were made for nothing: they delete only those that had a child (`ContainerManager`).
 * One that comes and goes in a transaction is enough, and no other client sees it. `name` is that of the child.
 */
export async function countAsUsed(
  zk: ZooKeeper,
  containers: readonly string[],
  name: string,
  options: CallOptions,
): Promise<void> {
  const ops = containers.map((path) => `${path}/${name}`).flatMap((path) => [op.create(path), op.delete(path)])
  // In vain if a client may not create there, or the session is over.
  await settled(retry(zk, () => zk.multi(ops, options)))
}
