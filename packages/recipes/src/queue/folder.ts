import type { ZooKeeper } from '@zk/client'

/** The parent of nodes that recipes make, and delete with `deleteOwn`. */
export interface Folder {
  readonly zk: ZooKeeper
  readonly path: string
  /** What a node does that stays although its owner has left. */
  readonly harm: string
  /** The kind of the node with this name, for reports. */
  kindOf(name: string): string
}
