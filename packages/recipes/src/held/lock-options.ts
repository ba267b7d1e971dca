import type { ACL } from '@zk/client'
import type { HoldOptions } from '../lease/hold-options.ts'
import type { QueueLockOptions } from './queue-lock.ts'

/** The options of locks and elections. */
export interface LockOptions extends HoldOptions {
  /**
   * Shows other clients which program holds or waits: a host and a port, for instance. It is stored in the contender's node.
   * @default ''
   */
  label?: string | undefined
  /**
   * The ACL of all nodes that the recipe creates: its contenders' nodes, and the path with the nodes above it if they are missing. It
   * must grant READ, CREATE and DELETE to all contenders. Nodes that exist keep their ACL.
   * @default OPEN_ACL_UNSAFE
   */
  acl?: readonly ACL[] | undefined
}

/** @internal The options of the nodes. */
export function nodeOptionsOf({ label = '', ...others }: LockOptions): QueueLockOptions {
  return { data: label, ...others }
}
