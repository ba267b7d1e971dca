import { DataTree, type DataTreeOptions, type TxnResult } from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import { TxnLog } from './txn-log.ts'

export interface Snapshot {
  readonly tree: DataTree
  readonly sessions: ReadonlyMap<bigint, number>
  /** Of the last transaction in it. */
  readonly zxid: bigint
}

/**
 * All that a member keeps (ZKDatabase, and the epochs on its disk). What is in the tree is in the log too, so that the
 * tree survives a death like the log does: as if it had been made again from there.
 */
export class Database {
  readonly log = new TxnLog()
  /** The last epoch that it promised to a leader, and the last whose leader it caught up with. */
  acceptedEpoch = 0
  currentEpoch = 0
  #tree: DataTree
  /** Timeouts in ms (sessionsWithTimeouts). */
  #sessions = new Map<bigint, number>()

  constructor({ sequenceOverflow, watchModes }: Required<DataTreeOptions>) {
    this.#tree = new DataTree({ sequenceOverflow, watchModes })
  }

  get tree(): DataTree {
    return this.#tree
  }

  get sessions(): ReadonlyMap<bigint, number> {
    return this.#sessions
  }

  /** The log's next entry. */
  apply(entry: LoggedTxn): TxnResult {
    const { header, txn } = entry
    if (this.log.next !== entry) throw new Error(`0x${header.zxid.toString(16)} is not the next transaction of the log`)
    this.log.advance()
    if (txn.type === 'createSession') this.#sessions.set(header.sessionId, txn.timeOut)
    else if (txn.type === 'closeSession') this.#sessions.delete(header.sessionId)
    return this.#tree.apply(entry)
  }

  /** Applies what the log has, up to this zxid (fastForwardDataBase). */
  fastForward(zxid = this.log.last): void {
    for (let { next } = this.log; next !== undefined && next.header.zxid <= zxid; next = this.log.next) this.apply(next)
  }

  snapshot(): Snapshot {
    return { tree: this.#tree.copy(), sessions: new Map(this.#sessions), zxid: this.log.applied }
  }

  /** Forgets all that it had: also what it alone believes to have been accepted. */
  restore({ tree, sessions, zxid }: Snapshot): void {
    this.#tree = tree
    this.#sessions = new Map(sessions)
    this.log.reset(zxid)
  }
}
