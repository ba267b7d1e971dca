import { operations } from '@zk/wire'
import { optionNames } from '../options.ts'
import { versionIn } from './arguments.ts'
import type { Operation } from './operation.ts'

/** The version that a write or a check needs: that of the data, or, in `setACL`, of the ACL. */
export interface VersionOptions {
  /** The node must have this version. Otherwise the call rejects with `BadVersion`. -1 for any. @default -1 */
  version?: number | undefined
}

type Args = [path: string, options: VersionOptions]

/** Checks the options of an operation on one version of a node. */
export const versionOption = { known: optionNames('version'), example: '{ version: 3 }' } as const

export const deleteNode: Operation<Args, typeof operations.delete, void> = {
  name: 'delete',
  options: versionOption,
  wire: operations.delete,
  encode: (chroot, path, options) => ({ path: chroot.absolute(path), version: versionIn(options) }),
  result: () => undefined,
}
