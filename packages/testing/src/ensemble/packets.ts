// The messages between a leader and its followers. A connection keeps them in order (Leader.java).
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { QuorumConfig } from '../database/index.ts'
import type { Snapshot } from './database.ts'

/** Messages of a follower to its leader. */
export type LearnerPacket =
  | { readonly type: 'followerInfo'; readonly member: string; readonly currentEpoch: number; readonly lastZxid: bigint }
  /** Everything in the leader's `sync` is on the follower's disk (the ACK of NEWLEADER). */
  | { readonly type: 'synced' }
  | { readonly type: 'ack'; readonly zxid: bigint }
  | { readonly type: 'request'; readonly request: ServerRequest }
  | { readonly type: 'revalidate'; readonly sessionId: bigint; readonly timeOut: number }
  /** The answer to a ping: the touched sessions, each with the timeout of its connection. */
  | { readonly type: 'ping'; readonly touched: ReadonlyMap<bigint, number> }

/** Messages of a leader to a follower. */
export type LeaderPacket =
  | Sync
  | { readonly type: 'upToDate' }
  | { readonly type: 'proposal'; readonly entry: LoggedTxn }
  | { readonly type: 'commit'; readonly zxid: bigint }
  /** The answer to the oldest unanswered `sync` request of the follower. */
  | { readonly type: 'syncDone' }
  | { readonly type: 'revalidated'; readonly sessionId: bigint; readonly isValid: boolean }
  | { readonly type: 'ping' }

/**
 * What a follower lacks, as entries or as a snapshot (DIFF, SNAP; TRUNC is done by a snapshot). It also stands for NEWLEADER.
 */
export interface Sync {
  readonly type: 'sync'
  readonly epoch: number
  /** If there is a snapshot, it replaces everything that the follower has. */
  readonly base: Snapshot | undefined
  readonly entries: readonly LoggedTxn[]
  /** The zxid up to which the entries are committed. */
  readonly committed: bigint
  /** The configuration that the leader knows. */
  readonly config: QuorumConfig
}
