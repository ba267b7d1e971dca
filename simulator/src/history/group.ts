// The events of a history with a group. The content of membership 3 after its second update is `3.2`.
import type { LostErrorCode } from '@zk/recipes'

/** A member as an observer saw it. */
export interface ListedMember {
  readonly name: string
  readonly text: string
  readonly czxid: bigint
  readonly mzxid: bigint
}

export type GroupHappening =
  | { readonly type: 'joining'; readonly membership: number; readonly client: number; readonly name: string }
  | { readonly type: 'joined'; readonly membership: number }
  | { readonly type: 'notJoined'; readonly membership: number; readonly error: string }
  | { readonly type: 'updating'; readonly membership: number; readonly update: number }
  | { readonly type: 'updated'; readonly membership: number; readonly update: number; readonly error?: string }
  | { readonly type: 'leaving'; readonly membership: number }
  /** With an error when it goes on in the background. */
  | { readonly type: 'hasLeft'; readonly membership: number; readonly isSessionOver: boolean; readonly error?: string }
  | { readonly type: 'memberEnded'; readonly membership: number; readonly reason: LostErrorCode }
  | { readonly type: 'listed'; readonly client: number; readonly members: readonly ListedMember[] }
