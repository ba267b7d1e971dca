import type { InvariantId } from '../checks/check.ts'
import type { FaultType } from '../scenario/fault.ts'
import type { WorkloadName } from '../recipes/index.ts'

/** A bug on purpose: a text in the sources of client and recipes, and what replaces it. */
export interface PlantedBug {
  /** What goes wrong then. */
  readonly name: string
  /** Occurs exactly once in the sources, in whatever file. Spaces and line breaks do not matter. */
  readonly replace: string
  readonly with: string
  /** The check that finds it. */
  readonly finds: InvariantId
  /** One of the first so many seeds does. */
  readonly within: number
  /** What is played. @default a recipe, drawn */
  readonly recipe?: WorkloadName
  /** The faults that may be drawn. @default all that the recipe, or the client, promises to survive */
  readonly faults?: readonly FaultType[]
}
