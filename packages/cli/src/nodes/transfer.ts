// `zk export`, `import`, `cp` and `diff`: trees of nodes between ensembles and files.
import type { Stat, ZooKeeper } from '@zk/client'
import { onAbort, printable } from '@zk/client/internal'
import { parentOf } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { Failures } from '../command/failure.ts'
import { InputError } from '../command/input.ts'
import { withClientUntilSignal } from '../command/interrupt.ts'
import { type Arguments, type Option, UsageError } from '../command/options.ts'
import { jsonLine, printChanges, printLines } from '../command/output.ts'
import {
  aclProblem,
  type DumpedNode,
  endLine,
  nodeLine,
  type Pair,
  pairs,
  readDump,
  readTree,
  type Tree,
} from './dump.ts'
import { checkPath, pathOf } from './path.ts'
import { differences, put } from './put.ts'
import { missing, pathAt } from './walking.ts'

export const EXPORT: Command = {
  usage: 'PATH [options]',
  options: [{ name: 'json', help: 'print JSON, as without this option' }],
  notes: `A JSON object a line for a node and all nodes below it: path, text (or base64 if the data is no UTF-8), ACL and stat. The last
line says that the dump is whole. A node comes before its children, and these in the order of their names. It is no snapshot: nodes may change
meanwhile. Nodes without the right to read are named on standard error, and zk ends with 77. /zookeeper is left out unless PATH is there.

Example:
  zk export /config > config.jsonl
`,
  run: async (args) => {
    const path = pathOf(args, 'zk export PATH')
    return withClient(args, async (zk) => {
      const failures = new Failures()
      await printLines(exported(zk, path, failures))
      return failures.code
    })
  },
}

async function* exported(zk: ZooKeeper, path: string, failures: Failures): AsyncGenerator<string> {
  let nodes = 0
  for await (const node of readTree(zk, path, { failures, acl: true })) {
    nodes++
    const problem = aclProblem(node)
    if (problem !== undefined) failures.add(problem)
    yield nodeLine(node)
  }
  yield endLine(nodes, failures.code === EXIT.done)
}

const KEEP_ACLS: Option = {
  name: 'acl',
  help: 'also write the ACLs; otherwise everyone may do everything with a new node',
}
const DRY_RUN: Option = { name: 'dry-run', short: 'n', help: 'print what would be written, and write nothing' }

export const IMPORT: Command = {
  usage: 'FILE|- [PATH] [options]',
  options: [
    KEEP_ACLS,
    { name: 'delete', help: 'also delete the nodes that the dump does not have' },
    DRY_RUN,
    { name: 'json', help: 'print JSON, a line a change' },
  ],
  notes: `Reads what zk export has written, and writes only what differs, so it may be repeated after an error or Ctrl-C. The first node goes to
PATH, or to where it came from; missing nodes above it are created. It prints a line a change: create, data, acl or delete. Ephemeral nodes
are neither written nor deleted. A file is checked as a whole before anything is written; standard input is written as it comes.

Examples:
  zk import config.jsonl --dry-run
  zk import config.jsonl /config-restored --acl
  zk export /config -c old:2181 | zk import - -c new:2181
`,
  run: async (args) => {
    const [file, path, ...more] = args.words
    if (file === undefined || more.length > 0) throw new UsageError('name one file: zk import FILE|- [PATH]')
    if (path !== undefined) checkPath(path)
    const isDeleting = args.has('delete')
    if (isDeleting && file === '-') throw new UsageError('--delete needs a file, which is checked as a whole first')
    let root = path
    if (file !== '-') {
      const end = { isWhole: false }
      for await (const node of readDump(file, { end })) root ??= node.path
      if (isDeleting && !end.isWhole) {
        throw new InputError(`--delete needs a whole dump: nodes were left out when ${printable(file)} was written`)
      }
    }
    return withClientUntilSignal(args, async (zk, signal) => {
      // Standard input that goes on would keep zk running.
      const over = new AbortController()
      onAbort(signal, () => over.abort())
      closeAfter(signal, zk)
      const nodes = readDump(file, { signal: over.signal })
      const failures = new Failures()
      const options = {
        failures,
        acl: args.has('acl'),
        delete: isDeleting,
        dryRun: args.has('dry-run'),
        json: args.has('json'),
        signal,
      }
      try {
        const first = await nodes.next()
        if (first.done === true) return EXIT.input
        await printChanges(put(zk, withFirst(first.value, nodes), { ...options, root: root ?? first.value.path }))
        return failures.code
      } finally {
        over.abort()
      }
    })
  },
}

async function* withFirst(first: DumpedNode, others: Tree): AsyncGenerator<DumpedNode> {
  yield first
  yield* others
}

/** The other ensemble of a command that has two. */
const TO_OPTIONS: readonly Option[] = [
  {
    name: 'to-connect',
    value: 'HOST:PORT,…[/CHROOT]',
    help: 'the servers of the second path (default: those of the first)',
  },
  { name: 'to-auth-file', value: 'FILE', help: 'the credentials there (default: the same)' },
]

/** The client of the second path. `zk` is that of the first. */
async function withSecondClient(
  args: Arguments,
  zk: ZooKeeper,
  body: (second: ZooKeeper) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  if (args.text('to-connect') === undefined) return body(zk)
  return withClient(secondOf(args), body, signal)
}

/** How long the writes under way may take after a signal, in ms. */
const GRACE = 1_000

/** Closes the client that long after the signal: then every call rejects, also if no server answers. */
function closeAfter(signal: AbortSignal, zk: ZooKeeper): void {
  onAbort(signal, () => setTimeout(() => void zk.close(), GRACE).unref())
}

function secondOf(args: Arguments): Arguments {
  const [connect, authFile] = [args.text('to-connect'), args.text('to-auth-file')]
  return args.with({
    ...(connect === undefined ? {} : { connect }),
    ...(authFile === undefined ? {} : { 'auth-file': authFile }),
  })
}

export const CP: Command = {
  usage: 'FROM TO [options]',
  options: [
    { name: 'recursive', short: 'r', help: 'also copy all nodes below it' },
    KEEP_ACLS,
    ...TO_OPTIONS,
    DRY_RUN,
    { name: 'json', help: 'print JSON, a line a change' },
  ],
  notes: `TO is the path of the copy; missing nodes above it are created. Only what differs is written, so it may be repeated after an error,
and nothing is deleted. It prints a line a change: create, data or acl. Ephemeral nodes belong to a session and
are not copied. The copies of containers and of nodes with a TTL are persistent: servers do not say what they are.

Examples:
  zk cp -r /config /config-backup
  zk cp -r /config /config --acl -c old:2181 --to-connect new:2181
`,
  run: async (args) => {
    const [from, to, ...more] = args.words
    if (from === undefined || to === undefined || more.length > 0) throw new UsageError('name two paths: zk cp FROM TO')
    for (const path of [from, to]) checkPath(path)
    if (from === to && args.text('to-connect') === undefined) throw new UsageError(`${from} is the copy itself`)
    const failures = new Failures()
    const [acl, depth] = [args.has('acl'), args.has('recursive') ? undefined : 0]
    return withClientUntilSignal(args, (zk, signal) => {
      closeAfter(signal, zk)
      const copy = async (second: ZooKeeper): Promise<number> => {
        closeAfter(signal, second)
        if ((await zk.exists(from)) === undefined) throw missing(zk, from)
        if (depth === undefined && (await isInside(zk, from, second, to))) {
          throw new UsageError(`${from} cannot be copied into itself`)
        }
        const tree = readTree(zk, from, { failures, acl, depth })
        const options = {
          root: to,
          failures,
          acl,
          delete: false,
          dryRun: args.has('dry-run'),
          json: args.has('json'),
          signal,
        }
        await printChanges(put(second, tree, options))
        return failures.code
      }
      return withSecondClient(args, zk, copy, signal)
    })
  },
}

/** Whether the copy would be below what is copied. Two connect strings may name one ensemble. */
async function isInside(from: ZooKeeper, root: string, to: ZooKeeper, path: string): Promise<boolean> {
  const absolute = ({ chroot }: ZooKeeper, path: string): string =>
    `${chroot === '/' ? '' : chroot}${path}`.replace(/\/$/, '')
  const outer = absolute(from, root)
  if (!absolute(to, path).startsWith(`${outer}/`)) return false
  if (from === to) return true
  // In one ensemble both clients see the same node where the deepest one is that exists.
  let at = path
  let there = await to.exists(at)
  while (there === undefined && at !== '/' && absolute(to, at) !== outer) {
    at = parentOf(at)
    there = await to.exists(at)
  }
  const here = await from.exists(pathAt(root, absolute(to, at).slice(outer.length)))
  const identity = (stat: Stat | undefined) => [stat?.czxid, stat?.ctime, stat?.pzxid, stat?.cversion].join()
  return identity(there) === identity(here)
}

export const DIFF: Command = {
  usage: 'A B [options]',
  options: [
    { name: 'acl', help: 'also compare the ACLs' },
    ...TO_OPTIONS,
    { name: 'json', help: 'print JSON, a line a difference' },
  ],
  notes: `A and B are paths, or @FILE for what zk export has written (@- for standard input). It prints a line a difference: only in A, only
in B, data, or acl, and the path in A (if it is only in B: in B). zk ends with 0 if there is none, and with 1 if there is one. Ephemeral nodes
are left out. Nodes without the right to read are named on standard error, and zk ends with 77.

Examples:
  zk diff /config /config-backup
  zk diff @config.jsonl /config
  zk diff /config /config --acl -c old:2181 --to-connect new:2181
`,
  run: async (args) => {
    const [a, b, ...more] = args.words
    if (a === undefined || b === undefined || more.length > 0)
      throw new UsageError('name two paths or files: zk diff A B')
    const isFile = (word: string): boolean => word.startsWith('@')
    for (const word of [a, b]) if (!isFile(word)) checkPath(word)
    if (a === '@-' && b === '@-') throw new UsageError('A and B cannot both be standard input')
    if (isFile(b) && args.text('to-connect') !== undefined)
      throw new UsageError('B is a file: --to-connect means nothing')
    const failures = new Failures()
    const acl = args.has('acl')
    const tree = (word: string, zk: ZooKeeper): Tree => readTree(zk, word, { failures, acl })
    const over = new AbortController()
    const dump = (word: string): Tree => readDump(word.slice(1), { signal: over.signal })
    const compare = async (one: Tree, other: Tree): Promise<number> => {
      const found = { differences: 0 }
      try {
        await printLines(different(one, other, acl, args.has('json'), failures, found))
      } finally {
        over.abort()
      }
      return failures.code || (found.differences === 0 ? EXIT.done : EXIT.different)
    }
    if (isFile(a) && isFile(b)) return compare(dump(a), dump(b))
    if (isFile(a)) return withClient(secondOf(args), (zk) => compare(dump(a), tree(b, zk)))
    return withClient(args, (zk) => {
      if (isFile(b)) return compare(tree(a, zk), dump(b))
      return withSecondClient(args, zk, (second) => compare(tree(a, zk), tree(b, second)))
    })
  },
}

async function* different(
  one: Tree,
  other: Tree,
  acl: boolean,
  isJson: boolean,
  failures: Failures,
  found: { differences: number },
): AsyncGenerator<string> {
  for await (const pair of pairs(withoutEphemeral(one), withoutEphemeral(other))) {
    const { path } = (pair.one ?? pair.other)!
    for (const difference of differencesIn(pair, acl, failures)) {
      found.differences++
      yield isJson ? jsonLine({ path, difference }) : `${difference.padEnd('only in A'.length)}  ${printable(path)}`
    }
  }
}

function differencesIn({ one, other }: Pair, acl: boolean, failures: Failures): readonly string[] {
  if (one === undefined) return ['only in B']
  if (other === undefined) return ['only in A']
  const problem = acl ? (aclProblem(one) ?? aclProblem(other)) : undefined
  if (problem !== undefined) failures.add(problem)
  return differences(one, other, acl && problem === undefined)
}

async function* withoutEphemeral(tree: Tree): AsyncGenerator<DumpedNode> {
  for await (const node of tree) if (!node.isEphemeral) yield node
}
