// Simulated time moves on after a fixed number of microtask turns: `drain.ts` of @zk/testing says why.
import { describe, expect, test } from 'vitest'
import { drain, TURNS, type Witness, type World } from '@zk/testing/internal'
import { drawnNames } from '../src/recipes/index.ts'
import { draw } from '../src/scenario/draw.ts'
import { simulateScenario } from '../src/simulate.ts'

/** Longer than any chain of promises takes, so that a chain that is too long is measured and not cut off. */
const MOST = 2 * TURNS

const scenarios = drawnNames.flatMap((recipe) =>
  Array.from({ length: 4 }, (_, seed) => draw({ seed: seed + 1, recipe })),
)

/** Drains turn by turn and records the last turn with any activity. */
class Measure implements Witness {
  deepest = 0

  async drained(world: World): Promise<void> {
    let { activity } = world
    for (let turn = 1; turn <= MOST; turn++) {
      await drain(1)
      if (world.activity === activity) continue
      activity = world.activity
      this.deepest = Math.max(this.deepest, turn)
    }
  }
}

/** Waits for a real macrotask, in which all remaining work of promises has been done. */
class LeftOver implements Witness {
  events = 0
  found = 0

  async drained(world: World): Promise<void> {
    const { activity } = world
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    this.events++
    if (world.activity !== activity) this.found++
  }
}

async function leftOver(turns: number): Promise<LeftOver> {
  const witness = new LeftOver()
  for (const scenario of scenarios) await simulateScenario(scenario, { turns, witness })
  return witness
}

describe('TURNS', () => {
  test('TURNS is more than twice the longest chain of promises that an event sets off', async () => {
    const witness = new Measure()
    for (const scenario of scenarios) await simulateScenario(scenario, { turns: 0, witness })
    expect(witness.deepest).toBeGreaterThan(5)
    expect(witness.deepest * 2).toBeLessThan(TURNS)
  })

  test('TURNS leaves no work of promises for a macrotask', async () => {
    const { events, found } = await leftOver(TURNS)
    expect(events).toBeGreaterThan(1_000)
    expect(found).toBe(0)
  })

  test('Turns that are too few are noticed', async () => {
    expect((await leftOver(4)).found).toBeGreaterThan(0)
  })
})
