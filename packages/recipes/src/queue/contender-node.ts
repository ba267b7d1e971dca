// A node of a contender: its place in a queue, or a permit that it has.
import type { Session, ZooKeeper } from '@zk/client'
import { OwnedNode } from '../kernel/owned-node.ts'
import { report } from './diagnostics.ts'
import type { ContenderName } from './names.ts'

/** The parent of contenders' nodes: a `Queue` is one. */
export interface Folder {
  readonly zk: ZooKeeper
  /** The path that users know: the path of the recipe. */
  readonly recipePath: string
  pathOf(name: string): string
}

/** All nodes of a grant, created by one transaction. Usually there is one. */
export type ContenderNodes = readonly [ContenderNode, ...ContenderNode[]]

export class ContenderNode extends OwnedNode {
  readonly name: ContenderName
  /** The fencing token. */
  readonly czxid: bigint
  readonly folder: Folder

  constructor(folder: Folder, session: Session, name: ContenderName, czxid: bigint) {
    super(folder.zk, session, folder.pathOf(name.name))
    this.name = name
    this.czxid = czxid
    this.folder = folder
  }

  /** Reads a node of this name, in the session `asking`; undefined if it is gone, or another session owns it. */
  static async find(
    folder: Folder,
    session: Session,
    name: ContenderName,
    asking: Session,
  ): Promise<ContenderNode | undefined> {
    const stat = await new OwnedNode(folder.zk, session, folder.pathOf(name.name)).find(asking)
    return stat && new ContenderNode(folder, session, name, stat.czxid)
  }

  protected override orphaned(error: unknown): void {
    const { path: node, folder, name } = this
    report(this.zk, 'zk:orphan', name.kind.name, () => ({ path: folder.recipePath, node, error }))
  }

  protected override get consequence(): string {
    return `${super.consequence}, and every contender behind it waits`
  }
}
