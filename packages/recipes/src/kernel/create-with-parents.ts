import { type CallOptions, type Created, type CreateOptions, type Data, KeeperError, type ZooKeeper } from '@zk/client'

/**
 * Creates a node, and what is missing above it. Such a create of the client rejects with `NoNode` when its time is up before the
 * nodes above exist, for instance after the process was suspended. Then nothing was created, and the create is repeated.
 */
export async function createWithParents(
  zk: ZooKeeper,
  path: string,
  data: Data,
  options: CreateOptions & CallOptions,
): Promise<Created> {
  for (;;) {
    try {
      return await zk.create(path, data, { ...options, parents: true })
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode')) throw error
    }
  }
}
