import { operations } from '@zk/wire'
import { checkVersion } from './arguments.ts'
import type { Operation } from './operation.ts'

export interface VersionOptions {
  /** Only if the node has this version; -1 for any. @default -1 */
  readonly version?: number
}

type Args = [path: string, options: VersionOptions]

export const deleteNode: Operation<Args, typeof operations.delete, void> = {
  name: 'delete',
  wire: operations.delete,
  encode: (chroot, path, { version = -1 }) => ({ path: chroot.absolute(path), version: checkVersion(version) }),
  result: () => undefined,
}
