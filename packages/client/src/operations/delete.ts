import { operations } from '@zk/wire'
import { optionNames } from './call-options.ts'
import { versionIn } from '../base/arguments.ts'
import type { Operation } from './operation.ts'

/** The version that the node must have for a write or a check: that of its data, or, in `setACL`, that of its ACL. */
export interface VersionOptions {
  /** The node must have this version. Otherwise the call rejects with `BadVersion`. -1 means any. @default -1 */
  version?: number | undefined
}

type Args = [path: string, options: VersionOptions]

/** The options of an operation that takes a version. */
export const versionOption = {
  known: optionNames('version'),
  inMulti: ['version'],
  example: '{ version: 3 }',
} as const

export const deleteNode: Operation<Args, typeof operations.delete, void> = {
  name: 'delete',
  options: versionOption,
  wire: operations.delete,
  encode: (chroot, path, options) => ({ path: chroot.absolute(path), version: versionIn(options) }),
  result: () => undefined,
}
