import type { LockName } from '../scenario/locks.ts'
import type { HoldKind, TaskRecipe } from '../scenario/scenario.ts'

/** The limits of a search: everything within them may happen. */
export interface Scope {
  readonly name: string
  readonly recipe: TaskRecipe
  /** Each entry is one client, which acquires and releases once. In an election each leads for one term. */
  readonly clients: readonly HoldKind[]
  /** How many permits a semaphore has. */
  readonly permits?: number
  /** How many of them each client takes. @default one */
  readonly counts?: readonly number[]
  /** The paths that each client takes, in this order: one by a plain `Lock`, several by a `MultiLock`. */
  readonly locks?: readonly (readonly LockName[])[]
  readonly faults: Faults
  /** How many timers may fire before everything else has happened. */
  readonly earlyTimers: number
  /** Whether the parent of the contenders' nodes exists at first. */
  readonly hasParent: boolean
  /** Whether frames of one segment arrive together. Otherwise each arrives on its own. */
  readonly keepsSegments: boolean
}

export interface Faults {
  /** How many faults one history has at most. */
  readonly most: number
  readonly types: readonly FaultType[]
}

export const faultTypes = ['lose', 'expire', 'delete', 'abort'] as const

/**
 * - `lose`: a connection breaks, with the bytes under way to the client, to the server, or to both
 * - `expire`: a session ends
 * - `delete`: an operator deletes a contender's node
 * - `abort`: the signal of an acquire aborts
 */
export type FaultType = (typeof faultTypes)[number]
