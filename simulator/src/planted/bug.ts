import type { FaultType } from '../scenario/fault.ts'
import type { Workload } from '../scenario/scenario.ts'

/** A bug to be planted: finds and replaces in the sources of client and recipes. */
export interface PlantedBug {
  /** What goes wrong then. */
  readonly name: string
  /** What is played. @default a recipe, drawn */
  readonly recipe?: Workload
  /** What may be drawn for it, if all together hit it too seldom. */
  readonly faults?: readonly FaultType[]
  readonly edits: readonly Edit[]
}

export interface Edit {
  /** The declaration of client or recipes in which it is, wherever that stands: `firstLease`, `Contender.confirm`. */
  readonly in: string
  /** Occurs exactly once there. Spaces and line breaks do not matter. */
  readonly find: string
  readonly replace: string
}
