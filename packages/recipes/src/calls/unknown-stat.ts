import type { Stat } from '@zk/client'

/**
 * In place of the Stat of a node that exists. From 3.8.6 and 3.9.5 on a server does not show it to a client that may not read the
 * node: `exists` fails with `NoAuth` (ZOOKEEPER-2590). Servers before show it to every client.
 */
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
