// Transactions: what the leader makes of a request, and every server does to its tree.
import type { ACL } from '@zk/wire'

/** What a transaction does, in the names of ZooKeeper's records. */
export type Txn =
  | {
      readonly type: 'create'
      readonly path: string
      /** null is a value of its own: no data at all. */
      readonly data: Uint8Array | null
      readonly acl: readonly ACL[]
      readonly kind: 'persistent' | 'ephemeral' | 'container' | 'ttl'
      /** In ms, of a node that has one. */
      readonly ttl?: bigint | undefined
      /** What the parent's cversion becomes. */
      readonly parentCVersion: number
    }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'setData'; readonly path: string; readonly data: Uint8Array | null; readonly version: number }
  | { readonly type: 'setACL'; readonly path: string; readonly acl: readonly ACL[]; readonly version: number }
  | { readonly type: 'check'; readonly path: string; readonly version: number }
  | { readonly type: 'createSession'; readonly timeOut: number }
  /** With the ephemeral nodes that go with it. */
  | { readonly type: 'closeSession'; readonly paths: readonly string[] }
  | { readonly type: 'multi'; readonly txns: readonly Txn[] }
  /** An operator's, none of ZooKeeper's: the next sequential child of the node gets this number. */
  | { readonly type: 'presetCounter'; readonly path: string; readonly counter: number }
  /** What was refused: it changes nothing, but takes a zxid. */
  | { readonly type: 'error'; readonly err: number }

/** Of which request a transaction is, and where it stands in the order of all. */
export interface TxnHeader {
  /** The session that asked for it; 0 for what no session asked for. */
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
  /** Where it comes from, and its place. */
  readonly header: TxnHeader
  /** What it does. */
  readonly txn: Txn
}
