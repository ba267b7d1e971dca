import type { ACL, Stat } from '@zk/wire'
import { CONTAINER_OWNER, isSession } from './ephemeral-type.ts'
import { JavaHashSet } from './java-hash-set.ts'

/** The first values of the fields of a `DataNode` that do not begin at 0. */
export interface NewNode {
  readonly data: Uint8Array | null
  readonly acl: readonly ACL[]
  readonly zxid: bigint
  /** In ms since the epoch. */
  readonly time: number
  readonly ephemeralOwner: bigint
}

/** A node as the server stores it. Clients see its `toStat`. */
export class DataNode {
  data: Uint8Array | null
  acl: readonly ACL[]
  readonly czxid: bigint
  mzxid: bigint
  pzxid: bigint
  readonly ctime: bigint
  mtime: bigint
  version = 0
  /** How many children were ever created. The next sequential child gets this number. */
  cversion = 0
  aversion = 0
  /** 0, the session of an ephemeral node, or the mark of a container or of a TTL. */
  readonly ephemeralOwner: bigint
  /** undefined until the first child: most nodes never have one. */
  #children: JavaHashSet | undefined

  constructor({ data, acl, zxid, time, ephemeralOwner }: NewNode) {
    this.data = data
    this.acl = acl
    this.czxid = this.mzxid = this.pzxid = zxid
    this.ctime = this.mtime = BigInt(time)
    this.ephemeralOwner = ephemeralOwner
  }

  get isContainer(): boolean {
    return this.ephemeralOwner === CONTAINER_OWNER
  }

  /** The names of the children, without the path of this node. */
  get children(): ReadonlySet<string> {
    return this.#children ?? NO_NAMES
  }

  get dataLength(): number {
    return this.data?.byteLength ?? 0
  }

  get childCount(): number {
    return this.#children?.size ?? 0
  }

  /** The names in the order in which clients get them. */
  listChildren(): string[] {
    return this.#children?.inOrder() ?? []
  }

  addChild(name: string): void {
    // DataNode.addChild makes a set with the capacity 8.
    this.#children ??= new JavaHashSet(8)
    this.#children.add(name)
  }

  removeChild(name: string): void {
    this.#children?.delete(name)
  }

  copy(): DataNode {
    const { data, acl, czxid, ephemeralOwner } = this
    const copy = new DataNode({ data, acl, zxid: czxid, time: Number(this.ctime), ephemeralOwner })
    copy.mzxid = this.mzxid
    copy.pzxid = this.pzxid
    copy.mtime = this.mtime
    copy.version = this.version
    copy.cversion = this.cversion
    copy.aversion = this.aversion
    copy.#children = this.#children?.copy()
    return copy
  }
}

/** The Stat that clients see (DataNode.copyStat). */
export function toStat(node: DataNode): Stat {
  const { czxid, mzxid, ctime, mtime, version, aversion, pzxid, childCount } = node
  return {
    czxid,
    mzxid,
    ctime,
    mtime,
    version,
    // The server stores how many children were created. Clients see the number of changes: the creations of all children,
    // and the deletions of those that are gone.
    cversion: (Math.imul(node.cversion, 2) - childCount) | 0,
    aversion,
    // Clients cannot see that a node is a container, or has a TTL.
    ephemeralOwner: isSession(node.ephemeralOwner) ? node.ephemeralOwner : 0n,
    dataLength: node.dataLength,
    numChildren: childCount,
    pzxid,
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()
