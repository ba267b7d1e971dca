import type { ACL } from '@zk/client'

/** The ACL of the nodes that a recipe creates. */
export interface ACLOptions {
  /**
   * The ACL of all nodes that the recipe creates, the path and missing nodes above it included. It must grant READ, CREATE and DELETE to
   * all programs that use the recipe, for a counter WRITE, too. Nodes that exist keep their ACL. To set or remove a barrier takes CREATE
   * or DELETE on the node above its path. Clients that may not read a member's node see the member without data.
   * @default OPEN_ACL_UNSAFE
   */
  acl?: readonly ACL[] | undefined
}
