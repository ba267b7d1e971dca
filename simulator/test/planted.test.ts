// Bugs planted on purpose, one for each check. `pnpm planted` plays all of them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { InvariantId } from '../src/checks/check.ts'
import { plantedBugs } from '../src/planted/bugs.ts'
import { findBug } from '../src/planted/find.ts'
import { planted } from '../src/planted/plant.ts'

const folder = new URL('../', import.meta.url)
const textsBelow = (path: string) =>
  readdirSync(new URL(path, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))

/** The invariants that checks report. */
const reported = new Set(
  [...textsBelow('src/checks'), ...textsBelow('src/recipes')].flatMap((text) =>
    Array.from(text.matchAll(/'([A-Z]\d{1,2})'/g), ([, id]) => id!),
  ),
)

/** No bug in client or recipes breaks these in histories: `checks.test.ts` shows what they find. */
const without: readonly InvariantId[] = ['I5', 'I10', 'I13', 'G6']

/** The number of seeds that a test may play. */
const FEW = 20

test('README has a row for each invariant that a check reports', () => {
  const rows = readFileSync(new URL('README.md', folder), 'utf8').matchAll(/^\| ([A-Z]\d+(?:, [A-Z]\d+)*) \|/gm)
  const listed = Array.from(rows, ([, ids]) => ids!.split(', ')).flat()
  expect(listed.toSorted()).toEqual([...reported].toSorted())
})

describe('Planted bug', () => {
  test.each(plantedBugs)('Planted bug still applies: $name', (bug) => {
    const { path, code } = planted(bug)
    expect(path).toMatch(/packages.(client|recipes).src/)
    expect(code).toContain(bug.with)
  })

  test('Planted bugs are one for each check, each with a name of its own', () => {
    expect([...plantedBugs.map(({ finds }) => finds), ...without].toSorted()).toEqual([...reported].toSorted())
    expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length)
  })

  test('Planted bug whose text does not occur exactly once is an error', () => {
    expect(() => planted({ replace: 'not in there', with: '' })).toThrow('client and recipes have 0 times')
    expect(() => planted({ replace: 'await', with: '' })).toThrow(/client and recipes have \d{3,} times/)
  })

  test('Planted bug replaces its text, whatever spaces are between its words', () => {
    const { code } = planted({ replace: 'silence:   ({ T }: Times)\n => (T * 2) / 3', with: 'silence: () => 1' })
    expect(code).toContain('  silence: () => 1,')
  })

  test.each(plantedBugs.filter(({ within }) => within <= FEW))(
    'Planted bug is found by $finds: $name',
    async (bug) => {
      expect(await findBug(bug, 1)).toBeLessThanOrEqual(FEW)
    },
    60_000,
  )
})
