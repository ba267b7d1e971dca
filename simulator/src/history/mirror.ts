// The events of a history with mirrors.

/** A node as a mirror shows it. */
export interface MirroredContent {
  readonly path: string
  readonly czxid: bigint
  readonly mzxid: bigint
  readonly text: string
}

export type MirrorHappening =
  | { readonly type: 'opened'; readonly mirror: number; readonly client: number; readonly depth: number | undefined }
  | {
      readonly type: 'mirrored'
      readonly mirror: number
      readonly path: string
      readonly old: MirroredContent | undefined
      readonly node: MirroredContent | undefined
    }
  /** All that the mirror shows, and the transaction up to which it says to be complete. */
  | {
      readonly type: 'shown'
      readonly mirror: number
      readonly zxid: bigint
      readonly nodes: readonly MirroredContent[]
    }
  | { readonly type: 'mirrorClosed'; readonly mirror: number }
