// Checks documents: each fault of the catalogue has its test, links have targets, and ARCHITECTURE.md names what exists.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { markdownBelow, published, root, sourcesIn, workspaces } from './workspace.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The list items of this text, each in one line. */
function itemsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^- (.+\n(?: {2}.+\n)*)/gm)].map(([, item]) => item!.trim().replace(/\s+/g, ' '))
}

/** The rows of all tables whose header begins with this cell, as cells. */
function rowsOf(markdown: string, head: string): string[][] {
  const tables = markdown.split('\n\n').filter((block) => block.startsWith(`| ${head} |`))
  return tables.flatMap((table) => {
    const rows = table.trimEnd().split('\n').slice(2)
    return rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  })
}

/** The ids of faults and invariants in titles of tests: every group in parentheses inside a string, such as `(L20, R13)`. */
function idsInTitles(source: string): string[] {
  const strings = source.split('\n').filter((line) => !line.trimStart().startsWith('//') && /['"`]/.test(line))
  return strings
    .flatMap((line) => [...line.matchAll(/\(([^()]*)\)/g)])
    .flatMap(([, group]) => [...group!.matchAll(/\b[A-Z]\d{2}\b/g)].map(([id]) => id))
}

describe('The catalogue of faults', () => {
  const catalogue = read('docs/faults.md')
  const ids = rowsOf(catalogue, 'id').map(([id]) => id!)
  const tests = workspaces
    .flatMap(({ folder }) => sourcesIn(`${folder}/test`))
    .concat(sourcesIn('packages/conform/src/scenarios'))
    .filter((path) => path.endsWith('.ts') && (!path.startsWith('simulator/') || path.endsWith('simulate.test.ts')))
    .map((path) => ({ path, named: idsInTitles(read(path)) }))

  test('has each id once', () => {
    expect(ids.length).toBeGreaterThan(200)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  test('has no id without a test', () => {
    const named = new Set(tests.flatMap(({ named }) => named))
    expect(ids.filter((id) => !named.has(id))).toEqual([])
  })

  test('has every id that a test names, unless it is an invariant of the simulator', () => {
    const invariants = Array.from(read('simulator/README.md').matchAll(/\bI\d{2}\b/g), ([id]) => id)
    const known = new Set([...ids, ...invariants])
    const unknown = tests.flatMap(({ path, named }) =>
      named.filter((id) => !known.has(id)).map((id) => `${path}: ${id}`),
    )
    expect(unknown).toEqual([])
  })

  const [guaranteed] = read('docs/guarantees.md').split('## What is not guaranteed')
  // The name of a promise, and at its end the ids of faults, then the names of invariants.
  const promises = itemsOf(guaranteed!).map((item) => ({
    name: /^\*\*(.+?)\*\*/.exec(item)?.[1],
    ids: /\(((?:[A-Z]\d\d ?)+)(?:; ((?:[A-Z]\d+ ?)+))?\)$/.exec(item),
  }))

  test('has what endangers each promise', () => {
    expect(promises.length).toBeGreaterThan(30)
    expect(promises.filter(({ name, ids }) => name === undefined || ids === null)).toEqual([])
  })

  test.each(promises)('has the faults and invariants of "$name"', ({ ids: named }) => {
    const [, faults = '', invariants = ''] = named!
    const words = (text: string) => text.split(' ').filter((word) => word !== '')
    expect(words(faults).filter((id) => !ids.includes(id))).toEqual([])
    const checks = sourcesIn('simulator/src').map(read)
    expect(words(invariants).filter((name) => !checks.some((text) => text.includes(`'${name}'`)))).toEqual([])
  })
})

const withoutCode = (markdown: string) => markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '')

/** The anchor of a heading, as web sites that show Markdown make it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (path: string) =>
  [
    ...read(path)
      .replace(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map((match) => anchorOf(match[1]!))

test('every relative link leads to a file, and to a heading of it', () => {
  const links = markdownBelow('').flatMap((document) =>
    [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ document, target })),
  )
  expect(links.length).toBeGreaterThan(50)
  const dead = links.filter(({ document, target }) => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(root, file))) return true
    return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)
  })
  expect(dead).toEqual([])
})

test('packages/client/README.md has each message of the log', () => {
  const sources = ['client', 'recipes'].flatMap((name) => sourcesIn(`packages/${name}/src`)).map(read)
  const messages = sources.flatMap((source) =>
    [...source.matchAll(/'(?:debug|info|warn|error)',\s*(['"])([^:]+?)(?:\1|:)/g)].map(([, , message]) => message!),
  )
  expect(messages.length).toBeGreaterThan(35)
  const [, table] = read('packages/client/README.md').split('**The logger**')
  expect(messages.filter((message) => !table!.includes(message))).toEqual([])
})

test('ARCHITECTURE.md names no member that its class does not have', () => {
  // ZooKeeper's own classes, and those of JavaScript, are not in the sources. `@zk/testing` has classes of the same names.
  const sources = published
    .filter(({ folder }) => folder !== 'packages/testing')
    .flatMap(({ folder }) => sourcesIn(`${folder}/src`))
    .concat(sourcesIn('simulator/src'))
    .map(read)
  const names = [...read('ARCHITECTURE.md').matchAll(/\b([A-Z]\w+)\.(#?[a-z]\w*)/g)]
  const named = names.flatMap(([, type, member]) => {
    const declaring = sources.filter((text) =>
      new RegExp(`^export (abstract )?(class|interface) ${type}\\b`, 'm').test(text),
    )
    return declaring.length === 0 ? [] : [{ name: `${type}.${member}`, declaring, member: member! }]
  })
  expect(named.length).toBeGreaterThan(3)
  const isDeclared = (text: string, member: string) =>
    new RegExp(`^  [\\w ]*?\\*?${member}\\b *[(<:=?!;]`, 'm').test(text)
  const dead = named.filter(({ declaring, member }) => !declaring.some((text) => isDeclared(text, member)))
  expect(dead.map(({ name }) => name)).toEqual([])
})

test('ARCHITECTURE.md names no TypeScript file that does not exist', () => {
  const sources = workspaces.flatMap(({ folder }) => sourcesIn(folder)).concat(sourcesIn('test'))
  const named = [...read('ARCHITECTURE.md').matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path]) => `/${path}`)
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !sources.some((source) => `/${source}`.endsWith(path)))).toEqual([])
})
