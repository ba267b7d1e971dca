import { operations } from '@zk/wire'
import type { Operation } from './operation.ts'

type Sync = Operation<[path: string], typeof operations.sync, void>

export const sync: Sync = {
  name: 'sync',
  wire: operations.sync,
  encode: (chroot, path) => ({ path: chroot.absolute(path) }),
  result: () => undefined,
}
