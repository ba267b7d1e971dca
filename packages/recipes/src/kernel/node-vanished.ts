import { KeeperError } from '@zk/client'

/** Our node does not exist any more: another client deleted it, or the contender has left. */
export class NodeVanished extends Error {}

export function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}
