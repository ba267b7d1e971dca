import { OpCode, SyncRequest, SyncResponse, type TypeOf } from '@zk/wire'
import type { Operation } from './operation.ts'

type Sync = Operation<[path: string], TypeOf<typeof SyncRequest>, TypeOf<typeof SyncResponse>, void>

export const sync: Sync = {
  name: 'sync',
  opCode: OpCode.sync,
  kind: 'neither',
  request: SyncRequest,
  response: SyncResponse,
  encode: (chroot, path) => ({ path: chroot.absolute(path) }),
  result: () => undefined,
}
