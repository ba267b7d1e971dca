import type { ACL } from '@zk/client'
import type { HoldOptions } from '../lease/hold-options.ts'
import type { QueueLockOptions } from './queue-lock.ts'

/** The options of locks and elections. */
export interface LockOptions extends HoldOptions {
  /** Shows other clients which program holds or waits: a host and a port, for instance. It is stored in the contender's node. @default '' */
  label?: string | undefined
  /**
   * The rights to the contenders' nodes. Other contenders must be able to read them. `acl` covers only these nodes. To delete one takes
   * DELETE on the path, which is created open to everyone. To keep others out, first call `zk.ensurePath(path, { acl })`.
   * @default OPEN_ACL_UNSAFE
   */
  acl?: readonly ACL[] | undefined
}

/** @internal The options of the nodes. */
export function nodeOptionsOf({ label = '', ...others }: LockOptions): QueueLockOptions {
  return { data: label, ...others }
}
