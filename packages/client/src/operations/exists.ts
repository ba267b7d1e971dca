import { operations } from '@zk/wire'
import { type Stat, toStat, withStat } from './stat.ts'
import { type Operation, watching } from './operation.ts'

type Exists = Operation<[path: string], typeof operations.exists, Stat | undefined>

export const exists: Exists = {
  name: 'exists',
  wire: withStat(operations.exists),
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: ({ stat }) => toStat(stat),
  answers: { NoNode: () => undefined },
}

export const existsAndWatch = watching(exists, 'exist')
