/** A bug to be planted: finds and replaces in the sources of client and recipes. */
export interface PlantedBug {
  /** What goes wrong then. */
  readonly name: string
  readonly edits: readonly Edit[]
}

export interface Edit {
  /** Below `packages/`. */
  readonly file: string
  /** Occurs exactly once. */
  readonly find: string
  readonly replace: string
}
