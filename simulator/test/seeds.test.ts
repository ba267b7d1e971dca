// Stored seeds: each found a bug once and is played again. Each file states the expected result.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { bundle } from '../src/planted/plant.ts'
import { plantedBugs } from '../src/planted/bugs.ts'
import type { StoredSeed } from '../src/scenario/stored-seed.ts'
import { simulateScenario } from '../src/simulate.ts'

const folder = new URL('../seeds/', import.meta.url)
const stored = readdirSync(folder).map((file) => {
  return { file, ...(JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as StoredSeed) }
})

const expected = ({ violates }: StoredSeed) =>
  violates.length === 0 ? 'violates nothing' : `violates ${violates.join(' and ')}, until that is mended`

describe('Stored seed', () => {
  test.each(stored.map((seed) => ({ ...seed, expected: expected(seed) })))(
    'Stored seed $name $expected',
    async ({ file, name, note, violates, scenario }) => {
      expect(file).toBe(`${name}.json`)
      expect(note).not.toBe('')
      const { violations } = await simulateScenario(scenario)
      const broken = [...new Set(violations.map(({ invariant }) => invariant))]
      expect(broken, violations.map(({ what }) => what).join('\n')).toEqual(violates)
    },
  )

  test.each(['l31', 'l32'])(
    'Stored seed %s breaks I1 if a lock is held as long as its connection stands',
    async (id) => {
      const bug = plantedBugs.find(({ name }) => name === 'a lock is held as long as its connection stands')!
      const program = await bundle('index.ts', bug)
      const { simulateScenario: simulateWithout } = (await import(program.href)) as {
        simulateScenario: typeof simulateScenario
      }
      rmSync(dirname(fileURLToPath(program)), { recursive: true })
      const seeds = stored.filter(({ name }) => name.startsWith(id))
      expect(seeds.length).toBeGreaterThan(0)
      for (const { scenario } of seeds) {
        const { violations } = await simulateWithout(scenario)
        expect(violations.map(({ invariant }) => invariant)).toContain('I1')
      }
    },
  )
})
