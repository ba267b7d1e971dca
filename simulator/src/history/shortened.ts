// Sessions whose timeout a server shortened, and whose client does not know.
import type { HistoryEntry } from '@zk/testing'

interface Handshake {
  readonly session: bigint
  readonly timeOut: number
  readonly at: number
}

/**
 * A member that grants less than the others shortens a session as soon as it takes the handshake. The client goes by the old
 * timeout until it has the answer. Its next request on that connection shows that it has it. So does a request on another
 * connection with as short a timeout. If the new timeout has passed before such a request, the client's holds may be gone.
 * (This cannot happen if all members have the same limits: A5.)
 */
export function shortenedUnnoticed(entries: Iterable<HistoryEntry>): ReadonlySet<bigint> {
  const shortest = new Map<bigint, number>()
  const byConnection = new Map<number, Handshake>()
  /** The handshakes that shortened, as long as nothing shows that the client knows. */
  let unknown: Handshake[] = []
  const unnoticed = new Set<bigint>()
  for (const entry of entries) {
    if (entry.from !== 'client' && entry.from !== 'server') continue
    const { at, connection, message } = entry
    if (message.type === 'connected') {
      const { sessionId: session, timeOut } = message.response
      if (timeOut <= 0) continue
      const handshake = { session, timeOut, at }
      byConnection.set(connection, handshake)
      const known = shortest.get(session)
      shortest.set(session, Math.min(known ?? Infinity, timeOut))
      if (known !== undefined && timeOut < known) unknown.push(handshake)
    } else if (entry.from === 'client' && unknown.length > 0) {
      const received = byConnection.get(connection)
      const isKnown = ({ session, timeOut }: Handshake) => session === received?.session && timeOut >= received.timeOut
      for (const each of unknown) if (isKnown(each) && at - each.at >= each.timeOut) unnoticed.add(each.session)
      unknown = unknown.filter((each) => !isKnown(each))
    }
  }
  for (const { session } of unknown) unnoticed.add(session)
  return unnoticed
}
