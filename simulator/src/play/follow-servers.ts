import { KeeperError, type ZooKeeper } from '@zk/client'

/** As a program does that goes on without this: the session may be over, or no server may be listed. */
export function followServers(zk: ZooKeeper): void {
  zk.followServers().catch((error: unknown) => {
    if (!KeeperError.is(error)) throw error
  })
}
