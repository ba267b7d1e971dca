import type { Stat as WireStat } from '@zk/wire'
import type { Stat } from '../../src/operations/stat.ts'

/** A Stat whose fields all differ, as on the wire. */
export const wireStat: WireStat = {
  czxid: 1n,
  mzxid: 2n,
  ctime: 3n,
  mtime: 4n,
  version: 5,
  cversion: 6,
  aversion: 7,
  ephemeralOwner: 8n,
  dataLength: 9,
  numChildren: 10,
  pzxid: 11n,
}

/** The same, as the client gives it. */
export const stat: Stat = { ...wireStat, ctime: 3, mtime: 4 }
