import { operations } from '@zk/wire'
import { toNames } from './children.ts'
import type { Operation } from './operation.ts'

type Read = Operation<[prefix: string], typeof operations.getEphemerals, string[]>

export const getEphemerals: Read = {
  name: 'getEphemerals',
  wire: operations.getEphemerals,
  // Servers compare text. A slash at the end excludes nodes that are beside the chroot; `sequential` allows it.
  encode: (chroot, prefix) => ({ prefixPath: chroot.absolute(prefix, { sequential: true }) }),
  result: ({ ephemerals }, chroot) =>
    toNames(ephemerals, 'GetEphemeralsResponse.ephemerals').map((path) => chroot.relative(path)),
}
