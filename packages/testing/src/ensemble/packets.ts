// The messages between a leader and its followers. A connection keeps them in order (Leader.java).
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { QuorumConfig } from '../database/index.ts'
import type { Snapshot } from './database.ts'

/** Messages of a follower to its leader. */
export type LearnerPacket =
  | { readonly type: 'followerInfo'; readonly member: string; readonly currentEpoch: number; readonly lastZxid: bigint }
  /** Everything in the leader's `newLeader` is on the follower's disk. */
  | { readonly type: 'ackNewLeader' }
  | { readonly type: 'ack'; readonly zxid: bigint }
  | { readonly type: 'request'; readonly request: ServerRequest }
  | { readonly type: 'revalidate'; readonly sessionId: bigint; readonly timeOut: number }
  /** The answer to a ping: the touched sessions, each with the timeout of its connection. */
  | { readonly type: 'ping'; readonly touched: ReadonlyMap<bigint, number> }

/** Messages of a leader to a follower. */
export type LeaderPacket =
  | NewLeader
  | { readonly type: 'upToDate' }
  | { readonly type: 'proposal'; readonly entry: LoggedTxn }
  | { readonly type: 'commit'; readonly zxid: bigint }
  /** The answer to the oldest unanswered `sync` request of the follower. */
  | { readonly type: 'syncAnswered' }
  | { readonly type: 'revalidated'; readonly sessionId: bigint; readonly isValid: boolean }
  | { readonly type: 'ping' }

/** NEWLEADER, with what the follower lacks: entries or a snapshot (DIFF, SNAP; a snapshot replaces TRUNC). */
export interface NewLeader {
  readonly type: 'newLeader'
  readonly epoch: number
  /** If there is a snapshot, it replaces everything that the follower has. */
  readonly base: Snapshot | undefined
  readonly entries: readonly LoggedTxn[]
  /** The zxid up to which the entries are committed. */
  readonly committed: bigint
  /** The configuration that the leader knows. */
  readonly config: QuorumConfig
}
