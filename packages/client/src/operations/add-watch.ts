import { AddWatchMode, operations } from '@zk/wire'
import type { Operation } from './operation.ts'

type AddWatch = Operation<[path: string], typeof operations.addWatch, void>

export const addWatch: AddWatch = {
  name: 'watch',
  wire: operations.addWatch,
  // The session sets the mode when it sends the request: a path may have watchers of both modes.
  encode: (chroot, path) => ({ path: chroot.absolute(path), mode: AddWatchMode.PERSISTENT }),
  result: () => undefined,
}
