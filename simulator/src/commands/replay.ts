import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { draw } from '../scenario/draw.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { StoredSeed } from '../scenario/stored-seed.ts'
import { simulateScenario } from '../simulate.ts'
import { frameLines, printScenario, printTrace, printViolations } from '../trace/print.ts'
import { type Arguments, parse } from './arguments.ts'
import { shrinkFailure } from './shrink-failure.ts'

/** Plays a scenario again and prints its trace. */
export async function replay(args: readonly string[]): Promise<void> {
  const parsed = parse(args)
  const scenario = await scenarioOf(parsed, parsed.shrink)
  const { violations, played, stage } = await simulateScenario(scenario)
  console.log(printScenario(scenario))
  const { history } = stage.model
  if (!parsed.brief) console.log(`\n${printTrace(played.history, frameLines(history.entries, history.toString()))}`)
  console.log(violations.length === 0 ? '\nno violations' : `\n${printViolations(violations)}`)
}

/** Stores a scenario as a test. */
export async function store(args: readonly string[]): Promise<void> {
  const parsed = parse(args)
  const { name, note, whole } = parsed
  if (name === undefined || !/^[\w-]+$/.test(name)) throw new Error('--name: letters, digits and hyphens')
  const scenario = await scenarioOf(parsed, !whole)
  const { violations } = await simulateScenario(scenario)
  const stored: StoredSeed = {
    name,
    note,
    violates: [...new Set(violations.map(({ invariant }) => invariant))],
    scenario,
  }
  const file = fileURLToPath(new URL(`../../seeds/${name}.json`, import.meta.url))
  writeFileSync(file, `${JSON.stringify(stored, undefined, 2)}\n`)
  console.log(`${file}: violates ${stored.violates.join(', ') || 'nothing'}`)
}

async function scenarioOf({ what, options }: Arguments, isShrunk: boolean): Promise<Scenario> {
  if (what === undefined) throw new Error('which? A seed, or a file')
  const scenario = /^\d+$/.test(what)
    ? draw({ ...options, seed: Number(what) })
    : (JSON.parse(readFileSync(what, 'utf8')) as StoredSeed).scenario
  if (!isShrunk) return scenario
  const { violations } = await simulateScenario(scenario)
  return violations.length === 0 ? scenario : await shrinkFailure(scenario, violations)
}
