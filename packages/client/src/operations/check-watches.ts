import { operations, WatcherType } from '@zk/wire'
import type { Operation } from './operation.ts'
import { checkedType, type RemovableWatches } from './remove-watches.ts'

type Args = [path: string, type: RemovableWatches]

export const checkWatches: Operation<Args, typeof operations.checkWatches, boolean> = {
  name: 'checkWatches',
  wire: operations.checkWatches,
  encode: (chroot, path, type) => ({ path: chroot.absolute(path), type: WatcherType[checkedType(type)] }),
  result: () => true,
  answers: { NoWatcher: () => false },
}
