import type { InvariantId } from '../checks/check.ts'
import type { Scenario } from './scenario.ts'

/** A scenario worth keeping, in `seeds/`. Whole, so that it stays what it is when seeds are drawn in another way. */
export interface StoredSeed {
  readonly name: string
  /** What it shows. */
  readonly note: string
  /** The invariants that it is expected to break; none once what it found is mended. */
  readonly violates: readonly InvariantId[]
  readonly scenario: Scenario
}
