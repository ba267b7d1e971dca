import { AddWatchMode, operations } from '@zk/wire'
import type { Operation } from './operation.ts'

type AddWatch = Operation<[path: string], typeof operations.addWatch, void>

export const addWatch: AddWatch = {
  name: 'watch',
  wire: operations.addWatch,
  // The session says which mode when it is sent: a path may have watchers of both.
  encode: (chroot, path) => ({ path: chroot.absolute(path), mode: AddWatchMode.PERSISTENT }),
  result: () => undefined,
}
