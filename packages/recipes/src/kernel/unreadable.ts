// Nodes that this client may not read. From 3.8.4 and 3.9.2 on servers do not even tell it that such a node exists: `exists`
// fails with `NoAuth` (ZOOKEEPER-2590). Some releases do not send it events of such a node.
import { type CallOptions, KeeperError, type Runtime, type Stat, type WatchedEvent } from '@zk/client'
import { pause, wasAborted } from '@zk/client/internal'

/** The pause before such a node is read again, in ms: its event may not come. */
const LOOK_AGAIN = 2_000

/** Stands in for the Stat of such a node. */
export const unknownStat: Stat = {
  czxid: 0n,
  mzxid: 0n,
  ctime: 0,
  mtime: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
  pzxid: 0n,
}

/** Whether a read was refused. A refused read shows that the node exists. */
export function isUnreadable(error: unknown, { signal }: CallOptions): error is KeeperError {
  return KeeperError.is(error, 'NoAuth') && !wasAborted(error, signal)
}

/** Resolves with the event, or with undefined after `LOOK_AGAIN` ms or when a signal aborts. */
export async function eventOrTimeout(
  runtime: Runtime,
  changed: Promise<WatchedEvent>,
  ...signals: readonly AbortSignal[]
): Promise<WatchedEvent | undefined> {
  const looking = new AbortController()
  let event: WatchedEvent | undefined
  void changed.then((sent) => {
    event = sent
    looking.abort()
  })
  await pause(runtime, LOOK_AGAIN, looking.signal, ...signals)
  return event
}
