// Transactions: the leader turns requests into transactions, and every server applies them to its tree.
import type { ACL } from '@zk/wire'

/** What a transaction does, in the names of ZooKeeper's records. */
export type Txn =
  | {
      readonly type: 'create'
      readonly path: string
      /** null means no data, which is not the same as empty data. */
      readonly data: Uint8Array | null
      readonly acl: readonly ACL[]
      readonly kind: 'persistent' | 'ephemeral' | 'container' | 'ttl'
      /** The TTL in ms, of a node that has one. */
      readonly ttl?: bigint | undefined
      /** The new cversion of the parent. */
      readonly parentCVersion: number
    }
  | { readonly type: 'delete'; readonly path: string }
  | {
      readonly type: 'setData'
      readonly path: string
      readonly data: Uint8Array | null
      readonly version: number
      /** Whether it is a reconfiguration: the data is the new configuration, and decides who votes. */
      readonly isReconfig?: true | undefined
    }
  | { readonly type: 'setACL'; readonly path: string; readonly acl: readonly ACL[]; readonly version: number }
  | { readonly type: 'check'; readonly path: string; readonly version: number }
  | { readonly type: 'createSession'; readonly timeOut: number }
  /** `paths` are the ephemeral nodes that are deleted with the session. */
  | { readonly type: 'closeSession'; readonly paths: readonly string[] }
  | { readonly type: 'multi'; readonly txns: readonly Txn[] }
  /** For the operator, so ZooKeeper does not have it: the next sequential child of the node gets this number. */
  | { readonly type: 'presetCounter'; readonly path: string; readonly counter: number }
  /** A refused request: it changes nothing, but has a zxid. */
  | { readonly type: 'error'; readonly err: number }

/** The request of a transaction, and its place in the order of all transactions. */
export interface TxnHeader {
  /** The session of the request; 0 for a change without a session. */
  readonly sessionId: bigint
  /** The xid of the request. */
  readonly cxid: number
  /** Its place in the order of all transactions. */
  readonly zxid: bigint
  /** When the leader made it, in ms since the epoch. */
  readonly time: number
}

/** A transaction as the log of a member has it. */
export interface LoggedTxn {
  /** Its request and its place. */
  readonly header: TxnHeader
  /** The change. */
  readonly txn: Txn
}
