// Checks documents: the tests that they name exist, and their links have targets.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { published, root, sourcesIn, workspaces } from './workspace.ts'

const folders = [
  'packages/client/test',
  'packages/client/test/faults',
  'packages/client/test/flow',
  'packages/client/test/telemetry',
  'packages/client/test/machine',
  'packages/client/test/promises',
  'packages/client/test/sasl',
  'packages/client/test/watching',
  'packages/wire/test',
  'packages/recipes/test',
  'packages/testing/test',
  'packages/testing/test/database',
  'test-integration/test',
  'test-integration/test/foreign',
  'test-integration/test/scenarios',
]
const documents = ['docs/faults-of-client.md', 'docs/faults-of-recipes.md', 'docs/promises-of-recipes.md']

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The tests that tables name, written as `file.test.ts`: title. */
function namedTests(document: string): { readonly file: string; readonly title: string }[] {
  const cells = read(document)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => line.split(/<br>| \| /))
  return cells.flatMap((cell) => {
    const match = /^`([\w-]+\.test\.ts)`: (.*?)(?: \|)?$/.exec(cell.trim())
    return match === null ? [] : [{ file: match[1]!, title: match[2]! }]
  })
}

/** Whether the source of the file contains this title. */
function hasTest(file: string, title: string): boolean {
  return folders
    .map((folder) => `${folder}/${file}`)
    .filter((path) => existsSync(join(root, path)))
    .some((path) => read(path).replaceAll("\\'", "'").includes(title))
}

/** The bold beginnings of the list items below this heading. */
function itemsBelow(markdown: string, heading: string): string[] {
  const section = markdown.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map((match) => match[1]!)
}

/** The first column of the table whose header begins with `head`. */
function rowsOf(markdown: string, head: string): string[] {
  const lines = markdown.split('\n')
  const first = lines.findIndex((line) => line.startsWith(`| ${head} |`))
  const end = lines.indexOf('', first)
  return lines.slice(first + 2, end === -1 ? undefined : end).map((line) => line.split('|')[1]!.trim())
}

describe.each(documents)('%s', (document) => {
  test('names only tests that exist', () => {
    const named = namedTests(document)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
  })
})

/** The catalogues of faults. A document must have a row for each fault: the letter of the ids, and the number of rows. */
const catalogues: [document: string, letter: string, rows: number][] = [
  ['docs/faults-of-client.md', 'W', 32],
  ['docs/faults-of-client.md', 'V', 15],
  ['docs/faults-of-client.md', 'S', 26],
]

test.each(catalogues)(
  '%s has a row for each of the faults %s, with a test that has its id',
  (document, letter, count) => {
    const lines = read(document).split('\n')
    const rows = lines.filter((line) => new RegExp(`^\\| ${letter}\\d`).test(line)).map((line) => line.split(' | '))
    const ids = Array.from({ length: count }, (_, index) => `${letter}${String(index + 1).padStart(2, '0')}`)
    expect(rows.map(([id]) => id!.slice(2))).toEqual(ids)
    const hasTestOfItsId = ([id, , , tests]: string[]) =>
      new RegExp(`\\([^()]*${id!.slice(2)}[^()]*\\)`).test(tests ?? '')
    expect(rows.filter((row) => !hasTestOfItsId(row)).map(([id]) => id)).toEqual([])
  },
)

describe('README of @zk/recipes', () => {
  test.each([
    ['What is guaranteed', 'guaranteed'],
    ['What is not', 'not guaranteed'],
  ])('every item below "%s" has its tests in the table', (heading, head) => {
    const items = itemsBelow(read('packages/recipes/README.md'), heading)
    expect(items.length).toBeGreaterThan(5)
    expect(rowsOf(read('docs/promises-of-recipes.md'), head)).toEqual(items)
  })
})

const skipped = new Set(['node_modules', 'dist', '.git', 'typedoc', 'coverage'])

function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : markdownBelow(path)
    return entry.isFile() && path.endsWith('.md') ? [path] : []
  })
}

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
  expect(named.length).toBeGreaterThan(50)
  const isDeclared = (text: string, member: string) =>
    new RegExp(`^  [\\w ]*?\\*?${member}\\b *[(<:=?!;]`, 'm').test(text)
  const dead = named.filter(({ declaring, member }) => !declaring.some((text) => isDeclared(text, member)))
  expect(dead.map(({ name }) => name)).toEqual([])
})

test('ARCHITECTURE.md names no TypeScript file that does not exist', () => {
  const sources = workspaces.flatMap(({ folder }) => sourcesIn(folder)).concat(sourcesIn('test'))
  const named = [...read('ARCHITECTURE.md').matchAll(/`([\w/.-]+\.ts)`/g)].map(([, path]) => `/${path}`)
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((path) => !sources.some((source) => `/${source}`.endsWith(path)))).toEqual([])
})
