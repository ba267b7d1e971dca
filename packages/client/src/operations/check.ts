import { operations } from '@zk/wire'
import { versionIn } from '../base/arguments.ts'
import { versionOption, type VersionOptions } from './delete.ts'
import type { Operation } from './operation.ts'

/** Checks the version of a node, as a part of a multi. */
export const check: Operation<[path: string, options: VersionOptions], typeof operations.check, void> = {
  name: 'check',
  options: versionOption,
  wire: operations.check,
  encode: (chroot, path, options) => ({ path: chroot.absolute(path), version: versionIn(options) }),
  result: () => undefined,
}
