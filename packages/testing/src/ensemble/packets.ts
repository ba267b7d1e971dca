// The messages between a leader and its followers. A connection keeps their order (Leader.java).
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { QuorumConfig } from '../database/index.ts'
import type { Snapshot } from './database.ts'

/** Messages of a follower. */
export type LearnerPacket =
  | { readonly type: 'followerInfo'; readonly member: string; readonly currentEpoch: number; readonly lastZxid: bigint }
  /** All of the leader's `sync` is on its disk (the ACK of NEWLEADER). */
  | { readonly type: 'synced' }
  | { readonly type: 'ack'; readonly zxid: bigint }
  | { readonly type: 'request'; readonly request: ServerRequest }
  | { readonly type: 'revalidate'; readonly sessionId: bigint; readonly timeOut: number }
  /** The answer to a ping: the touched sessions, with the timeouts of their connections. */
  | { readonly type: 'ping'; readonly touched: ReadonlyMap<bigint, number> }

/** Messages of the leader. */
export type LeaderPacket =
  | Sync
  | { readonly type: 'upToDate' }
  | { readonly type: 'proposal'; readonly entry: LoggedTxn }
  | { readonly type: 'commit'; readonly zxid: bigint }
  /** The answer to the follower's oldest `sync` request. */
  | { readonly type: 'syncDone' }
  | { readonly type: 'revalidated'; readonly sessionId: bigint; readonly isValid: boolean }
  | { readonly type: 'ping' }

/** The entries that a follower lacks (DIFF; SNAP also in place of TRUNC), and the new leader (NEWLEADER). */
export interface Sync {
  readonly type: 'sync'
  readonly epoch: number
  /** Replaces everything that the follower has. */
  readonly base: Snapshot | undefined
  readonly entries: readonly LoggedTxn[]
  /** Entries up to this one are committed. */
  readonly committed: bigint
  /** The configuration of the ensemble, as the leader knows it. */
  readonly config: QuorumConfig
}
