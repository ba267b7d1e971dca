// Checks the pages for programs that come from another client or another lock: each name of ours in them exists, and the tables
// leave out no method and no recipe.
import { describe, expect, test } from 'vitest'
import { read } from './imports.ts'
import { published, sourcesIn } from './workspace.ts'

const sources = published.flatMap(({ folder }) => sourcesIn(`${folder}/src`)).map(read)

/** The names that the packages export by their index. */
const exported = new Set(
  ['client', 'recipes', 'testing'].flatMap((name) => {
    const lists = read(`packages/${name}/src/index.ts`).matchAll(/^export (?:type )?\{([^}]*)\}/gm)
    return Array.from(lists, ([, list = '']) => list.split(/[,\s]+/)).flat()
  }),
)

/** The public members of a class, an interface or a constant, with those of what it extends. None of any other name. */
function membersOf(type: string): readonly string[] {
  const known = members.get(type) ?? declaredIn(type)
  members.set(type, known)
  return known
}

const members = new Map<string, readonly string[]>()

function declaredIn(type: string): string[] {
  const declaration = new RegExp(`^export (?:abstract )?(?:class|interface|const) ${type}\\b([^{]*)\\{([^]*?)^\\}`, 'm')
  const source = sources.find((text) => declaration.test(text))
  const [, heritage = '', body = ''] = (source === undefined ? undefined : declaration.exec(source)) ?? []
  const own = body.matchAll(/^ {2}(?:(?:declare|override|readonly|static|async|get) |\*)*(\w+)\??[(<:;]/gm)
  const parents = /\b(?:extends|implements) ([\w, ]+)/.exec(heritage)?.[1]?.split(/\W+/) ?? []
  return [...Array.from(own, ([, name = '']) => name), ...parents.flatMap(membersOf)]
}

/** The types of the objects that the pages name. */
const typesOf: Readonly<Record<string, readonly string[]>> = {
  zk: ['ZooKeeper'],
  session: ['Session'],
  lock: ['Lock'],
  semaphore: ['Semaphore'],
  election: ['LeaderElection'],
  held: ['Held', 'WriteHeld', 'SemaphoreHeld'],
  op: ['op'],
  read: ['Watched', 'NodeData'],
  event: ['NodeEvent'],
  error: ['KeeperError'],
  stat: ['Stat'],
  KeeperError: ['ZkError'],
}

/** The type of what a recipe's main call gives: a row that creates a recipe may name its members, too. */
const givenBy: Readonly<Record<string, readonly string[]>> = {
  Lock: ['Held'],
  SharedLock: ['WriteHeld'],
  MultiLock: ['MultiHeld'],
  Semaphore: ['SemaphoreHeld'],
  LeaderElection: ['Held'],
  Group: ['Membership'],
  Mirror: ['OpenMirror'],
  DoubleBarrier: ['BarrierEntry'],
}

/** The fields of options and results: house style gives each a line of its own. */
const fields = new Set(
  sources.flatMap((source) => Array.from(source.matchAll(/^ +(?:readonly )?(\w+)\??: .*$/gm), ([, name = '']) => name)),
)
/** The text of codes, modes and events. */
const words = new Set(
  sources.flatMap((source) => Array.from(source.matchAll(/'(\w+)'|\b(\w+): -?\d/g), (found) => found[1] ?? found[2]!)),
)

const ofTheLanguage = /^(undefined|bigint|await|console|Uint8Array|Buffer|TextDecoder|data)$/

/** What in this code is no name of ours. `creating` has the recipes that the same row or paragraph creates. */
function unknownIn(code: string, creating: readonly string[]): string[] {
  const near = (creating.length > 0 ? creating : Object.keys(givenBy)).flatMap((type) => [
    type,
    ...(givenBy[type] ?? []),
  ])
  const methods = near.flatMap(membersOf)
  const texts = Array.from(code.matchAll(/'(\w+)'/g), ([, text = '']) => text)
  const bare = code.replace(/'[^']*'/g, "''")
  const all = (pattern: RegExp) => Array.from(bare.matchAll(pattern), ([, ...groups]) => groups)
  return [
    // 'NoNode', 'EPHEMERAL'; a lower-case text may be anything
    ...texts.filter((text) => /^[A-Z]\w+$/.test(text) && !words.has(text)),
    // new Lock(…)
    ...all(/\bnew (\w+)/g).flatMap(([type = '']) =>
      exported.has(type) || ofTheLanguage.test(type) ? [] : [`new ${type}`],
    ),
    // zk.session.id: the first member is one of the object's type, the next one of the type of that
    ...all(/(?<![.\w)])(\w+)\.(\w+)(?:\.(\w+))?/g).flatMap(([object = '', member = '', next]) => {
      if (ofTheLanguage.test(object) || (object === 'Perms' && words.has(member))) return []
      const isKnown = (name: string, of: string) => typesOf[of]?.flatMap(membersOf).includes(name) ?? false
      if (!isKnown(member, object)) return [`${object}.${member}`]
      return next === undefined || isKnown(next, member) ? [] : [`${object}.${member}.${next}`]
    }),
    // acquire(…): a function, or a method of the recipe that the row creates
    ...all(/(?<![.\w])(?<!new )(\w+)\(/g)
      .map(([name = '']) => name)
      .filter((name) => !exported.has(name) && !methods.includes(name)),
    // { timeout: 5_000 }, { id, data }
    ...all(/\{([^{}]*)/g)
      .flatMap(([inside = '']) => inside.replace(/\([^)]*\)/g, '').split(','))
      .map((part) => part.split(':')[0]!.trim())
      .filter((name) => /^\w+$/.test(name) && !fields.has(name)),
    // a name alone
    ...all(/^\.?(\w+)$/g)
      .map(([name = '']) => name)
      .filter((name) => !methods.includes(name) && !membersOf('ZooKeeper').includes(name))
      .filter((name) => !exported.has(name) && !fields.has(name) && !words.has(name) && !ofTheLanguage.test(name)),
  ]
}

const codeIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code.replaceAll('\\|', '|'))
const createdIn = (text: string) => Array.from(text.matchAll(/\bnew (\w+)/g), ([, type = '']) => type)

interface Section {
  readonly title: string
  /** The rows of the tables with a column "here", as cells. */
  readonly rows: readonly (readonly [theirs: string, ours: string])[]
  readonly paragraphs: readonly string[]
}

function sectionsOf(page: string): Section[] {
  const text = read(page).replace(/^(?:<!--.*-->\n)?```[^]*?^```\n/gm, '')
  return text
    .split(/^##? /m)
    .slice(1)
    .map((section) => {
      const blocks = section.trimEnd().split('\n\n')
      const rows = blocks
        .filter((block) => /^\|.*\| here \|\n/.test(block))
        .flatMap((table) => table.split('\n').slice(2))
        .map((row) => row.split(/(?<!\\)\|/).slice(1, -1))
        .map(([theirs = '', ours = '']) => [theirs, ours] as const)
      // A table that compares has a row of ours.
      const own = blocks
        .flatMap((block) => block.split('\n'))
        .filter((row) => /^\| [^|]* here \| [^|]+ \|[^|]*\|/.test(row))
      return {
        title: section.split('\n')[0]!,
        rows,
        paragraphs: [...blocks.slice(1).filter((block) => !block.startsWith('|')), ...own],
      }
    })
}

const [migrating, otherLocks] = ['docs/guide/migrating.md', 'docs/guide/from-other-locks.md'].map(sectionsOf) as [
  Section[],
  Section[],
]
const sections = [...migrating, ...otherLocks]

/** What the text names that is no name of ours, and in no first column. `createOnce` is code of another page. */
const theirs = [
  'createOnce',
  'lock-0000000007',
  'null',
  'SUSPENDED',
  'isAcquiredInThisProcess()',
  'Lease',
  'ReleaseOnCancel',
  'OnNewLeader',
]

test.each(sections)('$title names what exists', ({ rows, paragraphs }) => {
  const left = rows.map(([cell]) => cell).join(' ')
  const isTheirs = (code: string, among: string) => among.includes(code.replace(/\(\)$/, '')) || theirs.includes(code)
  const unknown = [
    ...rows.map(([cell, ours]) => [cell, ours] as const),
    ...paragraphs.map((text) => [left, text] as const),
  ]
    .flatMap(([among, text]) => codeIn(text).map((code) => ({ code, among, text })))
    .map(({ code, among, text }) => ({ code, among, names: unknownIn(code, createdIn(text)) }))
    .filter(({ code, among, names }) => names.length > 0 && !isTheirs(code, among))
  expect(unknown.map(({ code, names }) => `${names.join(', ')} in ${code}`)).toEqual([])
})

/** Every method and property of a client of `zookeeper` 7, the native add-on (lib/zookeeper.js, lib/zk_promise.js). */
const ofZookeeper = [
  ['init', 'connect', 'close', 'on_connected', 'set_servers', 'add_auth', 'setLogger', 'log', 'setEncoding', 'mkdirp'],
  ['state', 'timeout', 'client_id', 'client_password', 'is_unrecoverable', 'data_as_buffer'],
  ['create', 'exists', 'pathExists', 'get', 'get_children', 'get_children2', 'set', 'delete_', 'get_acl', 'set_acl'],
  ['sync', 'getconfig', 'reconfig'],
  ['w_exists', 'w_pathExists', 'w_get', 'w_get_children', 'w_get_children2', 'w_getconfig'],
  [
    'a_create',
    'a_createTtl',
    'a_exists',
    'a_get',
    'a_get_children',
    'a_get_children2',
    'a_set',
    'a_delete_',
    'a_get_acl',
  ],
  ['a_set_acl', 'a_sync', 'a_getconfig', 'a_reconfig'],
  ['aw_exists', 'aw_get', 'aw_get_children', 'aw_get_children2', 'aw_getconfig'],
].flat()

const rowsOf = (title: string) => migrating.find((section) => section.title === title)!.rows

test('The table for zookeeper names each method of it, and no method that it does not have', () => {
  const named = rowsOf('From `zookeeper`, the native add-on')
    .flatMap(([left]) => codeIn(left))
    .flatMap((code) => /^(\w+)(?:\(.*\))?$/.exec(code)?.[1] ?? [])
    .filter((name) => !['on', 'Error'].includes(name))
  expect([...new Set(named)].sort()).toEqual([...ofZookeeper].sort())
})

/** All recipes, and the tables that need not name them: that client has nothing of the kind. */
const recipes: Readonly<Record<string, string | undefined>> = {
  Lock: undefined,
  SharedLock: undefined,
  MultiLock: 'From kazoo',
  Semaphore: undefined,
  LeaderElection: undefined,
  Group: undefined,
  ServiceDiscovery: 'From kazoo',
  Mirror: undefined,
  Counter: undefined,
  Barrier: undefined,
  DoubleBarrier: undefined,
  once: 'From Curator',
}

describe.each(['From Curator', 'From kazoo'])('The table of %s', (title) => {
  test('has a row for each recipe that both have', () => {
    const ours = rowsOf(title).map(([, cell]) => cell)
    const missing = Object.entries(recipes).filter(
      ([name, without]) => without !== title && !ours.some((cell) => new RegExp(`\\b${name}\\(`).test(cell)),
    )
    expect(missing).toEqual([])
  })
})

test('The list of recipes is whole', () => {
  const withPath = sources.flatMap((source) =>
    Array.from(
      source.matchAll(/^export class (\w+)[^]*?^ {2}constructor\(zk: ZooKeeper, paths?: /gm),
      ([, name = '']) => name,
    ),
  )
  const made = withPath.filter((name) => exported.has(name) && !Object.values(givenBy).flat().includes(name))
  expect(
    Object.keys(recipes)
      .filter((name) => name !== 'once')
      .sort(),
  ).toEqual(made.sort())
})
