// Bugs planted on purpose. They still apply to the sources, and the seed that finds each is known. Some are found again here.
import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bundle } from '../src/planted/bundle.ts'
import { edited } from '../src/planted/edited.ts'
import { plantedBugs } from '../src/planted/index.ts'
import { parseTable, printTable } from '../src/planted/table.ts'
import { runSeeds } from '../src/runner/pool.ts'

const text = readFileSync(new URL('../PLANTED.md', import.meta.url), 'utf8')
const table = parseTable(text)

describe('Planted bug', () => {
  test.each(plantedBugs)('Planted bug still applies: $name', ({ edits }) => {
    for (const code of edited(edits).values()) expect(code.length).toBeGreaterThan(0)
  })

  test('Planted bugs are at least 20, each with a name of its own', () => {
    expect(plantedBugs.length).toBeGreaterThanOrEqual(20)
    expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length)
  })

  test('Planted bug that no longer applies is an error that says where', () => {
    const missing = { in: 'Contender.compete', find: 'not in there', replace: '' }
    expect(() => edited([missing])).toThrow(/Contender\.compete has 0 times/)
    const twice = { in: 'Contender', find: 'this.#lines', replace: '' }
    expect(() => edited([twice])).toThrow(/Contender has \d\d? times/)
    expect(() => edited([{ in: 'NoSuchThing', find: 'x', replace: '' }])).toThrow('NoSuchThing has 0 times')
  })

  test('Planted bug is found by words, whatever spaces are between them, and one edit behind the other', () => {
    const edits = [
      {
        in: 'Contender.prepare',
        find: 'this.#notedNow()   ===\n undefined',
        replace: 'this.#notedNow() !== undefined',
      },
      { in: 'Contender.prepare', find: '!== undefined', replace: '!== null' },
    ]
    const [code] = edited(edits).values()
    expect(code).toContain('if (this.#notedNow() !== null) this.#synced()')
  })

  test('PLANTED.md lists for every planted bug how many seeds it takes', () => {
    expect(table.map(({ name, recipe, faults }) => ({ name, recipe, faults }))).toEqual(
      plantedBugs.map(({ name, recipe, faults }) => ({ name, recipe, faults })),
    )
    expect(table.filter(({ seed }) => seed === undefined || seed > 20_000)).toEqual([])
    expect(printTable(table)).toBe(text)
  })

  test.each([
    'granted without a committed check',
    'a release resolves before the node is gone',
    'a writer does not wait for readers',
    'the fencing token is the sequence number',
    'reads are lost with their connection',
    'the timer outlives the session',
    // One for each promise of the client.
    'what was not sent goes ahead of what is repeated',
    'events are delivered a turn of the microtask queue later',
    'a write that was sent is reported at its timeout as not executed',
    'silence counts after T',
    'an aborted call goes on listening to its signal',
    'the queue goes ahead of the watches',
    'what was not sent waits on when its session has expired',
    'a silent session lives for 2 T',
    'a reply is taken for that of the oldest request, whatever its xid',
    'an unknown error code is reported as another',
  ])('Planted bug is found by the seed it is known to need: %s', async (name) => {
    const { edits, recipe } = plantedBugs.find((bug) => bug.name === name)!
    const { seed, by } = table.find((finding) => finding.name === name)!
    const program = await bundle('runner/seed-worker.ts', edits)
    try {
      const seeds = { from: seed!, count: 1 }
      const { failures } = await runSeeds({ program, seeds, options: { recipe }, workers: 1 })
      expect(new Set(failures[0]?.violations.map(({ invariant }) => invariant))).toEqual(new Set(by))
    } finally {
      rmSync(dirname(fileURLToPath(program)), { recursive: true })
    }
  })
})
