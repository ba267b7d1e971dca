// Documents that name tests name tests there are.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './workspace.ts'

const folders = [
  'packages/client/test',
  'packages/client/test/promises',
  'packages/client/test/watching',
  'packages/recipes/test',
  'packages/testing/test/database',
  'test-integration/test',
  'test-integration/test/foreign',
  'test-integration/test/scenarios',
]
const documents = ['docs/faults-of-client.md', 'docs/faults-of-recipes.md', 'docs/promises-of-recipes.md']

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** What stands in tables as `file.test.ts`: its title. */
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

/** As titles stand in sources. */
function hasTest(file: string, title: string): boolean {
  return folders
    .map((folder) => `${folder}/${file}`)
    .filter((path) => existsSync(join(root, path)))
    .some((path) => read(path).replaceAll("\\'", "'").includes(title))
}

/** The bold beginnings of the items below this heading. */
function itemsBelow(markdown: string, heading: string): string[] {
  const section = markdown.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map((match) => match[1]!)
}

/** The first column of the table whose head begins so. */
function rowsOf(markdown: string, head: string): string[] {
  const lines = markdown.split('\n')
  const first = lines.findIndex((line) => line.startsWith(`| ${head} |`))
  const end = lines.indexOf('', first)
  return lines.slice(first + 2, end === -1 ? undefined : end).map((line) => line.split('|')[1]!.trim())
}

describe.each(documents)('%s', (document) => {
  test('names tests that there are', () => {
    const named = namedTests(document)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([])
  })
})

test('docs/faults-of-client.md has a row, with tests, for every fault of watches', () => {
  const rows = Array.from({ length: 15 }, (_, index) => `V${String(index + 1).padStart(2, '0')}`)
  expect(rowsOf(read('docs/faults-of-client.md'), 'row')).toEqual(rows)
})

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
