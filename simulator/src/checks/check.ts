import type { Played } from '../history/played.ts'

/** Something that must never be, with the id of the invariant that forbids it. */
export interface Violation {
  readonly invariant: InvariantId
  /** True time in ms; undefined where it is about the whole. */
  readonly at: number | undefined
  readonly what: string
}

/** Of recipes, and of the client: what it promises, by number. */
export type InvariantId =
  | `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 18}`
  | `P${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}`

/** Looks for violations of one invariant. Pure. */
export type Check = (played: Played) => Violation[]
