import type { Played } from '../history/played.ts'

/** Something that must never be, with the id of the invariant that forbids it. */
export interface Violation {
  readonly invariant: InvariantId
  /** The true time in ms; undefined for the history as a whole. */
  readonly at: number | undefined
  readonly what: string
}

/**
 * The ids of invariants: I for recipes, S for semaphores, M for several locks, C for counters, B for barriers, D for double barriers, G for
 * groups, T for mirrors, P for promises of the client.
 */
export type InvariantId =
  | `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 18}`
  | `C${1 | 2 | 3 | 4}`
  | `B${1 | 2 | 3}`
  | `D${1 | 2 | 3}`
  | `G${1 | 2 | 3 | 4 | 5 | 6}`
  | `S${1 | 2 | 3}`
  | `M${1 | 2 | 3 | 4 | 5}`
  | `T${1 | 2 | 3}`
  | `P${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}`

/** Returns the violations of one invariant. It is a pure function. */
export type Check = (played: Played) => Violation[]
