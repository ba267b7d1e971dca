// Writes a snapshot file that a server loads at its first start. So a test can have trees that no client could make in
// reasonable time, for example one with a used-up counter.
import { buffer, encode, int, long, record, StatPersisted, ustring } from '@zk/wire'
import { FileHeader } from '@zk/wire/server'

export interface SnapshotNode {
  readonly path: string
  /** The number of the next sequential child. @default 0 */
  readonly counter?: number
}

const MAGIC = 0x5a4b534e
const VERSION = 2
/** The ACL with all rights for everyone, which servers know by this number. */
const OPEN_ACL = -1n

const Counts = record('Counts', { sessions: int, acls: int })
const TreeNode = record('TreeNode', { path: ustring, data: buffer, acl: long, stat: StatPersisted })
const End = record('End', { path: ustring })
const Seal = record('Seal', { checksum: long, path: ustring })

/** The nodes of every tree. In a snapshot the root is called ''. */
const always: readonly SnapshotNode[] = ['', '/zookeeper', '/zookeeper/config', '/zookeeper/quota'].map((path) => ({
  path,
}))

/** The snapshot of a new tree, and its path below the data directory. A parent must come before its children. */
export function snapshotFile(nodes: readonly SnapshotNode[]): { readonly name: string; readonly content: Uint8Array } {
  const body = Buffer.concat([
    encode(FileHeader, { magic: MAGIC, version: VERSION, dbid: -1n }),
    encode(Counts, { sessions: 0, acls: 0 }),
    ...[...always, ...nodes].map((node) => encode(TreeNode, treeNode(node))),
    encode(End, { path: '/' }),
  ])
  const seal = encode(Seal, { checksum: BigInt(adler32(body)), path: '/' })
  return { name: 'version-2/snapshot.0', content: Buffer.concat([body, seal]) }
}

function treeNode({ path, counter = 0 }: SnapshotNode) {
  const stat = {
    czxid: 0n,
    mzxid: 0n,
    ctime: 0n,
    mtime: 0n,
    version: 0,
    cversion: counter,
    aversion: 0,
    ephemeralOwner: 0n,
    pzxid: 0n,
  }
  return { path, data: new Uint8Array(0), acl: OPEN_ACL, stat }
}

/** The checksum of `java.util.zip.Adler32` (RFC 1950). */
function adler32(bytes: Uint8Array): number {
  let low = 1
  let high = 0
  for (const byte of bytes) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 65_536 + low
}
