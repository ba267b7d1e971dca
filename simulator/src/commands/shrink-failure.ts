import type { Violation } from '../checks/check.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { shrink } from '../scenario/shrink.ts'
import { simulateScenario } from '../simulate.ts'

/** Shrinks a scenario while it still violates the same invariant: the first one that was found. */
export function shrinkFailure(
  scenario: Scenario,
  violations: readonly Violation[],
  play: typeof simulateScenario = simulateScenario,
): Promise<Scenario> {
  const wanted = violations[0]?.invariant
  return shrink(scenario, async (candidate) => {
    try {
      const { violations } = await play(candidate)
      return violations.some(({ invariant }) => invariant === wanted)
    } catch {
      return false
    }
  })
}
