// Requests that are repeated until they are answered.
import type { CallOptions } from '@zk/client'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTransient, KeeperError, op, type ZooKeeper } from '@zk/recipes'

/** The time in ms after which no request of a client that is gone, or that gave up, takes effect any more. No fault lasts as long. */
export const LATEST = 10_000

/** Reads what was committed before the call, or later. undefined where the node is missing. */
export async function insist<T>(zk: ZooKeeper, read: (options: CallOptions) => Promise<T>): Promise<T | undefined> {
  for (;;) {
    const { session } = zk
    try {
      // A sync is not enough: a leader that lags answers it at once.
      await zk.multi([op.check('/')], { session })
      return await read({ session })
    } catch (error) {
      if (KeeperError.is(error, 'NoNode')) return undefined
      if (!isTransient(error) && !KeeperError.is(error, 'SessionExpired')) throw error
      await sleep(20)
    }
  }
}

/** The names of the children; none where the node is missing. */
export async function childrenOf(zk: ZooKeeper, path: string): Promise<readonly string[]> {
  return (await insist(zk, (options) => zk.getChildren(path, options)))?.children ?? []
}
