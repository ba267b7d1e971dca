import type { InvariantId } from '../checks/check.ts'
import type { Scenario } from './scenario.ts'

/** A stored scenario, in `seeds/`. It is complete, so it does not change when seeds are drawn in another way. */
export interface StoredSeed {
  readonly name: string
  /** What the scenario shows. */
  readonly note: string
  /** The invariants that it should break; none after the mistake was corrected. */
  readonly violates: readonly InvariantId[]
  readonly scenario: Scenario
}
