import type { Played } from '../history/played.ts'

/** Something that must never be, with the id of the invariant that forbids it. */
export interface Violation {
  readonly invariant: InvariantId
  /** The true time in ms; undefined for the history as a whole. */
  readonly at: number | undefined
  readonly what: string
}

/** A letter for each recipe, and a number: simulator/README.md says what each invariant is. */
export type InvariantId = `${string}${number}`

/** Returns the violations of one invariant. It is a pure function. */
export type Check = (played: Played) => Violation[]
