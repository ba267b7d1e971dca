// The transaction log of a member. It survives the end of the process.
import type { LoggedTxn, Txn } from '../server/txn.ts'

/**
 * How many entries are kept for followers that come back. A follower that lacks more gets a snapshot
 * (ZKDatabase.commitLogCount).
 */
const KEPT = 500
/** How many bytes of data are kept. Each entry, and each operation of a multi, adds some bytes (`PART`). */
const KEPT_BYTES = 16 * 1024 * 1024
const PART = 300

/** The transactions that this member has accepted, in order: applied ones, then those that may never be committed. */
export class TxnLog {
  #entries: LoggedTxn[] = []
  #applied = 0
  /** The sum of `sizeOf` of the applied entries. */
  #bytes = 0
  /** The zxid before the first entry. */
  #base = 0n

  get last(): bigint {
    return this.#entries.at(-1)?.header.zxid ?? this.#base
  }

  append(entry: LoggedTxn): void {
    this.#entries.push(entry)
  }

  /** The oldest entry that is not applied yet. */
  get next(): LoggedTxn | undefined {
    return this.#entries[this.#applied]
  }

  unapplied(): LoggedTxn[] {
    return this.#entries.slice(this.#applied)
  }

  /** The `next` entry has been applied. */
  advance(): void {
    this.#bytes += sizeOf(this.#entries[this.#applied]!.txn)
    this.#applied++
    if (this.#applied < KEPT * 2 && this.#bytes <= KEPT_BYTES * 2) return
    // Drops about half of the entries at once, so that it need not copy the list for each new entry. The last one is kept.
    let first = 0
    while (first < this.#applied - 1 && (this.#applied - first > KEPT || this.#bytes > KEPT_BYTES)) {
      this.#bytes -= sizeOf(this.#entries[first++]!.txn)
    }
    if (first === 0) return
    this.#base = this.#entries[first - 1]!.header.zxid
    this.#entries = this.#entries.slice(first)
    this.#applied -= first
  }

  /** The entries after this transaction; undefined if the log does not have it, or no longer. */
  after(zxid: bigint): readonly LoggedTxn[] | undefined {
    let first = this.#entries.length
    while (first > 0 && this.#entries[first - 1]!.header.zxid > zxid) first--
    const found = first === 0 ? this.#base : this.#entries[first - 1]!.header.zxid
    return found === zxid ? this.#entries.slice(first) : undefined
  }

  /** The applied entries of `after(zxid)`. */
  appliedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    const { applied } = this
    return this.after(zxid)?.filter(({ header }) => header.zxid <= applied)
  }

  /** The zxid of the last entry that was applied. */
  get applied(): bigint {
    return this.#applied === 0 ? this.#base : this.#entries[this.#applied - 1]!.header.zxid
  }

  /** Begins again after a snapshot. */
  reset(base: bigint): void {
    this.#entries = []
    this.#applied = 0
    this.#bytes = 0
    this.#base = base
  }
}

function sizeOf(txn: Txn): number {
  if (txn.type === 'multi') return txn.txns.reduce((sum, part) => sum + sizeOf(part), PART)
  return PART + ('data' in txn ? (txn.data?.byteLength ?? 0) : 0)
}
