import {
  type ACL,
  type CallOptions,
  type Created,
  type CreateOptions,
  type Data,
  KeeperError,
  type ParentsOptions,
  type ZooKeeper,
} from '@zk/client'

/**
 * The option `parents` of a recipe with this ACL: missing nodes get it, too. Otherwise everyone could delete the nodes below them,
 * and create others in their place.
 */
export function parentsWith(acl: readonly ACL[] | undefined): NonNullable<ParentsOptions['parents']> {
  return acl === undefined || { acl }
}

/**
 * Creates a node, and what is missing above it, all with the same ACL. Such a create of the client rejects with `NoNode` when
 * its time is up before the nodes above exist, for instance after the process was suspended. Then nothing was created, and
 * the create is repeated.
 */
export async function createWithParents(
  zk: ZooKeeper,
  path: string,
  data: Data,
  options: CreateOptions & CallOptions,
): Promise<Created> {
  for (;;) {
    try {
      return await zk.create(path, data, { ...options, parents: parentsWith(options.acl) })
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode')) throw error
    }
  }
}
