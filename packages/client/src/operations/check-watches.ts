import { operations, WatcherType } from '@zk/wire'
import type { Operation } from './operation.ts'
import { type RemovableWatches, removedWatches } from './remove-watches.ts'

type Args = [path: string, type: RemovableWatches]

export const checkWatches: Operation<Args, typeof operations.checkWatches, boolean> = {
  name: 'checkWatches',
  wire: operations.checkWatches,
  encode: (chroot, path, type) => {
    removedWatches(type)
    return { path: chroot.absolute(path), type: WatcherType[type] }
  },
  result: () => true,
  answers: { NoWatcher: () => false },
}
