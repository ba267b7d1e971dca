import { operations } from '@zk/wire'
import type { Operation } from './operation.ts'

type Read = Operation<[path: string], typeof operations.getAllChildrenNumber, number>

export const getAllChildrenNumber: Read = {
  name: 'getAllChildrenNumber',
  wire: operations.getAllChildrenNumber,
  encode: (chroot, path) => ({ path: chroot.absolute(path) }),
  result: ({ totalNumber }) => totalNumber,
}
