// Commands that change nodes.
import { type CreateMode, deleteRecursive, walk, type ZooKeeper } from '@zk/client'
import { isSystemNode, printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, type Option, UsageError } from '../command/options.ts'
import { checkSize, dataOf } from '../command/input.ts'
import { print, printJson, say } from '../command/output.ts'
import { aclOf } from './acl.ts'
import { checkConfirmable, confirm, YES } from '../command/confirm.ts'
import { checkPath, pathOf } from './path.ts'
import { statDocument } from './shown.ts'
import { missing } from './walking.ts'

const VERSION: Option = { name: 'version', value: 'N', help: 'only if the node has this version' }
const JSON_OPTION: Option = { name: 'json', help: 'print JSON' }

export const SET: Command = {
  usage: 'PATH DATA [options]',
  options: [VERSION, JSON_OPTION],
  notes: `DATA is the text itself, - for standard input, or @FILE for a file. Nothing is printed without --json.

Example:
  zk set /config/database @database.json --version 3
`,
  run: async (args) => {
    const { path, data } = pathAndData(args, 'zk set PATH DATA')
    if (data === undefined) throw new UsageError('name the data: zk set PATH DATA')
    const version = args.wholeNumber('version', 0)
    return withClient(args, async (zk) => {
      const stat = await zk.setData(path, data, version === undefined ? {} : { version })
      if (args.has('json')) printJson({ path, stat: statDocument(stat) })
      return EXIT.done
    })
  },
}

/** A session ends with zk, and its nodes with it: there is no EPHEMERAL. */
export const MODES: Readonly<Record<string, CreateMode>> = {
  persistent: 'PERSISTENT',
  sequential: 'PERSISTENT_SEQUENTIAL',
  container: 'CONTAINER',
  ttl: 'PERSISTENT_WITH_TTL',
  'ttl-sequential': 'PERSISTENT_SEQUENTIAL_WITH_TTL',
}

export const CREATE: Command = {
  usage: 'PATH [DATA] [options]',
  options: [
    {
      name: 'mode',
      value: 'MODE',
      choices: Object.keys(MODES),
      help: `${Object.keys(MODES).join(', ')} (default: persistent)`,
    },
    { name: 'ttl', value: 'TIME', help: 'of a ttl node: how long it lives without children and changes' },
    { name: 'parents', short: 'p', help: 'also create the nodes above it that are missing' },
    { name: 'acl', value: 'ACL', help: 'SCHEME:ID:PERMS,…; see zk acl --help (default: world:anyone:cdrwa)' },
    JSON_OPTION,
  ],
  notes: `DATA is the text itself, - for standard input, or @FILE for a file; without it the node is empty.

Example:
  zk create -p /jobs/job- --mode sequential '{"file":"a.csv"}'
`,
  run: async (args) => {
    const name = args.text('mode') ?? 'persistent'
    const { path, data } = pathAndData(args, 'zk create PATH [DATA]', { sequential: name.endsWith('sequential') })
    const mode = MODES[name]
    if (mode === undefined) throw new UsageError(`--mode is ${Object.keys(MODES).join(', ')}, not '${name}'`)
    const ttl = args.duration('ttl')
    if ((ttl === undefined) === name.startsWith('ttl')) throw new UsageError('--mode ttl and --ttl belong together')
    const given = args.text('acl')
    const acl = given === undefined ? undefined : aclOf([given])
    return withClient(args, async (zk) => {
      const options = { mode, parents: args.has('parents'), acl, ...(ttl === undefined ? {} : { ttl }) }
      const created = await zk.create(path, data ?? '', options)
      if (args.has('json')) printJson({ path: created.path, stat: statDocument(created.stat) })
      else print(`${created.path}\n`)
      return EXIT.done
    })
  },
}

/** More than one application has; less than a whole ensemble: a path that is too short is noticed. */
const MOST_DELETED = 10_000

export const RM: Command = {
  usage: 'PATH [options]',
  options: [
    { name: 'recursive', short: 'r', help: 'also delete all nodes below it; asks first' },
    YES,
    { name: 'max', value: 'N', help: `with -r: delete nothing if there are more nodes (default: ${MOST_DELETED})` },
    VERSION,
    JSON_OPTION,
  ],
  notes: `Without a terminal, -r needs --yes. If nothing is deleted because the answer is no or there are too many nodes, zk ends with 1.
It is no transaction: after an error some nodes may be deleted.

Example:
  zk rm -r /jobs/old --yes
`,
  run: async (args) => {
    const path = pathOf(args, 'zk rm PATH')
    const version = args.wholeNumber('version', 0)
    const max = args.wholeNumber('max', 1)
    const isRecursive = args.has('recursive')
    if (isRecursive && version !== undefined) throw new UsageError('--version does not go with -r')
    if (!isRecursive && max !== undefined) throw new UsageError('--max goes with -r')
    if (path === '/') throw new UsageError('the root is not deleted: name a node')
    if (isRecursive) checkConfirmable(args, 'rm -r')
    return withClient(args, async (zk) => {
      let deleted = 1
      if (isRecursive) {
        if (!(await mayDelete(zk, args, path, max ?? MOST_DELETED))) return EXIT.notDone
        deleted = await deleteRecursive(zk, path)
      } else await zk.delete(path, version === undefined ? {} : { version })
      if (args.has('json')) printJson({ path, deleted })
      return EXIT.done
    })
  },
}

async function mayDelete(zk: ZooKeeper, args: Arguments, path: string, max: number): Promise<boolean> {
  if (isSystemNode(zk, path)) throw new UsageError(`${path} belongs to the servers and is not deleted`)
  let nodes = 0
  for await (const _ of walk(zk, path, { concurrency: 64 })) {
    if (++nodes <= max) continue
    say(`${printable(path)} and what is below it are more than ${max} nodes: nothing was deleted; --max N allows more`)
    return false
  }
  if (nodes === 0) throw missing(zk, path)
  return confirm(args, `Delete ${printable(path)}${nodes > 1 ? ` and all below it, ${nodes} nodes` : ''}?`)
}

function pathAndData(
  args: Arguments,
  usage: string,
  options?: { readonly sequential: boolean },
): { readonly path: string; readonly data: Uint8Array | undefined } {
  const [path, data, ...more] = args.words
  if (path === undefined || more.length > 0) throw new UsageError(`name one path and its data: ${usage}`)
  checkPath(path, options)
  if (data === undefined) return { path, data }
  const bytes = dataOf(data)
  checkSize(path, bytes)
  return { path, data: bytes }
}
