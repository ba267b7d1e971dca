// Which paths are mirrored.
import type { ZooKeeper } from '@zk/client'
import { isSystemNode } from '@zk/client/internal'

export interface PathOptions {
  /** How many levels below the root are mirrored. */
  readonly depth: number
  readonly filter: ((path: string) => boolean) | undefined
}

export class MirroredPaths {
  readonly root: string
  readonly #zk: ZooKeeper
  readonly #options: PathOptions

  constructor(zk: ZooKeeper, root: string, options: PathOptions) {
    this.#zk = zk
    this.root = root
    this.#options = options
  }

  /** Whether only the root is mirrored. */
  get isFlat(): boolean {
    return this.#options.depth === 0
  }

  /** Whether there is no filter. */
  get hasNoFilter(): boolean {
    return this.#options.filter === undefined
  }

  /**
   * Whether this path is within the depth, and not a system node (unless the root is one). The path must be the root or below it.
   * The filter is called when the path is read.
   */
  isInside(path: string): boolean {
    const { root } = this
    if (path === root) return true
    let levels = 1
    for (let at = path.indexOf('/', root === '/' ? 1 : root.length + 1); at !== -1; at = path.indexOf('/', at + 1))
      levels++
    return levels <= this.#options.depth && (!isSystemNode(this.#zk, path) || isSystemNode(this.#zk, root))
  }

  /** Whether the filter accepts the path. */
  isWanted(path: string): boolean {
    const { filter } = this.#options
    return path === this.root || filter === undefined || filter(path)
  }
}
