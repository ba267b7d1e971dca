// Turns requests into transactions, on the leader or on a standalone server (PrepRequestProcessor).
import { ErrorCode } from '@zk/wire'
import { isWrite, Preparation, type PreparationOptions } from '../database/index.ts'
import type { Txn } from '../server/txn.ts'
import type { Database } from './database.ts'
import type { Pending } from './pending.ts'
import type { SessionTracker } from './session-tracker.ts'
import type { Settings } from './settings.ts'

type PreparerSettings = Settings & Pick<PreparationOptions, 'synced'>

export class Preparer {
  readonly #preparation: Preparation
  readonly #sessions: SessionTracker
  readonly #wallNow: () => number
  #zxid: bigint

  /** `zxid` is the last zxid in use. */
  constructor(database: Database, sessions: SessionTracker, settings: PreparerSettings, zxid: bigint) {
    this.#preparation = new Preparation(database.tree, settings)
    this.#sessions = sessions
    this.#wallNow = settings.wallNow
    this.#zxid = zxid
  }

  /** Sets `entry` of a write (it may be a refusal), and `refused` of a read. `operatorTxn` is a change that an operator makes. */
  prepare(pending: Pending, operatorTxn?: Txn): void {
    if (pending.isSkipped) return
    const { request, owner } = pending
    const { sessionId, message } = request
    if (!isWrite(message.opCode)) {
      if (owner !== undefined) pending.refused = this.#sessions.check(sessionId, owner)
      return
    }
    const zxid = ++this.#zxid
    const header = { sessionId, cxid: message.xid, zxid, time: Math.floor(this.#wallNow()) }
    pending.entry = { header, txn: operatorTxn ?? this.#txn(pending, zxid) }
  }

  applied(zxid: bigint): void {
    this.#preparation.applied(zxid)
  }

  #txn({ request, owner }: Pending, zxid: bigint): Txn {
    const { sessionId, message } = request
    if (message.op === 'createSession') {
      const txn = this.#preparation.prepare(request, zxid)
      if (txn.type !== 'createSession') return txn
      this.#sessions.track(sessionId, txn.timeOut)
      // If the session already exists, the new owner replaces the old one unchecked.
      const isOpen = owner === undefined || this.#sessions.setOwner(sessionId, owner)
      return isOpen ? txn : this.#preparation.refuse(request, ErrorCode.SessionExpired)
    }
    // The owner is not checked, because the request may come from the session tracker.
    if (message.op === 'closeSession') this.#sessions.setClosing(sessionId)
    else if (message.op !== 'deleteContainer' && owner !== undefined) {
      const refused = this.#sessions.check(sessionId, owner)
      if (refused !== 0) return this.#preparation.refuse(request, refused)
    }
    return this.#preparation.prepare(request, zxid)
  }
}
