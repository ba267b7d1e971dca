import { operations } from '@zk/wire'
import { versionIn } from './arguments.ts'
import type { Operation } from './operation.ts'

/** Which version a write, or a check, is for: that of the data, of the ACL in `setACL`. */
export interface VersionOptions {
  /** Only if the node has this version, else it is refused with `BadVersion`; -1 for any. @default -1 */
  version?: number | undefined
}

type Args = [path: string, options: VersionOptions]

export const deleteNode: Operation<Args, typeof operations.delete, void> = {
  name: 'delete',
  wire: operations.delete,
  encode: (chroot, path, options) => ({ path: chroot.absolute(path), version: versionIn(options) }),
  result: () => undefined,
}
