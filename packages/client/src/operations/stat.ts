import type { Stat as WireStat } from '@zk/wire'

/** A znode's Stat. As on the wire, with `ctime` and `mtime` as numbers: milliseconds since the epoch. */
export type Stat = Readonly<Omit<WireStat, 'ctime' | 'mtime'> & Record<'ctime' | 'mtime', number>>

export function toStat(stat: WireStat): Stat {
  return { ...stat, ctime: Number(stat.ctime), mtime: Number(stat.mtime) }
}
