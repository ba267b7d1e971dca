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
export const invariantIds = [
  ...(['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10', 'I11', 'I12', 'I13', 'I14', 'I15', 'I18'] as const),
  ...(['C1', 'C2', 'C3', 'C4', 'B1', 'B2', 'B3', 'D1', 'D2', 'D3', 'G1', 'G2', 'G3', 'G4', 'G5', 'G6'] as const),
  ...(['S1', 'S2', 'S3', 'M1', 'M2', 'M3', 'T1', 'T2', 'T3'] as const),
  ...(['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10', 'P11'] as const),
]
export type InvariantId = (typeof invariantIds)[number]

/** Returns the violations of one invariant. It is a pure function. */
export type Check = (played: Played) => Violation[]
