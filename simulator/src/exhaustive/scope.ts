import type { Kind, RecipeName } from '../scenario/scenario.ts'

/** Everything that may happen, without a limit but these. */
export interface Scope {
  readonly name: string
  readonly recipe: RecipeName
  /** One client each, which acquires and releases once. Of an election each leads for one term. */
  readonly clients: readonly Kind[]
  readonly faults: Faults
  /** How many timers may fire before all else has come to rest. */
  readonly earlyTimers: number
  /** Whether the parent of the contenders' nodes is there at first. */
  readonly hasParent: boolean
  /** Whether frames that were sent in one segment arrive at once; else each on its own. */
  readonly keepsSegments: boolean
}

export interface Faults {
  /** How many, at most, in one history. */
  readonly most: number
  readonly types: readonly FaultType[]
}

export const faultTypes = ['lose', 'expire', 'delete', 'abort'] as const

/**
 * - `lose`: a connection breaks, with what is under way up to the client, to the server, or both
 * - `expire`: a session ends
 * - `delete`: an operator deletes a contender's node
 * - `abort`: the signal of an acquire aborts
 */
export type FaultType = (typeof faultTypes)[number]
