// What a member has on disk: it survives its death.
import type { LoggedTxn } from '../server/txn.ts'

/** Kept for followers that come back; who is further behind gets a snapshot (ZKDatabase.commitLogCount). */
const KEPT = 500

/** Transactions in order, accepted by this member: applied ones, then those that may still turn out to be nobody's. */
export class TxnLog {
  #entries: LoggedTxn[] = []
  #applied = 0
  /** The last zxid before the first entry. */
  #base = 0n

  get last(): bigint {
    return this.#entries.at(-1)?.header.zxid ?? this.#base
  }

  append(entry: LoggedTxn): void {
    this.#entries.push(entry)
  }

  /** The oldest entry that is not in the tree yet. */
  get next(): LoggedTxn | undefined {
    return this.#entries[this.#applied]
  }

  unapplied(): LoggedTxn[] {
    return this.#entries.slice(this.#applied)
  }

  /** The `next` one is in the tree now. */
  advance(): void {
    this.#applied++
    if (this.#applied < KEPT * 2) return
    this.#base = this.#entries[KEPT - 1]!.header.zxid
    this.#entries = this.#entries.slice(KEPT)
    this.#applied -= KEPT
  }

  /** What came after this transaction; undefined where it is not in this log, or no longer. */
  after(zxid: bigint): readonly LoggedTxn[] | undefined {
    let first = this.#entries.length
    while (first > 0 && this.#entries[first - 1]!.header.zxid > zxid) first--
    const found = first === 0 ? this.#base : this.#entries[first - 1]!.header.zxid
    return found === zxid ? this.#entries.slice(first) : undefined
  }

  /** Of those, what is in the tree. */
  appliedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    const { applied } = this
    return this.after(zxid)?.filter(({ header }) => header.zxid <= applied)
  }

  /** The last one that is in the tree. */
  get applied(): bigint {
    return this.#applied === 0 ? this.#base : this.#entries[this.#applied - 1]!.header.zxid
  }

  /** Begins again behind a snapshot. */
  reset(base: bigint): void {
    this.#entries = []
    this.#applied = 0
    this.#base = base
  }
}
