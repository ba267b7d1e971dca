import type { Stat as WireStat } from '@zk/wire'
import { fieldsInJson } from '../base/in-json.ts'

/** The Stat of a node. `ctime` and `mtime` are in ms since the epoch. In JSON zxids and `ephemeralOwner` are text: `0x…`. */
export type Stat = Readonly<Omit<WireStat, 'ctime' | 'mtime'> & Record<'ctime' | 'mtime', number>>

export function toStat(stat: WireStat): Stat {
  return new NodeStat(stat)
}

/** A class, so that `toJSON` costs a read nothing. Each field is written out for speed: nearly every reply has a Stat. */
class NodeStat implements Stat {
  readonly czxid: bigint
  readonly mzxid: bigint
  readonly ctime: number
  readonly mtime: number
  readonly version: number
  readonly cversion: number
  readonly aversion: number
  readonly ephemeralOwner: bigint
  readonly dataLength: number
  readonly numChildren: number
  readonly pzxid: bigint

  constructor(stat: WireStat) {
    this.czxid = stat.czxid
    this.mzxid = stat.mzxid
    this.ctime = Number(stat.ctime)
    this.mtime = Number(stat.mtime)
    this.version = stat.version
    this.cversion = stat.cversion
    this.aversion = stat.aversion
    this.ephemeralOwner = stat.ephemeralOwner
    this.dataLength = stat.dataLength
    this.numChildren = stat.numChildren
    this.pzxid = stat.pzxid
  }

  toJSON(): object {
    return fieldsInJson(this)
  }
}
