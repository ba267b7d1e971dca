// Commands that change nodes.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { isatty } from 'node:tty'
import { type CreateMode, deleteRecursive } from '@zk/client'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, type Option, UsageError } from '../command/options.ts'
import { print, printJson } from '../command/output.ts'
import { checkPath, pathOf } from './path.ts'
import { statDocument } from './shown.ts'

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
const MODES: Readonly<Record<string, CreateMode>> = {
  persistent: 'PERSISTENT',
  sequential: 'PERSISTENT_SEQUENTIAL',
  container: 'CONTAINER',
  ttl: 'PERSISTENT_WITH_TTL',
  'ttl-sequential': 'PERSISTENT_SEQUENTIAL_WITH_TTL',
}

export const CREATE: Command = {
  usage: 'PATH [DATA] [options]',
  options: [
    { name: 'mode', value: 'MODE', help: `${Object.keys(MODES).join(', ')} (default: persistent)` },
    { name: 'ttl', value: 'TIME', help: 'of a ttl node: how long it lives without children and changes' },
    { name: 'parents', short: 'p', help: 'also create the nodes above it that are missing' },
    JSON_OPTION,
  ],
  notes: `DATA is the text itself, - for standard input, or @FILE for a file; without it the node is empty.

Example:
  zk create -p /jobs/job- --mode sequential '{"file":"a.csv"}'
`,
  run: async (args) => {
    const { path, data } = pathAndData(args, 'zk create PATH [DATA]')
    const name = args.text('mode') ?? 'persistent'
    const mode = MODES[name]
    if (mode === undefined) throw new UsageError(`--mode is ${Object.keys(MODES).join(', ')}, not '${name}'`)
    const ttl = args.duration('ttl')
    if ((ttl === undefined) === name.startsWith('ttl')) throw new UsageError('--mode ttl and --ttl belong together')
    return withClient(args, async (zk) => {
      const options = { mode, parents: args.has('parents'), ...(ttl === undefined ? {} : { ttl }) }
      const created = await zk.create(path, data ?? '', options)
      if (args.has('json')) printJson({ path: created.path, stat: statDocument(created.stat) })
      else print(`${created.path}\n`)
      return EXIT.done
    })
  },
}

export const RM: Command = {
  usage: 'PATH [options]',
  options: [
    { name: 'recursive', short: 'r', help: 'also delete all nodes below it; asks first' },
    { name: 'yes', short: 'y', help: 'do not ask' },
    VERSION,
    JSON_OPTION,
  ],
  notes: `Without a terminal, -r needs --yes. It is no transaction: after an error some nodes may be deleted.

Example:
  zk rm -r /jobs/old --yes
`,
  run: async (args) => {
    const path = pathOf(args, 'zk rm PATH')
    const version = args.wholeNumber('version', 0)
    const isRecursive = args.has('recursive')
    if (isRecursive && version !== undefined) throw new UsageError('--version does not go with -r')
    if (isRecursive && !args.has('yes') && !(await mayDelete(path))) return EXIT.notDone
    return withClient(args, async (zk) => {
      let deleted = 1
      if (isRecursive) deleted = await deleteRecursive(zk, path)
      else await zk.delete(path, version === undefined ? {} : { version })
      if (args.has('json')) printJson({ path, deleted })
      return EXIT.done
    })
  },
}

async function mayDelete(path: string): Promise<boolean> {
  if (!isatty(0)) throw new UsageError('rm -r needs --yes where nobody can be asked')
  const question = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test(await question.question(`Delete ${path} and all nodes below it? [y/N] `))
  } finally {
    question.close()
  }
}

function pathAndData(args: Arguments, usage: string): { readonly path: string; readonly data: Uint8Array | undefined } {
  const [path, data, ...more] = args.words
  if (path === undefined || more.length > 0) throw new UsageError(`name one path and its data: ${usage}`)
  checkPath(path)
  return { path, data: data === undefined ? undefined : dataOf(data) }
}

function dataOf(word: string): Uint8Array {
  if (word !== '-' && !word.startsWith('@')) return new TextEncoder().encode(word)
  try {
    return readFileSync(word === '-' ? 0 : word.slice(1))
  } catch (error) {
    throw new UsageError(`the data cannot be read: ${(error as Error).message}`)
  }
}
