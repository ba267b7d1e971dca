// A read that shows all that was committed before it.
//
// A read alone may be answered by a server that lags. A sync is not enough either: a leader that is cut off or deposed, or lags,
// answers a sync at once, by itself. A request that must be committed cannot be answered without a quorum. Once it is
// answered, the server has executed everything that was committed earlier, and a read after it on the same connection shows that.
// The request is a check: it changes nothing. Its refusal is committed, too.
import { type CallOptions, KeeperError, op, type ZooKeeper } from '@zk/client'
import { wasAborted } from '@zk/client/internal'
import { ifMissing } from './if-missing.ts'
import { retry } from './retry.ts'

/** Sends the check, once. Rejects with `NoNode` if the node does not exist. Reads may follow it in the same segment. */
export async function committedCheck(zk: ZooKeeper, path: string, options: CallOptions): Promise<void> {
  await zk.multi([op.check(path)], options)
}

/** Resolves when a check was committed: what is read after it shows all that was committed before the call. */
export async function afterCommit(zk: ZooKeeper, path: string, options: CallOptions): Promise<void> {
  const checking = (asking: CallOptions) => retry(zk, () => committedCheck(zk, path, asking), options.signal)
  await ifMissing(checking, options, undefined).catch((error: unknown) => {
    if (wasAborted(error, options.signal) || !KeeperError.is(error, 'NoAuth')) throw error
  })
}
