// The history as text: one line for each entry.
import { formatMessage } from '@zk/wire'
import type { HistoryEntry } from './history-entry.ts'

/** One line, such as `   12.3 ms  zk1 #1 0x1000  > create2 /locks/a  xid 3`. */
export function describe(entry: HistoryEntry): string {
  const at = `${entry.at.toFixed(1).padStart(9)} ms`
  if (entry.from === 'control') return `${at}  -- ${entry.what}`
  if (entry.from === 'member') return `${at}  ${entry.member}  -- ${entry.role}`
  const { member, connection, session } = entry
  const prefix = `${at}  ${member} #${connection} 0x${unsignedHex(session)}`
  if (entry.from === 'connection') return `${prefix}  -- ${entry.what}${entry.reason === '' ? '' : `: ${entry.reason}`}`
  const struck = entry.fault === undefined ? '' : `  [${entry.fault}]`
  return `${prefix}  ${entry.from === 'client' ? '>' : '<'} ${formatMessage(entry.message)}${struck}`
}

export function unsignedHex(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16)
}
