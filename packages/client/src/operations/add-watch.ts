import { AddWatchMode, operations } from '@zk/wire'
import type { Operation } from './operation.ts'

type AddWatch = Operation<[path: string], typeof operations.addWatch, void>

export const addWatch: AddWatch = {
  name: 'watch',
  wire: operations.addWatch,
  // The mode is a placeholder. The session writes the real mode when it sends the request: by then the path may need the wider
  // mode (`modeFor`).
  encode: (chroot, path) => ({ path: chroot.absolute(path), mode: AddWatchMode.PERSISTENT }),
  result: () => undefined,
}
