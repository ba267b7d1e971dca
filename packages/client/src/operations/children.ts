import { operations } from '@zk/wire'
import { type Stat, toStat } from './stat.ts'
import { required } from './arguments.ts'
import type { WatchKind } from '../session/watches/watchers.ts'
import type { Operation } from './operation.ts'

/** The result of `getChildren`: all of it is from one moment. */
export interface Children {
  /** The names of the children, not their paths, in no order. */
  readonly children: string[]
  /** The Stat of the parent. */
  readonly stat: Stat
}

type Read = Operation<[path: string], typeof operations.getChildren2, Children>

export const getChildren: Read = {
  name: 'getChildren',
  wire: operations.getChildren2,
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: ({ children, stat }) => ({
    children: toNames(children, 'GetChildren2Response.children'),
    stat: toStat(stat),
  }),
}

export function toNames(names: readonly (string | null)[] | null, field: string): string[] {
  const all = required(names, field)
  // One pass that makes nothing: a list may have 100,000 names.
  if (all.includes(null)) required(null, field)
  return all as string[]
}

export const getChildrenAndWatch: Read & { watch: WatchKind } = {
  ...getChildren,
  name: 'getChildrenAndWatch',
  watch: 'child',
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: true }),
}
