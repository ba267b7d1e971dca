import { operations } from '@zk/wire'
import { optionNames } from '../options.ts'
import { versionIn } from './arguments.ts'
import type { Operation } from './operation.ts'

/** Which version a write, or a check, is for: that of the data, of the ACL in `setACL`. */
export interface VersionOptions {
  /** Only if the node has this version, else it is refused with `BadVersion`; -1 for any. @default -1 */
  version?: number | undefined
}

type Args = [path: string, options: VersionOptions]

/** For an operation on one version of a node. */
export const versionOption = { known: optionNames('version'), example: '{ version: 3 }' } as const

export const deleteNode: Operation<Args, typeof operations.delete, void> = {
  name: 'delete',
  options: versionOption,
  wire: operations.delete,
  encode: (chroot, path, options) => ({ path: chroot.absolute(path), version: versionIn(options) }),
  result: () => undefined,
}
