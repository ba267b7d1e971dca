// `zk tree` and `zk du`: how nodes hang together, and what they take.
import type { Stat, ZooKeeper } from '@zk/client'
import { isSystemNode, printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { Failures } from '../command/failure.ts'
import { jsonLine, print, printJson, printLines } from '../command/output.ts'
import { pathOf } from './path.ts'
import { isEphemeral, statDocument } from './shown.ts'
import { DEPTH, pathAt, pathBelow, walkAll, type Walking } from './walking.ts'

export const TREE: Command = {
  usage: 'PATH [options]',
  options: [DEPTH, { name: 'json', help: 'print JSON, a line a node' }],
  notes: `A node a line: its name, the bytes of its data if there are any, and whether it is ephemeral. Lines are printed as nodes are
read. Nodes without the right to read are named on standard error, and zk ends with 77. /zookeeper is left out unless PATH is there.

Example:
  zk tree /config --depth 2
`,
  run: async (args) => {
    const path = pathOf(args, 'zk tree PATH')
    const depth = args.wholeNumber('depth', 0)
    return withClient(args, async (zk) => {
      const failures = new Failures()
      const lines = args.has('json') ? treeDocuments : treeLines
      await printLines(lines(zk, path, { failures, depth }))
      return failures.code
    })
  },
}

async function* treeDocuments(zk: ZooKeeper, root: string, walking: Walking): AsyncGenerator<string> {
  for await (const { path, stat } of walkAll(zk, root, walking)) {
    yield jsonLine({ path, depth: depthBelow(root, path), stat: statDocument(stat) })
  }
}

/** A node of which children are still to be drawn. */
interface Branch {
  readonly indent: string
  readonly lastChild: string | undefined
}

async function* treeLines(zk: ZooKeeper, root: string, walking: Walking): AsyncGenerator<string> {
  const branches: Branch[] = []
  for await (const { path, children, stat } of walkAll(zk, root, walking)) {
    const depth = depthBelow(root, path)
    branches.length = depth
    const parent = branches[depth - 1]
    const isLast = path === parent?.lastChild
    const name = parent === undefined ? path : path.slice(path.lastIndexOf('/') + 1)
    const hidden = depth === walking.depth ? stat.numChildren : 0
    yield `${parent === undefined ? '' : `${parent.indent}${isLast ? '└── ' : '├── '}`}${printable(name)}${remarks(stat, hidden)}`
    const last = children.findLast((child) => !isSystemNode(zk, pathAt(path, `/${child}`)) || isSystemNode(zk, path))
    branches.push({
      indent: parent === undefined ? '' : `${parent.indent}${isLast ? '    ' : '│   '}`,
      lastChild: last === undefined ? undefined : pathAt(path, `/${last}`),
    })
  }
}

function remarks(stat: Stat, hidden: number): string {
  return [
    stat.dataLength === 0 ? '' : `  ${stat.dataLength} B`,
    isEphemeral(stat) ? '  ephemeral' : '',
    hidden === 0 ? '' : `  (${hidden} ${hidden === 1 ? 'child' : 'children'})`,
  ].join('')
}

function depthBelow(root: string, path: string): number {
  return pathBelow(root, path).split('/').length - 1
}

export const DU: Command = {
  usage: 'PATH [options]',
  options: [{ name: 'json', help: 'print JSON' }],
  notes: `A line for each child of PATH: the bytes of data and the number of nodes in it, itself included. The largest are first; the last
line is PATH with everything below it. Nodes without the right to read are named on standard error and not counted, and zk ends with 77.

Example:
  zk du / | head
`,
  run: async (args) => {
    const path = pathOf(args, 'zk du PATH')
    return withClient(args, async (zk) => {
      const failures = new Failures()
      const { whole, children } = await usageOf(zk, path, failures)
      if (args.has('json')) printJson({ ...whole, children })
      else print(usageTable([...children, whole]))
      return failures.code
    })
  },
}

interface Usage {
  readonly path: string
  bytes: number
  nodes: number
}

async function usageOf(zk: ZooKeeper, root: string, failures: Failures): Promise<{ whole: Usage; children: Usage[] }> {
  const whole: Usage = { path: root, bytes: 0, nodes: 0 }
  const children: Usage[] = []
  for await (const { path, stat } of walkAll(zk, root, { failures })) {
    const depth = depthBelow(root, path)
    if (depth === 1) children.push({ path, bytes: 0, nodes: 0 })
    for (const usage of depth === 0 ? [whole] : [whole, children.at(-1)!]) {
      usage.bytes += stat.dataLength
      usage.nodes++
    }
  }
  children.sort((one, other) => other.bytes - one.bytes || other.nodes - one.nodes)
  return { whole, children }
}

function usageTable(usages: readonly Usage[]): string {
  const { bytes, nodes } = usages.at(-1)!
  const widths = [Math.max('BYTES'.length, String(bytes).length), Math.max('NODES'.length, String(nodes).length)]
  return [
    ['BYTES', 'NODES', 'PATH'] as const,
    ...usages.map(({ path, bytes, nodes }) => [String(bytes), String(nodes), printable(path)] as const),
  ]
    .map(([bytes, nodes, path]) => `${bytes.padStart(widths[0]!)}  ${nodes.padStart(widths[1]!)}  ${path}\n`)
    .join('')
}
