// The answers that list sessions, their nodes, connections and watches: `dump`, `wchc` and `wchp`.
import { unsignedHex } from './describe.ts'
import type { Monitored } from './monitored.ts'
import type { ServerConnection } from './server-connection.ts'

/** The answer to `dump` (DumpCommand). Sessions and connections are sorted by the time when they expire. */
export function dump(server: Monitored): string {
  const { member, connections, wallAt } = server
  const { tree } = member
  const owners = [...tree.ephemeralOwners].map((id) => [id, tree.ephemerals(id).inOrder()] as const)
  const ephemerals = owners.map(
    ([id, paths]) => `0x${unsignedHex(id)}:\n${paths.map((path) => `\t${path}\n`).join('')}`,
  )
  return [
    'SessionTracker dump:\n',
    sessions(server),
    'ephemeral nodes dump:\n',
    `Sessions with Ephemerals (${owners.length}):\n`,
    ...ephemerals,
    'Connections dump:\n',
    `Connections ${expiring(byExpiry(connections), connections.size, wallAt)}`,
  ].join('')
}

/** The answer to `wchc` (WatchManager.dumpWatches). As in ZooKeeper it lists only watches of data. */
export function watchesBySession({ member, connections }: Monitored): string {
  const { dataWatches } = member.tree
  let text = ''
  for (const connection of connections) {
    const paths = dataWatches.pathsOf(connection)
    if (paths !== undefined)
      text += `0x${unsignedHex(connection.sessionId)}\n${paths.map((path) => `\t${path}\n`).join('')}`
  }
  return text
}

export function watchesByPath({ member, connections }: Monitored): string {
  const byPath = new Map<string, string[]>()
  for (const connection of connections) {
    for (const path of member.tree.dataWatches.pathsOf(connection) ?? []) {
      byPath.set(path, [...(byPath.get(path) ?? []), `\t0x${unsignedHex(connection.sessionId)}\n`])
    }
  }
  return [...byPath].map(([path, sessions]) => `${path}\n${sessions.join('')}`).join('')
}

/**
 * The leader knows when sessions expire. The others know only which sessions there are (SessionTrackerImpl,
 * LearnerSessionTracker).
 */
function sessions({ member, wallAt }: Monitored): string {
  const { sessionTimeouts, sessionExpiry } = member
  if (sessionExpiry !== undefined) {
    const buckets = sessionExpiry.map(([at, ids]) => [at, ids.map((id) => `0x${unsignedHex(id)}`)] as const)
    return `Session ${expiring(buckets, sessionTimeouts.size, wallAt)}`
  }
  const ids = [...sessionTimeouts.keys()].sort((one, other) => (one < other ? -1 : 1))
  const lines = ids.map((id) => `0x${unsignedHex(id)}\t${sessionTimeouts.get(id)}ms\n`)
  return `Global Sessions(${ids.length}):\n${lines.join('')}`
}

/** ExpiryQueue.dump */
function expiring(
  buckets: readonly (readonly [number, readonly string[]])[],
  size: number,
  wallAt: Monitored['wallAt'],
): string {
  const sets = buckets.map(
    ([at, names]) => `${names.length} expire at ${date(wallAt(at))}:\n${names.map((name) => `\t${name}\n`).join('')}`,
  )
  return `Sets (${buckets.length})/(${size}):\n${sets.join('')}`
}

function byExpiry(connections: ReadonlySet<ServerConnection>): (readonly [number, readonly string[]])[] {
  const buckets = new Map<number, string[]>()
  for (const { silence, remote, sessionId } of connections) {
    const name = `ip: /${remote.address}:${remote.port ?? 0} sessionId: 0x${unsignedHex(sessionId)}`
    buckets.set(silence.endsAt, [...(buckets.get(silence.endsAt) ?? []), name])
  }
  return [...buckets].sort(([one], [other]) => one - other)
}

/** A time as Java prints it: `Sat Nov 21 20:39:24 UTC 2026`. */
function date(ms: number): string {
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  const [day = '', date, month, year, time] = new Date(ms).toUTCString().split(' ')
  return `${day.slice(0, 3)} ${month} ${date} ${time} UTC ${year}`
}
