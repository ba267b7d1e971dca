// Nodes with their data, from servers or from a file of `zk export`. Both come in the order of a walk: a node before its
// children, and these in the order of their names. So two of them are compared as they are read, and nothing is held whole.
import { KeeperError, type Stat, type ZooKeeper } from '@zk/client'
import { printable, validatePath } from '@zk/wire'
import type { Failures } from '../command/failure.ts'
import { bytesIn, type Fields, InputError, isObject, type Line, linesOf, objectIn } from '../command/input.ts'
import { jsonLine } from '../command/output.ts'
import { aclEntry, aclTexts, hidesDigest } from './acl.ts'
import { ahead } from './ahead.ts'
import { dataDocument, isEphemeral, statDocument } from './shown.ts'
import { missing, pathBelow, walkAll } from './walking.ts'

export interface DumpedNode {
  readonly path: string
  /** The path below the first node of the dump: '' for this node itself. */
  readonly below: string
  readonly data: Uint8Array
  readonly isEphemeral: boolean
  /** Its entries as texts; undefined if they were not read. */
  readonly acl: readonly string[] | undefined
}

export type Tree = AsyncIterable<DumpedNode>

export interface LiveNode extends DumpedNode {
  readonly stat: Stat
}

export interface Reading {
  readonly failures: Failures
  /** Whether ACLs are read, too. */
  readonly acl: boolean
  readonly depth?: number | undefined
  /** Called for each node that may not be read, before the tree comes to it. */
  readonly onUnreadable?: (path: string) => void
  /** Whether a missing node is a tree without nodes, and no error. */
  readonly mayBeMissing?: boolean
}

/** A node and all nodes below it. Nodes that are deleted meanwhile are left out. */
export async function* readTree(zk: ZooKeeper, root: string, reading: Reading): AsyncGenerator<LiveNode> {
  const { failures, onUnreadable = () => {} } = reading
  if (reading.mayBeMissing === true && (await zk.exists(root)) === undefined) return
  const nodes = ahead(
    walkAll(zk, root, reading),
    async ({ path }) => {
      try {
        return await readNode(zk, root, path, reading.acl)
      } catch (error) {
        if (!KeeperError.is(error, 'NoNode', 'NoAuth')) throw error
        if (error.code === 'NoAuth') onUnreadable(path)
        return { path, error }
      }
    },
    ({ stat }) => stat.dataLength,
  )
  let leftOut: string | undefined
  for await (const node of nodes) {
    if (leftOut !== undefined && isBelow(node.path, leftOut)) continue
    if (!('error' in node)) {
      yield node
      continue
    }
    leftOut = node.path
    if (node.path === root && node.error.code === 'NoNode') throw missing(zk, root)
    if (node.error.code === 'NoAuth') failures.add(node.error)
  }
}

/** One node of a tree. */
export async function readNode(zk: ZooKeeper, root: string, path: string, withACL: boolean): Promise<LiveNode> {
  const [{ data, stat }, read] = await Promise.all([
    zk.getData(path),
    withACL ? zk.getACL(path) : Promise.resolve(undefined),
  ])
  const acl = read === undefined ? undefined : aclTexts(read.acl)
  return { path, below: pathBelow(root, path), data, isEphemeral: isEphemeral(stat), acl, stat }
}

export function isBelow(path: string, above: string): boolean {
  return path.startsWith(above === '/' ? above : `${above}/`)
}

/** Why the ACL can be neither compared nor written; undefined if it can. */
export function aclProblem({ path, acl }: DumpedNode): InputError | undefined {
  if (acl === undefined) return new InputError(`the dump has no ACL of ${printable(path)}`)
  if (!hidesDigest(acl)) return undefined
  return new InputError(`the ACL of ${printable(path)} hides a digest: the right ADMIN is needed to read it`)
}

/** The lines of `zk export`. */
export function nodeLine(node: LiveNode): string {
  const { path, acl, stat } = node
  return jsonLine({ path, ...dataDocument(node), acl, stat: statDocument(stat) })
}

/** The last line of `zk export`: a dump without it has been cut off. */
export function endLine(nodes: number, isWhole: boolean): string {
  return jsonLine({ end: true, nodes, isWhole })
}

export interface DumpEnd {
  /** Whether no node was left out. */
  isWhole: boolean
}

/** The nodes of a file, or of standard input for `-`. Throws an InputError, which names the line, or what `linesOf` throws. */
export async function* readDump(
  file: string,
  { end = { isWhole: false }, signal }: { end?: DumpEnd; signal?: AbortSignal } = {},
): AsyncGenerator<DumpedNode> {
  let root: string | undefined
  let last = ''
  let isOver = false
  let place = ''
  for await (const line of linesOf(file, signal)) {
    place = line.place
    const fields = objectIn(line)
    if (fields['version'] !== 1) throw new InputError(`${place}: version must be 1`)
    if (isOver) throw new InputError(`${place}: nothing may follow the last line of a dump`)
    if (fields['end'] === true) {
      isOver = true
      end.isWhole = fields['isWhole'] !== false
      continue
    }
    const path = pathIn(fields, line)
    root ??= path
    checkPlace(path, root, last, line)
    last = path
    yield nodeIn(fields, path, pathBelow(root, path), line)
  }
  if (root === undefined) throw new InputError(`${place === '' ? 'the dump' : place} has no nodes`)
  if (!isOver) throw new InputError(`${place}: the dump ends here without its last line: it has been cut off`)
}

function pathIn({ path }: Fields, { place }: Line): string {
  if (typeof path !== 'string') throw new InputError(`${place} has no path`)
  try {
    return validatePath(path)
  } catch (error) {
    throw new InputError(`${place}: ${(error as Error).message}`)
  }
}

function checkPlace(path: string, root: string, last: string, { place }: Line): void {
  if (path === root && last === '') return
  const parent = path.slice(0, path.lastIndexOf('/')) || '/'
  const isInOrder = isBelow(path, root) && compareInTree(last, path) < 0 && (last === parent || isBelow(last, parent))
  if (isInOrder) return
  throw new InputError(`${place}: ${path} is not where zk export writes it: after its parent, in the order of names`)
}

function nodeIn(fields: Fields, path: string, below: string, { place }: Line): DumpedNode {
  const data = bytesIn(fields, place)
  if (data === undefined) throw new InputError(`${place} has neither text nor base64`)
  const { acl, stat } = fields
  if (acl !== undefined && !(Array.isArray(acl) && acl.every(isACLText))) {
    throw new InputError(`${place}: acl must be a list of SCHEME:ID:PERMS`)
  }
  return { path, below, data, isEphemeral: isEphemeralIn(stat, place), acl }
}

function isACLText(entry: unknown): entry is string {
  try {
    return typeof entry === 'string' && aclEntry(entry) !== undefined
  } catch {
    return false
  }
}

function isEphemeralIn(stat: unknown, place: string): boolean {
  if (stat === undefined) return false
  const owner = isObject(stat) ? (stat['ephemeralOwner'] ?? '0x0') : undefined
  if (typeof owner === 'string' && /^0x[0-9a-f]{1,16}$/.test(owner)) return BigInt(owner) !== 0n
  throw new InputError(`${place}: ephemeralOwner must be hex, such as 0x0`)
}

/** Negative if the first path comes first in a walk: '/a/b' comes before '/a-b'. */
export function compareInTree(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index++) {
    const [first, second] = [one.charCodeAt(index), other.charCodeAt(index)]
    if (first === second) continue
    if (first === SLASH) return -1
    return second === SLASH ? 1 : first - second
  }
  return one.length - other.length
}

const SLASH = '/'.charCodeAt(0)

/** The nodes at one place in two trees. At least one of them is there. */
export interface Pair {
  readonly below: string
  readonly one: DumpedNode | undefined
  readonly other: DumpedNode | undefined
}

export async function* pairs(oneTree: Tree, otherTree: Tree): AsyncGenerator<Pair> {
  const [ones, others] = [oneTree[Symbol.asyncIterator](), otherTree[Symbol.asyncIterator]()]
  try {
    let [one, other] = await Promise.all([ones.next(), others.next()])
    while (one.done !== true || other.done !== true) {
      const order = one.done === true ? 1 : other.done === true ? -1 : compareInTree(one.value.below, other.value.below)
      const [first, second] = [order <= 0 ? one.value : undefined, order >= 0 ? other.value : undefined]
      yield { below: (first ?? second)!.below, one: first, other: second }
      ;[one, other] = await Promise.all([order <= 0 ? ones.next() : one, order >= 0 ? others.next() : other])
    }
  } finally {
    await Promise.allSettled([ones.return?.(), others.return?.()])
  }
}
