import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runSeeds } from '../runner/pool.ts'
import type { PlantedBug } from './bug.ts'
import { bundle } from './plant.ts'

/** How long a seed may take, in ms. Some bugs make histories endless: then the seed has found nothing. */
const LONGEST = 5_000

/** The first seed, from 1 on, in which the check finds the bug; undefined if none of the first `within` does. */
export async function findBug(bug: PlantedBug, workers?: number): Promise<number | undefined> {
  const program = await bundle('runner/seed-worker.ts', bug)
  const { recipe, faults, finds, within } = bug
  const pool = { program, options: { recipe, faults }, longest: LONGEST, goesOn: true, ...(workers && { workers }) }
  try {
    for (let from = 1, count = 1; from <= within; from += count, count *= 2) {
      const { failures } = await runSeeds({ ...pool, seeds: { from, count: Math.min(count, within + 1 - from) } })
      const found = failures.find(({ violations }) => violations.some(({ invariant }) => invariant === finds))
      if (found !== undefined) return found.seed
    }
    return undefined
  } finally {
    rmSync(dirname(fileURLToPath(program)), { recursive: true })
  }
}
