// Walks of commands: a node that may not be read is reported, and the rest is read.
import { KeeperError, walk, type WalkedNode, type ZooKeeper } from '@zk/client'
import type { Failures } from '../command/failure.ts'
import type { Option } from '../command/options.ts'

export const DEPTH: Option = { name: 'depth', value: 'N', help: 'only so many levels below the node' }

/** Reads under way at once. On a link with a delay of 1 ms they are 64,000 nodes a second. */
const READS = 64

export interface Walking {
  readonly failures: Failures
  readonly depth?: number | undefined
  /** Called for each node that may not be read, before the walk comes to it. */
  readonly onUnreadable?: (path: string) => void
}

/** A node and all nodes below it, as `walk` yields them. Rejects with `NoNode` if there is no such node. */
export async function* walkAll(
  zk: ZooKeeper,
  path: string,
  { failures, depth, onUnreadable = () => {} }: Walking,
): AsyncGenerator<WalkedNode> {
  let isThere = false
  const nodes = walk(zk, path, {
    concurrency: READS,
    depth,
    onUnreadable: (error) => {
      isThere = true
      failures.add(error)
      onUnreadable(error.path!)
    },
  })
  for await (const node of nodes) {
    isThere = true
    yield node
  }
  if (!isThere) throw missing(zk, path)
}

export function missing(zk: ZooKeeper, path: string): KeeperError {
  return new KeeperError('NoNode', { op: 'read', path, chroot: zk.chroot === '/' ? undefined : zk.chroot })
}

/** The path of a node below another one: '' for the node itself, '/b' for '/a/b' below '/a' and for '/b' below '/'. */
export function pathBelow(root: string, path: string): string {
  return root === '/' ? (path === '/' ? '' : path) : path.slice(root.length)
}

/** The inverse of `pathBelow`. */
export function pathAt(root: string, below: string): string {
  return root === '/' ? below || '/' : `${root}${below}`
}
