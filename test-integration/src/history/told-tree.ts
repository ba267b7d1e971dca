// What the reader of a mirror knows: the changes that it was told, applied to an empty tree.
import type { MirrorChange, MirroredNode } from '@zk/recipes'

export class ToldTree {
  readonly nodes = new Map<string, MirroredNode>()
  /** The changes that contradict earlier ones. There must be none. */
  readonly mistakes: string[] = []
  /** The path of the mirror. */
  readonly #root: string
  /** The mzxid of the last change of each node, also of deleted nodes. */
  readonly #newest = new Map<string, bigint>()

  constructor(root: string) {
    this.#root = root
  }

  add(change: Exclude<MirrorChange, { type: 'Ready' }>): void {
    const { type, path } = change
    const node = 'node' in change ? change.node : undefined
    const old = 'old' in change ? change.old : undefined
    const wrong = (what: string) => this.mistakes.push(`${type} of ${path} ${what}`)
    if (!areSame(old, this.nodes.get(path))) wrong('does not follow what was told before')
    if (node === undefined) {
      this.nodes.delete(path)
      if ([...this.nodes.keys()].some((other) => other.startsWith(`${path}/`))) wrong('comes before what is below it')
      return
    }
    if (path !== this.#root && !this.nodes.has(path.slice(0, path.lastIndexOf('/')))) wrong('comes before its parent')
    if (node.stat.mzxid <= (this.#newest.get(path) ?? -1n)) wrong('is told again, or goes back')
    this.#newest.set(path, node.stat.mzxid)
    this.nodes.set(path, node)
  }
}

/** Whether both are the same state of one node. */
export function areSame(one: MirroredNode | undefined, other: MirroredNode | undefined): boolean {
  return one?.stat.czxid === other?.stat.czxid && one?.stat.mzxid === other?.stat.mzxid && one?.text === other?.text
}
