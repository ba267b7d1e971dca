// node dist/commands/planted.js [--seeds 20000] [--write] [part of a name, or what is played]: how many seeds it takes to
// find each planted bug. --write puts the answers into simulator/PLANTED.md.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PlantedBug } from '../planted/bug.ts'
import { bundle } from '../planted/bundle.ts'
import { plantedBugs } from '../planted/index.ts'
import { type Finding, parseTable, printRow, printTable } from '../planted/table.ts'
import { runSeeds } from '../runner/pool.ts'
import { parse } from './arguments.ts'

/** How long a seed may take, in ms. A seed that takes longer has found the planted bug. */
const LONGEST = 5_000

const { seeds, options, workers, write, what = '' } = parse(['--seeds', '20000', ...process.argv.slice(2)])
const file = fileURLToPath(new URL('../../PLANTED.md', import.meta.url))

let missed = 0
for (const bug of plantedBugs.filter(({ name, recipe }) => name.includes(what) || recipe === what)) {
  const finding = await find(bug)
  if (finding.seed === undefined) missed++
  console.log(printRow(finding))
  if (write) note(finding)
}
if (missed > 0) {
  console.error(`${missed} not found within ${seeds.count} seeds`)
  process.exitCode = 1
}

async function find({ name, recipe, faults, edits }: PlantedBug): Promise<Finding> {
  const program = await bundle('runner/seed-worker.ts', edits)
  try {
    const drawn = { ...options, recipe: recipe ?? options.recipe, faults: faults ?? options.faults }
    const pool = { program, seeds, options: drawn, longest: LONGEST, ...(workers !== undefined && { workers }) }
    const { failures } = await runSeeds(pool)
    const first = failures[0]
    return {
      name,
      recipe,
      faults,
      seed: first?.seed,
      by: [...new Set(first?.violations.map(({ invariant }) => invariant))],
    }
  } finally {
    rmSync(dirname(fileURLToPath(program)), { recursive: true })
  }
}

/** Writes one row after the other, so that the rows of a run that is cut short are kept. */
function note(finding: Finding): void {
  const known = parseTable(readFileSync(file, 'utf8')).filter(({ name }) => name !== finding.name)
  const order = new Map(plantedBugs.map(({ name }, index) => [name, index]))
  const isPlanted = ({ name }: Finding) => order.has(name)
  const findings = [...known.filter(isPlanted), finding]
  findings.sort((one, other) => order.get(one.name)! - order.get(other.name)!)
  writeFileSync(file, printTable(findings))
}
