import type { Stat } from '../src/index.ts'

/** A Stat whose fields all differ. */
export const stat: Stat = {
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
