// `zk multi`: one transaction, read as lines of JSON.
import { type CreateMode, KeeperError, type Op, op, type ZooKeeper } from '@zk/client'
import { printable } from '@zk/client/internal'
import { JUTE_MAXBUFFER, validatePath } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { bytesIn, type Fields, InputError, isObject, type Line, linesOf, objectIn } from '../command/input.ts'
import { UsageError } from '../command/options.ts'
import { jsonLine, print, say } from '../command/output.ts'
import { aclEntry } from './acl.ts'
import { statDocument } from './shown.ts'
import { MODES } from './write.ts'

type OpName = 'create' | 'set' | 'delete' | 'check'

interface Part {
  readonly name: OpName
  readonly path: string
  readonly place: string
  readonly size: number
  readonly op: Op<unknown>
}

const FIELDS: Readonly<Record<OpName, readonly string[]>> = {
  create: ['path', 'text', 'base64', 'acl', 'mode', 'ttl'],
  set: ['path', 'text', 'base64', 'version'],
  delete: ['path', 'version'],
  check: ['path', 'version'],
}

export const MULTI: Command = {
  usage: '[FILE|-] [options]',
  options: [{ name: 'json', help: 'print JSON, a line an operation' }],
  notes: `An operation a line, from FILE or standard input. All of them happen, or none:

  {"create": {"path": "/a", "text": "x", "acl": ["world:anyone:r"], "mode": "sequential"}}
  {"set":    {"path": "/b", "base64": "AAE=", "version": 3}}
  {"delete": {"path": "/c", "version": 0}}
  {"check":  {"path": "/d", "version": 7}}

Only path is needed, and the data of set. mode is ${Object.keys(MODES).join(', ')}; ttl is in ms.
It prints a line an operation: its name and the path, for a sequential node that of the new node. If one is refused, zk says which one and
why, nothing has changed, and zk ends with 66 (no such node), 77 (no right) or 70.

Example:
  printf '%s\\n' '{"check":{"path":"/lock","version":4}}' '{"set":{"path":"/state","text":"on"}}' | zk multi
`,
  run: async (args) => {
    const [file = '-', ...more] = args.words
    if (more.length > 0) throw new UsageError('name one file: zk multi [FILE|-]')
    const parts: Part[] = []
    for await (const line of linesOf(file)) parts.push(partIn(line))
    if (parts.length === 0) throw new InputError('there are no operations: a line of JSON for each is needed')
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    if (size > JUTE_MAXBUFFER) {
      throw new InputError(
        `the transaction has ${size} bytes: servers take requests of up to ${JUTE_MAXBUFFER} (jute.maxbuffer)`,
      )
    }
    return withClient(args, (zk) => run(zk, parts, args.has('json')))
  },
}

async function run(zk: ZooKeeper, parts: readonly Part[], isJson: boolean): Promise<number> {
  try {
    const results = await zk.multi(parts.map((part) => part.op))
    print(parts.map((part, index) => `${resultLine(part, index, results[index], isJson)}\n`).join(''))
    return EXIT.done
  } catch (error) {
    if (!KeeperError.is(error) || error.index === undefined) throw error
    const { name, path, place } = parts[error.index]!
    if (isJson) {
      const lines = parts.map(({ name, path }, index) =>
        jsonLine({ index, op: name, path, isDone: false, ...(index === error.index ? { error: error.code } : {}) }),
      )
      print(`${lines.join('\n')}\n`)
    }
    say(`nothing has changed, because ${name} ${printable(path)} was refused (${place})`)
    throw error
  }
}

function resultLine({ name, path }: Part, index: number, result: unknown, isJson: boolean): string {
  const created = name === 'create' ? (result as { readonly path: string }).path : path
  if (!isJson) return `${name.padEnd(6)}  ${printable(created)}`
  const stat = name === 'set' ? { stat: statDocument(result as Parameters<typeof statDocument>[0]) } : {}
  return jsonLine({ index, op: name, path: created, isDone: true, ...stat })
}

/** Throws an InputError. */
export function partIn(line: Line): Part {
  const { place } = line
  const [[name, fields] = [], ...more] = Object.entries(objectIn(line))
  if (name === undefined || !Object.hasOwn(FIELDS, name) || more.length > 0 || !isObject(fields)) {
    throw new InputError(
      `${place} must be an object with one of create, set, delete, check: {"set":{"path":"/a","text":"x"}}`,
    )
  }
  const known = FIELDS[name as OpName]
  const unknown = Object.keys(fields).find((field) => !known.includes(field))
  if (unknown !== undefined) {
    throw new InputError(`${place}: ${name} has no ${printable(JSON.stringify(unknown))}: it has ${known.join(', ')}`)
  }
  const path = pathIn(fields, place)
  const data = bytesIn(fields, place) ?? new Uint8Array()
  if (name === 'set' && fields['text'] === undefined && fields['base64'] === undefined) {
    throw new InputError(`${place}: set needs text or base64`)
  }
  const part = { name: name as OpName, path, place, size: data.length + path.length }
  return { ...part, op: operationOf(part.name, path, data, fields, place) }
}

function operationOf(name: OpName, path: string, data: Uint8Array, fields: Fields, place: string): Op<unknown> {
  switch (name) {
    case 'create':
      return op.create(path, data, createOptions(fields, place))
    case 'set':
      return op.setData(path, data, versionIn(fields, place))
    case 'delete':
      return op.delete(path, versionIn(fields, place))
    case 'check':
      return op.check(path, versionIn(fields, place))
  }
}

function pathIn({ path, mode }: Fields, place: string): string {
  if (typeof path !== 'string') throw new InputError(`${place} has no path`)
  try {
    return validatePath(path, { sequential: typeof mode === 'string' && mode.includes('sequential') })
  } catch (error) {
    throw new InputError(`${place}: ${(error as Error).message}`)
  }
}

function versionIn({ version }: Fields, place: string): { readonly version?: number } {
  if (version === undefined) return {}
  if (Number.isInteger(version) && version === ((version as number) | 0)) return { version }
  throw new InputError(`${place}: version must be a whole number`)
}

function createOptions({ mode = 'persistent', ttl, acl }: Fields, place: string) {
  const known: CreateMode | undefined = typeof mode === 'string' && Object.hasOwn(MODES, mode) ? MODES[mode] : undefined
  if (known === undefined) throw new InputError(`${place}: mode is ${Object.keys(MODES).join(', ')}`)
  const hasTTL = known.endsWith('_WITH_TTL')
  if (hasTTL !== (ttl !== undefined) || (hasTTL && !(Number.isInteger(ttl) && (ttl as number) > 0))) {
    throw new InputError(`${place}: a mode of ttl needs a ttl in ms, and others have none`)
  }
  return {
    mode: known,
    ...(hasTTL ? { ttl: ttl as number } : {}),
    ...(acl === undefined ? {} : { acl: aclIn(acl, place) }),
  }
}

function aclIn(acl: unknown, place: string) {
  try {
    if (!Array.isArray(acl) || acl.length === 0) throw new TypeError('acl must be a list of SCHEME:ID:PERMS')
    return acl.map((entry) => aclEntry(String(entry)))
  } catch (error) {
    throw new InputError(`${place}: ${(error as Error).message}`)
  }
}
