// The nodes of a server, as far as watches go: when each was changed, and all that ever happened.
import { parentOf } from '@zk/wire'

export interface Change {
  readonly type: 'NodeCreated' | 'NodeDataChanged' | 'NodeDeleted'
  readonly path: string
  readonly zxid: bigint
}

/** As in its Stat. */
export interface Node {
  readonly czxid: bigint
  mzxid: bigint
  pzxid: bigint
}

/** Hears of every change as it happens. */
export interface Onlooker {
  happened(change: Change): void
}

export class Nodes {
  zxid = 100n
  readonly log: Change[] = []
  readonly onlookers = new Set<Onlooker>()
  readonly #nodes = new Map<string, Node>([['/', { czxid: 0n, mzxid: 0n, pzxid: 0n }]])

  constructor(paths: readonly string[]) {
    for (const path of paths) this.create(path)
  }

  get(path: string): Node | undefined {
    return this.#nodes.get(path)
  }

  // What a server would refuse changes nothing.

  create(path: string): void {
    if (this.#nodes.has(path) || !this.#nodes.has(parentOf(path))) return
    const zxid = ++this.zxid
    this.#nodes.set(path, { czxid: zxid, mzxid: zxid, pzxid: zxid })
    this.#nodes.get(parentOf(path))!.pzxid = zxid
    this.#happened('NodeCreated', path)
  }

  set(path: string): void {
    const node = this.#nodes.get(path)
    if (node === undefined) return
    node.mzxid = ++this.zxid
    this.#happened('NodeDataChanged', path)
  }

  delete(path: string): void {
    const hasChildren = [...this.#nodes.keys()].some((other) => other.startsWith(`${path}/`))
    if (hasChildren || !this.#nodes.delete(path)) return
    this.#nodes.get(parentOf(path))!.pzxid = ++this.zxid
    this.#happened('NodeDeleted', path)
  }

  #happened(type: Change['type'], path: string): void {
    const change = { type, path, zxid: this.zxid }
    this.log.push(change)
    for (const onlooker of this.onlookers) onlooker.happened(change)
  }
}
