// Trees of nodes as `zk export` writes them: their order, their differences, and files that are not as they should be.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InputError } from '../src/command/input.ts'
import { compareInTree, type DumpedNode, endLine, nodeLine, pairs, readDump, type Tree } from '../src/nodes/dump.ts'
import { differences } from '../src/nodes/put.ts'

function node(below: string, data = '', acl = ['world:anyone:cdrwa'], isEphemeral = false): DumpedNode {
  return { path: `/a${below}`, below, data: new TextEncoder().encode(data), isEphemeral, acl }
}

async function* tree(...nodes: readonly string[]): Tree & AsyncGenerator<DumpedNode> {
  for (const below of nodes) yield node(below)
}

function fileOf(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'zk-dump-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'dump.jsonl')
  writeFileSync(file, lines.join('\n'))
  return file
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const line = (path: string, more: object = {}): string => JSON.stringify({ version: 1, path, text: '', ...more })
const END = endLine(1, true)

test('compareInTree has the order of a walk: a node, all nodes below it, its next sibling', () => {
  const walked = ['', '/a', '/a/b', '/a/b/c', '/a b', '/a-b', '/a-b/c', '/a.b', '/ab', '/b']
  const bySegments = walked
    .map((path) => path.split('/'))
    .sort((one, other) => (one.join('\0') < other.join('\0') ? -1 : 1))
  expect(bySegments.map((parts) => parts.join('/'))).toEqual(walked)
  for (const [index, one] of walked.entries()) {
    for (const [at, other] of walked.entries()) expect(Math.sign(compareInTree(one, other))).toBe(Math.sign(index - at))
  }
})

test('pairs puts together what is at one place, and keeps the order', async () => {
  const found = await all(pairs(tree('', '/a', '/a/x', '/b'), tree('', '/a', '/a-b', '/b', '/c')))
  const places = found.map(({ below, one, other }) => [below, one?.below === below, other?.below === below])
  expect(places).toEqual([
    ['', true, true],
    ['/a', true, true],
    ['/a/x', true, false],
    ['/a-b', false, true],
    ['/b', true, true],
    ['/c', false, true],
  ])
})

test('differences compares bytes, and ACLs in any order of their entries if asked', () => {
  const acl = ['world:anyone:r', 'digest:u:h:cdrwa']
  expect(differences(node('', 'x', acl), node('', 'x', [...acl].reverse()), true)).toEqual([])
  expect(differences(node('', 'x', acl), node('', 'y', []), true)).toEqual(['data', 'acl'])
  expect(differences(node('', 'x', acl), node('', 'xx', []), false)).toEqual(['data'])
})

test('readDump reads what nodeLine and endLine write', async () => {
  const stat = { czxid: 1n, mzxid: 1n, pzxid: 1n, ctime: 0, mtime: 0, version: 0, cversion: 0, aversion: 0 }
  const nodes = [
    { ...node('', 'text \u0007 \u2028 ü'), stat: { ...stat, ephemeralOwner: 0n, dataLength: 12, numChildren: 1 } },
    {
      ...node('/b', '', ['x509:CN=a,O=b:r'], true),
      data: new Uint8Array([0xff, 0]),
      stat: { ...stat, ephemeralOwner: -1n, dataLength: 2, numChildren: 0 },
    },
  ]
  const end = { isWhole: false }
  const read = await all(readDump(fileOf(...nodes.map(nodeLine), END), { end }))
  expect(read.map(({ data, ...rest }) => ({ ...rest, data: [...data] }))).toEqual(
    nodes.map(({ stat: _, data, ...rest }) => ({ ...rest, data: [...data] })),
  )
  expect(end.isWhole).toBe(true)
})

test.each<[problem: string, lines: readonly string[], message: string]>([
  ['nothing in it', [], 'has no nodes'],
  ['no JSON', [line('/a'), 'hello'], 'line 2 is no JSON'],
  ['half of a line', [line('/a'), line('/a/b').slice(0, 20)], 'line 2 is no JSON'],
  ['no last line', [line('/a'), line('/a/b')], 'line 2: the dump ends here without its last line'],
  ['more after the last line', [line('/a'), END, line('/a/b')], 'line 3: nothing may follow'],
  ['another version', [line('/a', { version: 2 })], 'line 1: version must be 1'],
  ['an invalid path', [line('a')], 'line 1: path "a" must start with \'/\''],
  ['another order', [line('/a'), line('/a/c'), line('/a/b')], 'line 3: /a/b is not where'],
  ['a node twice', [line('/a'), line('/a/b'), line('/a/b')], 'line 3: /a/b is not where'],
  ['no parent', [line('/a'), line('/a/b/c')], 'line 2: /a/b/c is not where'],
  ['another tree', [line('/a'), line('/ab')], 'line 2: /ab is not where'],
  ['no data', [line('/a', { text: undefined })], 'line 1 has neither text nor base64'],
  ['two kinds of data', [line('/a', { base64: '' })], 'line 1 has both'],
  ['broken base64', [line('/a', { text: undefined, base64: 'AA' })], 'line 1: text must be'],
  ['half of a character', [`{"version":1,"path":"/a","text":"\\ud800"}`], 'line 1: text must be'],
  ['no ACL', [line('/a', { acl: ['world'] })], 'line 1: acl must be'],
  ['no session', [line('/a', { stat: { ephemeralOwner: 5 } })], 'line 1: ephemeralOwner must be hex'],
])('readDump refuses a file with %s, and names the line', async (_, lines, message) => {
  const failure = await all(readDump(fileOf(...lines))).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(InputError)
  expect((failure as Error).message).toContain(message)
})

test('readDump refuses bytes that are no UTF-8', async () => {
  const file = fileOf('')
  writeFileSync(file, new Uint8Array([0x7b, 0xff]))
  await expect(all(readDump(file))).rejects.toThrow('no UTF-8')
})
