// The history as text: one line for each entry.
import { errorName, eventName } from '@zk/wire'
import type { ClientEntry, HistoryEntry, ServerEntry } from './history-entry.ts'
import { pathsOf } from './paths-of.ts'

/** One line, such as `   12.3 ms  zk1 #1 0x1000  > create2 /locks/a  xid 3`. */
export function describe(entry: HistoryEntry): string {
  const at = `${entry.at.toFixed(1).padStart(9)} ms`
  if (entry.from === 'control') return `${at}  -- ${entry.what}`
  if (entry.from === 'member') return `${at}  ${entry.member}  -- ${entry.role}`
  const { member, connection, session } = entry
  const prefix = `${at}  ${member} #${connection} 0x${unsignedHex(session)}`
  if (entry.from === 'connection') return `${prefix}  -- ${entry.what}${entry.reason === '' ? '' : `: ${entry.reason}`}`
  const struck = entry.fault === undefined ? '' : `  [${entry.fault}]`
  return `${prefix}  ${entry.from === 'client' ? '>' : '<'} ${textOf(entry)}${struck}`
}

export function unsignedHex(id: bigint): string {
  return BigInt.asUintN(64, id).toString(16)
}

function textOf({ message }: ClientEntry | ServerEntry): string {
  switch (message.type) {
    case 'text':
      return `text ${JSON.stringify(new TextDecoder().decode(message.bytes.subarray(0, 40)))}`
    case 'connect': {
      const { sessionId, timeOut, lastZxidSeen } = message.request
      return `connect 0x${unsignedHex(sessionId)}  timeout ${timeOut}  zxid 0x${unsignedHex(lastZxidSeen)}`
    }
    case 'connected': {
      const { sessionId, timeOut } = message.response
      return timeOut > 0 ? `connected 0x${unsignedHex(sessionId)}  timeout ${timeOut}` : 'expired'
    }
    case 'event':
      return `${eventName(message.event.type) ?? `event ${message.event.type}`} ${message.event.path ?? ''}`
    case 'request': {
      const paths = pathsOf(message)
      const about = paths.length > 4 ? [...paths.slice(0, 4), `and ${paths.length - 4} more`] : paths
      return `${[message.op ?? `opcode ${message.opCode}`, ...about].join(' ')}  xid ${message.xid}`
    }
    case 'reply': {
      const result = message.err === 0 ? 'Ok' : (errorName(message.err) ?? `error ${message.err}`)
      const op = message.op ?? `opcode ${message.opCode ?? '?'}`
      return `${op}: ${result}  xid ${message.xid}  zxid 0x${unsignedHex(message.zxid)}`
    }
  }
}
