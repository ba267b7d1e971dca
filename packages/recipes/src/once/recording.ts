// Records a run: one transaction that checks the hold and replaces the record.
//
// If its answer is lost, the record decides. While the hold lasts, the record is read, and the transaction is repeated if it has not
// happened. At most one of the two happens, because each names the version that it replaces. After a loss it is not repeated. When the node
// of the hold is gone, the transaction cannot happen any more, and a committed read shows whether it has.
import { KeeperError, type ZooKeeper } from '@zk/client'
import { LostError } from '../errors/lost-error.ts'
import type { Held } from '../held/held.ts'
import { afterCommit } from '../kernel/committed.ts'
import { within } from '../kernel/limit.ts'
import { retryAcrossSessions, throwUnlessTransient } from '../kernel/retry.ts'
import { type OnceRun, recordOf, type RunRecord, type Stored } from './record.ts'

/** The codes that say that another program has changed the record: an operator, since the lock is held. */
const changed = ['NoNode', 'NodeExists', 'BadVersion'] as const

export class Recording {
  readonly #zk: ZooKeeper
  readonly #held: Held
  readonly #record: RunRecord
  readonly #run: OnceRun
  /** What the transaction replaces. */
  #stored: Stored | undefined
  /** The error of the last transaction that was not answered. */
  #unanswered: KeeperError | undefined

  constructor(zk: ZooKeeper, held: Held, record: RunRecord, run: OnceRun) {
    this.#zk = zk
    this.#held = held
    this.#record = record
    this.#run = run
  }

  /**
   * Resolves when the run is recorded. Rejects with a `LostError` that has the result if the hold was lost before, and with an
   * error that has `outcomeUnknown` if no answer shows whether it is recorded.
   */
  async write(stored: Stored | undefined, result: unknown): Promise<void> {
    this.#stored = stored
    try {
      await this.#writeWhileHeld()
    } catch (error) {
      // The body may have released the hold.
      const loss = this.#held.loss ?? (LostError.is(error) ? error : undefined)
      // An earlier transaction may have happened, or still happen.
      if (loss === undefined) throw this.#unanswered ?? error
      if (this.#unanswered === undefined || !(await this.#hasHappened(this.#unanswered))) throw loss.with(result)
    }
  }

  async #writeWhileHeld(): Promise<void> {
    const { session, signal } = this.#held
    for (;;) {
      try {
        await this.#held.multi([this.#record.replace(this.#stored, this.#run)])
        return
      } catch (error) {
        if (KeeperError.is(error) && error.outcomeUnknown) this.#unanswered = error
        else if (!KeeperError.is(error, ...changed)) await throwUnlessTransient(this.#zk, error, undefined, signal)
      }
      this.#stored = await this.#record.read({ session, signal })
      if (this.#isOwn(this.#stored)) return
    }
  }

  /** Whether a transaction has happened whose answer is lost, as the hold is. Throws its error if that cannot be known. */
  async #hasHappened(unanswered: KeeperError): Promise<boolean> {
    let present: Stored | undefined
    try {
      await this.#held.release()
      present = await this.#readCommitted()
    } catch {
      throw unanswered
    }
    if (this.#isOwn(present)) return true
    if (present?.version === this.#stored?.version && present?.text === this.#stored?.text) return false
    // It was replaced meanwhile: it may have been our record.
    throw unanswered
  }

  /** Reads the record in the client's current session, including everything committed so far. */
  #readCommitted(): Promise<Stored | undefined> {
    const { path } = this.#record
    return within({ zk: this.#zk, path }, 'once', {}, (limited) =>
      retryAcrossSessions(
        this.#zk,
        async () => {
          const asking = { ...limited, session: this.#zk.session }
          await afterCommit(this.#zk, path, asking)
          return await this.#record.read(asking)
        },
        limited.signal,
      ),
    )
  }

  #isOwn(stored: Stored | undefined): boolean {
    return stored?.text === recordOf(this.#run)
  }
}
