// What programs see of a mirror: nodes, and how they change.
import type { Stat } from '@zk/client'
import { fieldsInJson } from '@zk/client/internal'

/**
 * The part of a node's Stat that a mirror keeps: the fields that are written with the data. The other fields change without an
 * event of the node. `ephemeralOwner` is 0 for a node without a session.
 */
export type MirroredStat = Pick<
  Stat,
  'czxid' | 'mzxid' | 'ctime' | 'mtime' | 'version' | 'ephemeralOwner' | 'dataLength'
>

/** This is a class, so that `toJSON` does not make `get` slower. */
class NodeStat implements MirroredStat {
  readonly czxid: bigint
  readonly mzxid: bigint
  readonly ctime: number
  readonly mtime: number
  readonly version: number
  readonly ephemeralOwner: bigint
  readonly dataLength: number

  constructor(stat: MirroredStat) {
    this.czxid = stat.czxid
    this.mzxid = stat.mzxid
    this.ctime = stat.ctime
    this.mtime = stat.mtime
    this.version = stat.version
    this.ephemeralOwner = stat.ephemeralOwner
    this.dataLength = stat.dataLength
  }

  toJSON(): object {
    return fieldsInJson(this)
  }
}

const utf8 = new TextDecoder()

/** A node of a mirror, as it was when it was read. In JSON its data is text, and its numbers of 64 bits are `0x…`. */
export class MirroredNode {
  /** The path of the node. */
  readonly path: string
  /** A copy of its data; undefined if this client may not read it. */
  readonly data: Uint8Array | undefined
  /** When and by which transactions it was created and written. */
  readonly stat: MirroredStat

  /** @internal */
  constructor(path: string, data: Uint8Array | undefined, stat: MirroredStat) {
    this.path = path
    this.data = data
    this.stat = new NodeStat(stat)
  }

  /** The data as text; undefined if this client may not read it. */
  get text(): string | undefined {
    return this.data && utf8.decode(this.data)
  }

  /** For logs. */
  toJSON(): object {
    const { path, text, stat } = this
    return { path, text, stat }
  }
}

/** A node is in the mirror that was not in it before. Its parent was added before it. */
export interface Added {
  /** Distinguishes the changes. */
  readonly type: 'Added'
  /** The path of the node. */
  readonly path: string
  /** The node. */
  readonly node: MirroredNode
}

/**
 * A node was written, or deleted and created again: then `node.stat.czxid` differs from `old.stat.czxid`. Or this client has
 * gained or lost the right to read its data.
 */
export interface Changed {
  /** Distinguishes the changes. */
  readonly type: 'Changed'
  /** The path of the node. */
  readonly path: string
  /** The node as it was yielded before. */
  readonly old: MirroredNode
  /** The node now. */
  readonly node: MirroredNode
}

/** A node is no longer in the mirror. The nodes below it were removed before it. */
export interface Removed {
  /** Distinguishes the changes. */
  readonly type: 'Removed'
  /** The path of the node. */
  readonly path: string
  /** The node as it was yielded before. */
  readonly old: MirroredNode
}

/**
 * The changes before this are the complete content. It comes after the initial content, and each time a stale mirror is complete again.
 */
export interface Ready {
  /** Distinguishes this from the changes. */
  readonly type: 'Ready'
}

/** What `watchChanges` yields. */
export type MirrorChange = Added | Changed | Removed | Ready
