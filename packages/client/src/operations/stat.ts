import { type Reader, record, type RecordType, Stat as WireStat, type Type } from '@zk/wire'
import { fieldsInJson } from '../base/in-json.ts'

/** The Stat of a node. `ctime` and `mtime` are in ms since the epoch. In JSON zxids and `ephemeralOwner` are text: `0x…`. */
export type Stat = Readonly<Omit<WireStat, 'ctime' | 'mtime'> & Record<'ctime' | 'mtime', number>>

export function toStat(stat: WireStat | Stat): Stat {
  if (stat instanceof NodeStat) return stat
  const times = { ctime: Number(stat.ctime), mtime: Number(stat.mtime) }
  return Object.assign(Object.create(NodeStat.prototype) as Stat, stat, times)
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

  constructor(reader: Reader) {
    this.czxid = reader.long()
    this.mzxid = reader.long()
    this.ctime = readTime(reader)
    this.mtime = readTime(reader)
    this.version = reader.int()
    this.cversion = reader.int()
    this.aversion = reader.int()
    this.ephemeralOwner = reader.long()
    this.dataLength = reader.int()
    this.numChildren = reader.int()
    this.pzxid = reader.long()
  }

  toJSON(): object {
    return fieldsInJson(this)
  }
}

const readTime = (reader: Reader) => reader.int() * 2 ** 32 + (reader.int() >>> 0)

/** If the Stat is cut short, the record of the wire throws an error that names the missing field. */
export const nodeStat: Type<WireStat | Stat> = {
  ...WireStat,
  read: (reader) => (reader.remaining < WireStat.minSize ? WireStat.read(reader) : new NodeStat(reader)),
}

/**
 * The same operation, in whose replies `toStat` finds the Stat as callers get it. For calls: a read of a small node allocates
 * 7 % less than with both Stats.
 */
export function withStat<W extends { readonly response: RecordType<{ readonly stat: Type<WireStat> }> }>(wire: W): W {
  const { name, fields } = wire.response
  return { ...wire, response: record(name, { ...fields, stat: nodeStat }) }
}
