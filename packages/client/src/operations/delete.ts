import { DeleteRequest, OpCode, type TypeOf } from '@zk/wire'
import { checkVersion } from './arguments.ts'
import type { Operation } from './operation.ts'

export interface VersionOptions {
  /** Only if the node has this version; -1 for any. @default -1 */
  readonly version?: number
}

type Args = [path: string, options: VersionOptions]

export const deleteNode: Operation<Args, TypeOf<typeof DeleteRequest>, undefined, void> = {
  name: 'delete',
  opCode: OpCode.delete,
  kind: 'write',
  request: DeleteRequest,
  encode: (chroot, path, { version = -1 }) => ({ path: chroot.absolute(path), version: checkVersion(version) }),
  result: () => undefined,
}
