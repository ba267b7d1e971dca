import { operations } from '@zk/wire'
import { type Stat, toStat } from './stat.ts'
import type { WatchKind } from '../session/watches/watchers.ts'
import type { Operation } from './operation.ts'

type Exists = Operation<[path: string], typeof operations.exists, Stat | undefined>

export const exists: Exists = {
  name: 'exists',
  wire: operations.exists,
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: false }),
  result: ({ stat }) => toStat(stat),
  answers: { NoNode: () => undefined },
}

export const existsAndWatch: Exists & { watch: WatchKind } = {
  ...exists,
  name: 'existsAndWatch',
  watch: 'exist',
  // `watch` is a placeholder: the session decides when it sends the request (`Request.askForWatch`).
  encode: (chroot, path) => ({ path: chroot.absolute(path), watch: true }),
}
