// Makes a tree like another one: of all nodes, only what differs is written.
import { KeeperError, type ZooKeeper } from '@zk/client'
import { isSystemNode, printable } from '@zk/client/internal'
import { parentOf } from '@zk/wire'
import type { Failures } from '../command/failure.ts'
import { checkSize, InputError } from '../command/input.ts'
import { jsonLine, say } from '../command/output.ts'
import { aclEntry } from './acl.ts'
import { ahead, untilAnswered } from './ahead.ts'
import { aclProblem, type DumpedNode, isBelow, type Pair, pairs, readNode, readTree, type Tree } from './dump.ts'
import { pathAt } from './walking.ts'

export interface PutOptions {
  /** Where the first node of the tree goes. */
  readonly root: string
  readonly failures: Failures
  /** Whether ACLs are written, too. */
  readonly acl: boolean
  /** Whether nodes that the tree does not have are deleted. */
  readonly delete: boolean
  readonly dryRun: boolean
  readonly json: boolean
  /** No further node is compared when it aborts. */
  readonly signal: AbortSignal
}

interface Change {
  readonly path: string
  readonly what: readonly ('create' | 'data' | 'acl' | 'delete')[]
  /** What it is to be; undefined if it is deleted. */
  readonly node: DumpedNode | undefined
}

/** A node that cannot be written. */
interface Refusal {
  readonly path: string
  readonly error: Error
}

/** Yields a line for each change, and writes a summary to standard error, or as the last line in JSON. */
export async function* put(zk: ZooKeeper, tree: Tree, options: PutOptions): AsyncGenerator<string> {
  const { root, failures, dryRun } = options
  const counts = { created: 0, changed: 0, deleted: 0, equal: 0, ephemeral: 0, aclsLeft: 0 }
  if (root !== '/' && !dryRun) await untilAnswered(() => zk.ensurePath(parentOf(root)))
  /** The last node that failed. Failures below it for the same reason are not told. */
  let failed: Refusal | undefined
  const outcomes = ahead(
    changes(zk, tree, counts, options),
    async (change) => {
      if ('error' in change) return change
      try {
        if (!dryRun) await untilAnswered(() => write(zk, change, options))
        if (change.what.includes('create')) counts.created++
        else if (change.what.includes('delete')) counts.deleted++
        else counts.changed++
        return change
      } catch (error) {
        return { path: change.path, error: error as Error }
      }
    },
    (change) => ('error' in change ? 0 : (change.node?.data.length ?? 0)),
  )
  let isWhole = false
  try {
    for await (const outcome of outcomes) {
      const { path } = outcome
      if ('error' in outcome) {
        if (failed !== undefined && isBelow(path, failed.path) && haveSameCode(outcome.error, failed.error)) continue
        failures.add(outcome.error)
        failed = outcome
        continue
      }
      yield options.json
        ? jsonLine({ path, changes: outcome.what })
        : `${outcome.what.join(',').padEnd(6)}  ${printable(path)}`
    }
    isWhole = true
  } finally {
    // Also after Ctrl-C, or an error of the input or of all servers.
    if (options.json) yield jsonLine({ summary: { ...counts, dryRun, isWhole } })
    else say(`${isWhole ? '' : 'not finished: '}${summary(counts, dryRun)}`)
  }
}

const haveSameCode = (one: Error, other: Error): boolean => KeeperError.is(one) && KeeperError.is(other, one.code)

interface Counts {
  created: number
  changed: number
  deleted: number
  /** Nodes that are as they should be. */
  equal: number
  /** Ephemeral nodes of the tree: they belong to a session, and are not written. */
  ephemeral: number
  /** Nodes with an ACL that was not written. */
  aclsLeft: number
}

function summary({ created, changed, deleted, equal, ephemeral, aclsLeft }: Counts, dryRun: boolean): string {
  return [
    `${dryRun ? 'dry run, nothing was written: ' : ''}${created} created, ${changed} changed, ${deleted} deleted, ${equal} equal`,
    ...(ephemeral === 0 ? [] : [`left out, because it is ephemeral: ${ephemeral}`]),
    ...(aclsLeft === 0
      ? []
      : [`without --acl everyone may do everything with what is created; ACLs left out: ${aclsLeft}`]),
  ].join('; ')
}

async function* changes(
  zk: ZooKeeper,
  tree: Tree,
  counts: Counts,
  { root, failures, acl, delete: isDeleting, signal }: PutOptions,
): AsyncGenerator<Change | Refusal> {
  const unreadable = new Set<string>()
  const onUnreadable = (path: string): unknown => unreadable.add(path)
  const found = isDeleting
    ? pairs(tree, readTree(zk, root, { failures, acl, mayBeMissing: true, onUnreadable }))
    : pairsAt(zk, tree, root, acl)
  const doomed = new Doomed()
  for await (const pair of found) {
    signal.throwIfAborted()
    if ('error' in pair) {
      yield pair
      continue
    }
    const path = pathAt(root, pair.below)
    yield* doomed.passed(path)
    if (pair.one === undefined) {
      doomed.add(path, pair.other!)
      continue
    }
    if (unreadable.has(path)) continue
    const change = changeOf(zk, path, pair as Pair & { one: DumpedNode }, acl, counts)
    if (change !== undefined) yield change
  }
  yield* doomed.passed('')
}

/** Each node of the tree, with the node that is at its place. No others are read: there may be many, or some that may not be read. */
async function* pairsAt(zk: ZooKeeper, tree: Tree, root: string, withACL: boolean): AsyncGenerator<Pair | Refusal> {
  /** A node that is missing: so is everything below it. */
  let absent: string | undefined
  const isBelowAbsent = (path: string): boolean => absent !== undefined && isBelow(path, absent)
  yield* ahead(
    tree,
    async (one): Promise<Pair | Refusal> => {
      const { below } = one
      const path = pathAt(root, below)
      if (isBelowAbsent(path)) return { below, one, other: undefined }
      try {
        return { below, one, other: await readNode(zk, root, path, withACL) }
      } catch (error) {
        if (KeeperError.is(error, 'NoAuth')) return { path, error }
        if (!KeeperError.is(error, 'NoNode')) throw error
        if (!isBelowAbsent(path)) absent = path
        return { below, one, other: undefined }
      }
    },
    ({ data }) => data.length,
  )
}

function changeOf(
  zk: ZooKeeper,
  path: string,
  { one: node, other }: Pair & { readonly one: DumpedNode },
  withACL: boolean,
  counts: Counts,
): Change | Refusal | undefined {
  const refused = (reason: string): Refusal => ({ path, error: new InputError(`${printable(path)} ${reason}`) })
  if (node.isEphemeral) {
    counts.ephemeral++
    return undefined
  }
  if (isSystemNode(zk, path)) return refused('belongs to the servers and is not written')
  if (other?.isEphemeral === true) return refused('is ephemeral: it belongs to a session and is not written')
  const problem = withACL ? aclProblem(node) : undefined
  if (problem !== undefined) return { path, error: problem }
  try {
    checkSize(path, node.data)
  } catch (error) {
    return { path, error: error as Error }
  }
  if (other === undefined) {
    if (!withACL && node.acl !== undefined && node.acl.join() !== EVERYONE) counts.aclsLeft++
    return { path, what: ['create'], node }
  }
  const what = differences(node, other, withACL)
  if (what.length > 0) return { path, what, node }
  counts.equal++
  return undefined
}

const EVERYONE = 'world:anyone:cdrwa'

/** How the data and the ACLs of two nodes differ. */
export function differences(one: DumpedNode, other: DumpedNode, withACL: boolean): readonly ('data' | 'acl')[] {
  const haveSameData = one.data.length === other.data.length && one.data.every((byte, at) => byte === other.data[at])
  const haveSameACL = !withACL || sorted(one.acl) === sorted(other.acl)
  return [...(haveSameData ? [] : (['data'] as const)), ...(haveSameACL ? [] : (['acl'] as const))]
}

/** The order of entries means nothing. */
function sorted(acl: readonly string[] | undefined): string {
  return [...(acl ?? [])].sort().join('\n')
}

/** Nodes that are to be deleted, after all nodes below them. A node with an ephemeral node below it stays. */
class Doomed {
  readonly #open: { readonly path: string; isKept: boolean }[] = []

  add(path: string, { isEphemeral }: DumpedNode): void {
    if (!isEphemeral) this.#open.push({ path, isKept: false })
    else for (const each of this.#open) each.isKept = true
  }

  /** Yields those that are not above this path: they have no more nodes below them. */
  *passed(path: string): Generator<Change> {
    while (this.#open.length > 0 && !path.startsWith(`${this.#open.at(-1)!.path}/`)) {
      const { path, isKept } = this.#open.pop()!
      if (!isKept) yield { path, what: ['delete'], node: undefined }
    }
  }
}

/** Does what has to be done, however much of it has happened before. */
async function write(zk: ZooKeeper, { path, what, node }: Change, { acl: withACL }: PutOptions): Promise<void> {
  if (node === undefined) {
    try {
      await zk.delete(path)
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode')) throw error
    }
    return
  }
  const acl = withACL ? node.acl!.map(aclEntry) : undefined
  if (what.includes('create')) {
    try {
      await zk.create(path, node.data, { acl })
      return
    } catch (error) {
      if (!KeeperError.is(error, 'NodeExists')) throw error
    }
    await zk.setData(path, node.data)
    if (acl !== undefined) await zk.setACL(path, acl)
    return
  }
  // The data first: the new ACL may not grant the right to write it.
  if (what.includes('data')) await zk.setData(path, node.data)
  if (what.includes('acl')) await zk.setACL(path, acl!)
}
