import { draw } from '../scenario/draw.ts'
import { simulateScenario } from '../simulate.ts'
import { printScenario, printViolations } from '../trace/print.ts'
import { type Progress, runSeeds } from '../runner/pool.ts'
import { parse } from './arguments.ts'
import { shrinkFailure } from './shrink-failure.ts'

const program = new URL('../runner/seed-worker.js', import.meta.url)

/** Runs seeds. Ends the process with 1 when a seed has failed. */
export async function run(args: readonly string[]): Promise<void> {
  const { seeds, options, workers, 'go-on': goesOn } = parse(args)
  const what = options.recipe === 'ZooKeeper' ? 'calls' : 'grants'
  let last = 0
  const onProgress = (progress: Progress) => {
    if (progress.elapsed - last < 1_000) return
    last = progress.elapsed
    process.stdout.write(`\r${summary(progress, what)} `)
  }
  const all = await runSeeds({ program, seeds, options, goesOn, ...(workers !== undefined && { workers }), onProgress })
  console.log(`\r${summary(all, what)}`)
  if (all.failures.length === 0) return
  process.exitCode = 1
  if (goesOn) return countFailures(all)
  const { seed, violations, isEndless } = all.failures[0]!
  console.log(`\nseed ${seed}\n${printViolations(violations)}\n`)
  const scenario = draw({ ...options, seed })
  // A replay would take as long.
  if (isEndless) return console.log(printScenario(scenario))
  const shrunk = await shrinkFailure(scenario, violations)
  const again = await simulateScenario(shrunk)
  console.log(`${printScenario(shrunk)}\n\n${printViolations(again.violations)}`)
  console.log(`\nsimulate replay ${seed} --shrink ${args.join(' ')}`)
}

function summary({ histories, events, grants, failures, elapsed }: Progress, what: string): string {
  const minutes = elapsed / 60_000
  const rate = Math.round(histories / minutes)
  return (
    `${histories} histories, ${grants} ${what}, ${events} events in ${(elapsed / 1_000).toFixed(0)} s ` +
    `(${rate} histories a minute), ${failures.length} with violations`
  )
}

function countFailures({ failures }: Progress): void {
  const seedsOf = new Map<string, number[]>()
  for (const { seed, violations } of failures) {
    for (const invariant of new Set(violations.map(({ invariant }) => invariant))) {
      seedsOf.set(invariant, [...(seedsOf.get(invariant) ?? []), seed])
    }
  }
  const byId = [...seedsOf].sort(([one], [other]) => Number(one.slice(1)) - Number(other.slice(1)))
  for (const [invariant, seeds] of byId) {
    console.log(`${invariant}: ${seeds.length} seeds, ${seeds.slice(0, 10).join(' ')}${seeds.length > 10 ? ' …' : ''}`)
  }
}
