// The tree that a mirror is to show. While others write, nothing can read all of it at one moment. But what is the same in two
// readings was so throughout, and a mirror must show it that is synced after the first and before the second.
import type { CallOptions } from '@zk/client'
import { KeeperError, type ZooKeeper } from '@zk/recipes'
import { insist } from './insist.ts'

export interface Written {
  readonly czxid: bigint
  readonly mzxid: bigint
  readonly text: string
}

export interface TrueNode extends Written {
  /** The names of the children, and the transaction that last changed them. */
  readonly children: readonly string[]
  readonly pzxid: bigint
}

/** By path. A node that came or went during the reading may be left out. */
export type TrueTree = ReadonlyMap<string, TrueNode>

/** Reads the node and all below it, as they were committed before the call, or later. */
export async function readTree(zk: ZooKeeper, path: string): Promise<TrueTree> {
  return (await insist(zk, async (options) => new Map(await readNodes(zk, path, options)))) ?? new Map()
}

async function readNodes(zk: ZooKeeper, path: string, options: CallOptions): Promise<[string, TrueNode][]> {
  try {
    const [{ data, stat }, { children, stat: listed }] = await Promise.all([
      zk.getData(path, options),
      zk.getChildren(path, options),
    ])
    // It was made again between the two.
    if (listed.czxid !== stat.czxid) return []
    const { czxid, mzxid } = stat
    const node = { czxid, mzxid, text: Buffer.from(data).toString(), children, pzxid: listed.pzxid }
    const below = await Promise.all(children.map((name) => readNodes(zk, `${path}/${name}`, options)))
    return [[path, node], ...below.flat()]
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return []
    throw error
  }
}

/** Whether nothing has changed from one reading to the other. The node on top must be there. */
export function isAtRest(before: TrueTree, after: TrueTree): boolean {
  return (
    before.size === after.size &&
    [...before].every(([path, node]) => isAsWritten(node, after.get(path)) && hasSameList(node, after.get(path)))
  )
}

/** Where a mirror differs from what was so throughout. It shows the wanted paths. */
export function wronglyShown(
  before: TrueTree,
  after: TrueTree,
  shown: ReadonlyMap<string, Written>,
  isWanted: (path: string) => boolean,
): string[] {
  const found: string[] = []
  for (const [path, node] of before) {
    const then = after.get(path)
    if (!isWanted(path) || then === undefined) continue
    if (isAsWritten(node, then) && !isAsWritten(node, shown.get(path))) {
      found.push(`${path} is ${textOf(shown.get(path))}, and was ${textOf(node)} throughout`)
    }
    if (!hasSameList(node, then)) continue
    const isThere = new Set(node.children)
    for (const child of shown.keys()) {
      const name = child.slice(path.length + 1)
      const isChild = child.startsWith(`${path}/`) && !name.includes('/')
      if (isChild && !isThere.has(name)) found.push(`${child} is shown, and was not there throughout`)
    }
    for (const child of node.children.map((name) => `${path}/${name}`)) {
      if (isWanted(child) && !shown.has(child)) found.push(`${child} is not shown, and was there throughout`)
    }
  }
  for (const path of shown.keys()) if (!isWanted(path)) found.push(`${path} is shown, and is not wanted`)
  return found
}

function isAsWritten(one: Written, other: Written | undefined): boolean {
  return one.czxid === other?.czxid && one.mzxid === other.mzxid && one.text === other.text
}

function hasSameList(one: TrueNode, other: TrueNode | undefined): boolean {
  return one.czxid === other?.czxid && one.pzxid === other.pzxid
}

function textOf(node: Written | undefined): string {
  return node === undefined ? 'not shown' : `"${node.text}" of 0x${node.mzxid.toString(16)}`
}
