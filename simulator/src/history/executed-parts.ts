import type { Txn } from '@zk/testing'

/** A transaction that is no multi. */
export type Part = Exclude<Txn, { type: 'multi' }>

/**
 * What a transaction has executed: itself, or the parts of a multi, all or none. The parts before one that failed are logged as if
 * they were executed.
 */
export function executedParts(txn: Txn): readonly Part[] {
  if (txn.type !== 'multi') return [txn]
  return txn.txns.some(({ type }) => type === 'error') ? [] : txn.txns.flatMap(executedParts)
}
