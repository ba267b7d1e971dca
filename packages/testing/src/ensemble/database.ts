import { configOf, DataTree, type DataTreeOptions, type QuorumConfig, type TxnResult } from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import { TxnLog } from './txn-log.ts'

export interface Snapshot {
  readonly tree: DataTree
  readonly sessions: ReadonlyMap<bigint, number>
  readonly config: QuorumConfig | undefined
  /** The zxid of the last transaction that the snapshot contains. */
  readonly zxid: bigint
}

/**
 * The state of a member (ZKDatabase, and the epochs on its disk). If the process ends, the tree and the log stay. A real server
 * would build the tree again from the log, with the same result.
 */
export class Database {
  readonly log = new TxnLog()
  /** The last epoch that the member has accepted from a leader. */
  acceptedEpoch = 0
  /** The epoch of the leader that the member has last followed, or its own epoch if it has led since. */
  currentEpoch = 0
  #tree: DataTree
  /** The timeouts of sessions, in ms (sessionsWithTimeouts). */
  #sessions = new Map<bigint, number>()
  /** The last reconfiguration. */
  #config: QuorumConfig | undefined

  constructor({ release, sequenceOverflow, watchModes }: Required<DataTreeOptions>) {
    this.#tree = new DataTree({ release, sequenceOverflow, watchModes })
  }

  get tree(): DataTree {
    return this.#tree
  }

  get sessions(): ReadonlyMap<bigint, number> {
    return this.#sessions
  }

  /** The last reconfiguration that it has accepted, committed or not (QuorumPeer.getLastSeenQuorumVerifier). */
  get lastConfig(): QuorumConfig | undefined {
    const accepted = this.log.unapplied().map(({ txn }) => configOf(txn))
    return accepted.findLast((config) => config !== undefined) ?? this.#config
  }

  /** Applies the next entry of the log. */
  apply(entry: LoggedTxn): TxnResult {
    const { header, txn } = entry
    if (this.log.next !== entry) throw new Error(`0x${header.zxid.toString(16)} is not the next transaction of the log`)
    this.log.advance()
    if (txn.type === 'createSession') this.#sessions.set(header.sessionId, txn.timeOut)
    else if (txn.type === 'closeSession') this.#sessions.delete(header.sessionId)
    this.#config = configOf(txn) ?? this.#config
    return this.#tree.apply(entry)
  }

  /** Applies the entries of the log up to this zxid (fastForwardDataBase). */
  fastForward(zxid = this.log.last): void {
    for (let { next } = this.log; next !== undefined && next.header.zxid <= zxid; next = this.log.next) this.apply(next)
  }

  snapshot(): Snapshot {
    return { tree: this.#tree.copy(), sessions: new Map(this.#sessions), config: this.#config, zxid: this.log.applied }
  }

  /** Replaces the tree, the sessions and the log, including transactions that only this member has accepted. */
  restore({ tree, sessions, config, zxid }: Snapshot): void {
    this.#tree = tree
    this.#config = config
    this.#sessions = new Map(sessions)
    this.log.reset(zxid)
  }
}
