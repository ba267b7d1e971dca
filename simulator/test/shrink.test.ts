import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { shrinkFailure } from '../src/commands/shrink-failure.ts'
import type * as simulator from '../src/index.ts'
import { bundle } from '../src/planted/plant.ts'
import { plantedBugs } from '../src/planted/bugs.ts'
import type { CallingClient } from '../src/recipes/zookeeper/calls.ts'
import { draw } from '../src/scenario/draw.ts'
import type { Scenario } from '../src/scenario/scenario.ts'
import { shrink } from '../src/scenario/shrink.ts'

const tasksOf = ({ clients }: Scenario) => clients.flatMap(({ workers }) => workers.flat())

/** With many faults. */
const crowded = Array.from({ length: 100 }, (_, seed) => draw({ seed })).find(({ faults }) => faults.length === 8)!

describe('shrink', () => {
  test('shrink keeps only the one fault and the one task that matter', async () => {
    const fault = crowded.faults[5]!
    const task = tasksOf(crowded)[2]!
    const isThere = (scenario: Scenario) =>
      scenario.faults.some(({ at }) => at === fault.at) && tasksOf(scenario).some(({ after }) => after === task.after)
    const shrunk = await shrink(crowded, (scenario) => Promise.resolve(isThere(scenario)))
    expect(shrunk.faults).toEqual([fault])
    expect(tasksOf(shrunk)).toMatchObject([{ after: task.after }])
    expect(shrunk.clients).toHaveLength(crowded.clients.length)
  })

  test('shrink keeps only the one call that matters', async () => {
    const scenario = draw({ seed: 1, recipe: 'ZooKeeper' })
    const turnsOf = ({ clients }: Scenario) => (clients as readonly CallingClient[]).flatMap(({ calls }) => calls.turns)
    const callsOf = (scenario: Scenario) => turnsOf(scenario).flatMap(({ calls }) => calls)
    const { id, op, on } = callsOf(scenario).find(({ timeout }) => timeout !== undefined)!
    const isThere = (candidate: Scenario) => callsOf(candidate).some((call) => call.id === id)
    const shrunk = await shrink(scenario, (candidate) => Promise.resolve(isThere(candidate)))
    expect(callsOf(shrunk)).toEqual([{ id, op, on }])
    expect(turnsOf(shrunk)).toHaveLength(1)
  })

  test('shrink does not change a scenario that cannot be smaller', async () => {
    expect(await shrink(crowded, () => Promise.resolve(false))).toEqual(crowded)
  })

  test('shrink keeps two faults if neither is sufficient alone', async () => {
    const needed = [crowded.faults[1]!, crowded.faults[6]!]
    const shrunk = await shrink(crowded, ({ faults }) =>
      Promise.resolve(needed.every((fault) => faults.includes(fault))),
    )
    expect(shrunk.faults).toEqual(needed)
  })
})

describe('shrinkFailure', () => {
  test('shrinkFailure gives a smaller scenario that breaks the same invariant', async () => {
    const bug = plantedBugs.find(({ finds }) => finds === 'I9')!
    const program = await bundle('index.ts', bug)
    const { simulate, simulateScenario } = (await import(program.href)) as typeof simulator
    rmSync(dirname(fileURLToPath(program)), { recursive: true })
    let seed = 1
    let failed = await simulate({ seed })
    while (failed.violations.length === 0 && seed < bug.within) failed = await simulate({ seed: ++seed })
    const { scenario, violations } = failed
    expect(violations.map(({ invariant }) => invariant)).toContain('I9')
    const shrunk = await shrinkFailure(scenario, violations, simulateScenario)
    expect(shrunk.faults.length).toBeLessThanOrEqual(scenario.faults.length)
    expect(tasksOf(shrunk).length).toBeLessThan(tasksOf(scenario).length)
    const again = await simulateScenario(shrunk)
    expect(again.violations.map(({ invariant }) => invariant)).toContain(violations[0]!.invariant)
  }, 120_000)
})
