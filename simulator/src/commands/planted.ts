// node dist/commands/planted.js [--seeds 20000] [part of a name]: how many seeds it takes to find each planted bug.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../planted/bundle.ts'
import { plantedBugs } from '../planted/index.ts'
import { runSeeds } from '../runner/pool.ts'
import { parse } from './arguments.ts'

const { seeds, options, workers, what = '' } = parse(['--seeds', '20000', ...process.argv.slice(2)])
let missed = 0
for (const { name, edits } of plantedBugs.filter(({ name }) => name.includes(what))) {
  const program = await bundle('runner/seed-worker.ts', edits)
  try {
    const { failures, histories } = await runSeeds({ program, seeds, options, ...(workers !== undefined && { workers }) })
    const first = failures[0]
    if (first === undefined) missed++
    const by = [...new Set(first?.violations.map(({ invariant }) => invariant))].join(', ')
    const found = first === undefined ? `NOT FOUND in ${histories} seeds` : `${first.seed - seeds.from + 1} by ${by}`
    console.log(`${name.padEnd(80)} ${found}`)
  } finally {
    await rm(dirname(fileURLToPath(program)), { recursive: true })
  }
}
if (missed > 0) process.exitCode = 1
