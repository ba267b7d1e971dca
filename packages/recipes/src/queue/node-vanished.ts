import { KeeperError } from '@zk/client'

/** Our node has vanished during the wait: another client deleted it, or we left. */
export class NodeVanished extends Error {}

export function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}
