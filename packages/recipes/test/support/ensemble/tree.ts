// The znodes that one server knows, and what transactions make of them (server/DataTree.java).
import type { ACL, Stat } from '@zk/wire'

/** Never changed: a change puts another in its place, so servers may share them. */
export interface Node {
  readonly data: Uint8Array
  readonly acl: readonly ACL[]
  readonly czxid: bigint
  readonly mzxid: bigint
  readonly pzxid: bigint
  readonly ctime: number
  readonly mtime: number
  readonly version: number
  /** How many children were ever created: the number of the next sequential one. */
  readonly counter: number
  /** 0 for a node that no session owns. */
  readonly ephemeralOwner: bigint
  readonly isContainer: boolean
  readonly children: ReadonlySet<string>
}

export type Change =
  | ({ readonly type: 'created'; readonly path: string } & Pick<
      Node,
      'data' | 'acl' | 'ephemeralOwner' | 'isContainer'
    >)
  | { readonly type: 'deleted'; readonly path: string }
  | { readonly type: 'dataChanged'; readonly path: string; readonly data: Uint8Array }

/** From ZooKeeper 3.6 on the counter stays here (ZOOKEEPER-3249). */
const LAST_NUMBER = 2 ** 31 - 1

const root: Node = {
  data: new Uint8Array(0),
  acl: [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }],
  czxid: 0n,
  mzxid: 0n,
  pzxid: 0n,
  ctime: 0,
  mtime: 0,
  version: 0,
  counter: 0,
  ephemeralOwner: 0n,
  isContainer: false,
  children: new Set(),
}

export class Tree {
  readonly #nodes: Map<string, Node>

  constructor(nodes: Iterable<readonly [string, Node]> = [['/', root]]) {
    this.#nodes = new Map(nodes)
  }

  copy(): Tree {
    return new Tree(this.#nodes)
  }

  get(path: string): Node | undefined {
    return this.#nodes.get(path)
  }

  /** Oldest first. */
  get paths(): string[] {
    return [...this.#nodes.keys()]
  }

  ephemerals(session: bigint): string[] {
    return this.paths.filter((path) => this.get(path)!.ephemeralOwner === session)
  }

  apply(change: Change, zxid: bigint, time: number): void {
    const { path } = change
    switch (change.type) {
      case 'created': {
        const { data, acl, ephemeralOwner, isContainer } = change
        const birth = { czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: time, mtime: time }
        this.#nodes.set(path, { ...root, ...birth, data, acl, ephemeralOwner, isContainer })
        return this.#update(parentOf(path), ({ counter, children }) => ({
          pzxid: zxid,
          counter: Math.min(counter + 1, LAST_NUMBER),
          children: new Set(children).add(nameOf(path)),
        }))
      }
      case 'deleted':
        this.#nodes.delete(path)
        return this.#update(parentOf(path), ({ children }) => {
          const left = new Set(children)
          left.delete(nameOf(path))
          return { pzxid: zxid, children: left }
        })
      case 'dataChanged':
        return this.#update(path, ({ version }) => ({
          data: change.data,
          mzxid: zxid,
          mtime: time,
          version: version + 1,
        }))
    }
  }

  #update(path: string, changes: (node: Node) => Partial<Node>): void {
    const node = this.#nodes.get(path)!
    this.#nodes.set(path, { ...node, ...changes(node) })
  }
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** What clients are told of a node (DataNode.copyStat). */
export function toStat(node: Node): Stat {
  const { czxid, mzxid, pzxid, ctime, mtime, version, counter, ephemeralOwner, data, children } = node
  return {
    czxid,
    mzxid,
    pzxid,
    ctime: BigInt(ctime),
    mtime: BigInt(mtime),
    version,
    // Every child ever created that is no longer there was deleted too.
    cversion: counter * 2 - children.size,
    aversion: 0,
    ephemeralOwner,
    dataLength: data.byteLength,
    numChildren: children.size,
  }
}
