import { describe, expect, test } from 'vitest'
import { shrinkFailure } from '../src/commands/shrink-failure.ts'
import { draw } from '../src/scenario/draw.ts'
import type { Scenario } from '../src/scenario/scenario.ts'
import { shrink } from '../src/scenario/shrink.ts'
import { simulate, simulateScenario } from '../src/simulate.ts'

const tasksOf = ({ clients }: Scenario) => clients.flatMap(({ workers }) => workers.flat())

/** With many faults. */
const crowded = Array.from({ length: 100 }, (_, seed) => draw({ seed })).find(({ faults }) => faults.length === 8)!

describe('shrink', () => {
  test('shrink leaves the one fault and the one task that matter', async () => {
    const fault = crowded.faults[5]!
    const task = tasksOf(crowded)[2]!
    const isThere = (scenario: Scenario) =>
      scenario.faults.some(({ at }) => at === fault.at) && tasksOf(scenario).some(({ after }) => after === task.after)
    const shrunk = await shrink(crowded, (scenario) => Promise.resolve(isThere(scenario)))
    expect(shrunk.faults).toEqual([fault])
    expect(tasksOf(shrunk)).toMatchObject([{ after: task.after }])
    expect(shrunk.clients).toHaveLength(crowded.clients.length)
  })

  test('shrink leaves what cannot be smaller as it is', async () => {
    expect(await shrink(crowded, () => Promise.resolve(false))).toEqual(crowded)
  })

  test('shrink keeps two faults of which neither is enough', async () => {
    const needed = [crowded.faults[1]!, crowded.faults[6]!]
    const shrunk = await shrink(crowded, ({ faults }) =>
      Promise.resolve(needed.every((fault) => faults.includes(fault))),
    )
    expect(shrunk.faults).toEqual(needed)
  })
})

describe('shrinkFailure', () => {
  test('shrinkFailure gives a smaller scenario that breaks the same invariant', async () => {
    const { scenario, violations } = await simulate({ seed: 346, recipe: 'Lock', faults: ['cutFollower'] })
    expect(violations.map(({ invariant }) => invariant)).toEqual(['I1'])
    const shrunk = await shrinkFailure(scenario, violations)
    expect(shrunk.faults).toHaveLength(1)
    expect(tasksOf(shrunk).length).toBeLessThan(tasksOf(scenario).length)
    const again = await simulateScenario(shrunk)
    expect(again.violations.map(({ invariant }) => invariant)).toEqual(['I1'])
  }, 30_000)
})
