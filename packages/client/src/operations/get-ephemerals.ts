import { operations } from '@zk/wire'
import { toNames } from './children.ts'
import type { Operation } from './operation.ts'

type Read = Operation<[prefix: string], typeof operations.getEphemerals, string[]>

export const getEphemerals: Read = {
  name: 'getEphemerals',
  wire: operations.getEphemerals,
  // Servers compare the prefix as text: `/app` would also match `/app2/x`. So with the chroot `/app` the prefix `/` must
  // become `/app/`. `sequential: true` keeps a slash at the end.
  encode: (chroot, prefix) => ({ prefixPath: chroot.absolute(prefix, { sequential: true }) }),
  result: ({ ephemerals }, chroot) =>
    toNames(ephemerals, 'GetEphemeralsResponse.ephemerals').map((path) => chroot.relative(path)),
}
