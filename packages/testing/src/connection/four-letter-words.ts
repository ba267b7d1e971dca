// The answers to four-letter words, which monitoring sends in place of a handshake (org.apache.zookeeper.server.command).
import type { Release } from '../database/index.ts'
import { configuration } from './configuration.ts'
import { unsignedHex } from './describe.ts'
import { dump, watchesByPath, watchesBySession } from './dump.ts'
import { environment, versionOf } from './environment.ts'
import type { Monitored } from './monitored.ts'
import type { FourLetterWord } from './words.ts'
import type { ServerConnection } from './server-connection.ts'

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests\n'

const answers: Readonly<Record<FourLetterWord, (server: Monitored) => string>> = {
  ruok: () => 'imok',
  isro: ({ member }) => (member.role === 'read-only' ? 'ro' : member.isServing() ? 'rw' : 'null'),
  srvr: whileServing((server) => `Zookeeper version: ${versionOf(server.member.tree.release)}\n${summary(server)}`),
  stat: whileServing((server) => {
    const clients = [...server.connections].map((connection) => `${brief(connection)})\n`)
    return `Zookeeper version: ${versionOf(server.member.tree.release)}\nClients:\n${clients.join('')}\n${summary(server)}`
  }),
  cons: whileServing(({ connections }) => {
    const lines = [...connections].map((connection) => `${brief(connection)}${details(connection)})\n`)
    return `${lines.join('')}\n`
  }),
  mntr: whileServing((server) => {
    const values = monitored(server).map(([key, value]) => `zk_${key}\t${value}\n`)
    return values.join('')
  }),
  wchs: whileServing(({ member }) => {
    const { connections, paths, watches } = member.tree.dataWatches.summary
    return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`
  }),
  wchc: whileServing((server) => `${watchesBySession(server)}\n`),
  wchp: whileServing((server) => `${watchesByPath(server)}\n`),
  dump: whileServing(dump),
  crst: whileServing(({ connections }) => {
    for (const { log } of connections) log.stats.reset()
    return 'Connection stats reset.\n'
  }),
  srst: whileServing(({ stats }) => {
    stats.reset()
    return 'Server stats reset.\n'
  }),
  // These servers have no disk.
  dirs: whileServing(() => 'datadir_size: 0\nlogdir_size: 0\n'),
  // The default of ZooTrace: requests of clients, sessions, packets of servers, warnings.
  gtmk: () => String(0b1_0011_0010),
  conf: whileServing((server) => configuration(server.member, server.configuration)),
  envi: ({ member }) => environment(member.name, member.tree.release),
}

/** The answer to a word. A word outside `whitelist` is refused, even if the member does not serve (NopCommand). */
export function answer(word: string, whitelist: ReadonlySet<string>, server: Monitored): string {
  if (!whitelist.has(word)) return `${word} is not executed because it is not in the whitelist.\n`
  return answers[word as FourLetterWord](server)
}

function whileServing(answer: (server: Monitored) => string): (server: Monitored) => string {
  return (server) => (server.member.isServing() ? answer(server) : NOT_SERVING)
}

/** ServerStats.toString, and the lines that StatCommand adds. */
function summary({ member, connections, stats, followers }: Monitored): string {
  const { min, average, max } = stats.latency
  const lines = [
    `Latency min/avg/max: ${whole(min)}/${mean(average, member.tree.release)}/${whole(max)}`,
    `Received: ${stats.received}`,
    `Sent: ${stats.sent}`,
    `Connections: ${connections.size}`,
    `Outstanding: ${outstanding(connections)}`,
    `Zxid: 0x${unsignedHex(member.tree.lastProcessedZxid)}`,
    `Mode: ${member.role}`,
    `Node count: ${member.tree.nodeCount}`,
  ]
  // Proposals have no sizes here: they are never encoded.
  if (member.role === 'leader' && followers >= 0) lines.push('Proposal sizes last/min/max: -1/-1/-1')
  return `${lines.join('\n')}\n`
}

/** ServerCnxn.dumpConnectionInfo, without the bracket at its end. */
function brief({ remote, sessionId, log, gate, outstanding }: ServerConnection): string {
  const { received, sent } = log.stats
  const address = `/${remote.address}:${remote.port ?? 0}`
  // Nothing more is read from a connection that has sent a word.
  const isReading = gate.isOpen && (sessionId !== 0n || received === 0)
  return ` ${address}[${isReading ? 1 : 0}](queued=${outstanding},recved=${received},sent=${sent}`
}

function details({ sessionId, timeOut, establishedAt, log }: ServerConnection): string {
  if (sessionId === 0n) return ''
  const { lastOp, lastCxid, lastZxid, lastResponseTime, lastLatency, latency } = log.stats
  const pairs = [
    ['sid', `0x${unsignedHex(sessionId)}`],
    ['lop', lastOp],
    ['est', whole(establishedAt)],
    ['to', timeOut],
    // After crst it is -1, which is not printed.
    ...(lastCxid >= 0 ? [['lcxid', `0x${lastCxid.toString(16)}`]] : []),
    ['lzxid', `0x${unsignedHex(lastZxid)}`],
    ['lresp', whole(lastResponseTime)],
    ['llat', whole(lastLatency)],
    ['minlat', whole(latency.min)],
    ['avglat', whole(latency.average)],
    ['maxlat', whole(latency.max)],
  ]
  return pairs.map(([key, value]) => `,${key}=${value}`).join('')
}

/** The values of MonitorCommand that this server has. */
function monitored({
  member,
  connections,
  stats,
  uptime,
  followers,
}: Monitored): (readonly [string, string | number])[] {
  const { tree, role } = member
  const { min, average, max } = stats.latency
  const { release } = tree
  const peer: Partial<Record<typeof role, string>> = { leader: 'leading', follower: 'following' }
  const state = ['server_state', role] as const
  const traffic = [
    ['packets_received', stats.received],
    ['packets_sent', stats.sent],
    ['num_alive_connections', connections.size],
    ['outstanding_requests', outstanding(connections)],
  ] as const
  const size = [
    ['znode_count', tree.nodeCount],
    ['watch_count', tree.watchCount],
    ['ephemerals_count', tree.ephemeralsCount],
    ['approximate_data_size', tree.approximateDataSize],
  ] as const
  const followed = (name: string) =>
    role === 'leader'
      ? ([
          [name, followers],
          ['synced_followers', followers],
        ] as const)
      : []
  const version = ['version', versionOf(release)] as const
  const meanLatency = ['avg_latency', mean(average, release)] as const
  const [least, most] = [['min_latency', whole(min)] as const, ['max_latency', whole(max)] as const]
  if (!release.hasMetrics)
    return [version, meanLatency, most, least, ...traffic, state, ...size, ...followed('followers')]
  return [
    version,
    state,
    ...(peer[role] === undefined ? [] : [['peer_state', `${peer[role]} - broadcast`] as const]),
    meanLatency,
    least,
    most,
    ...traffic,
    ['uptime', whole(uptime)],
    ...size,
    ['global_sessions', member.sessionTimeouts.size],
    ['local_sessions', 0],
    ['auth_failed_count', stats.authFailed],
    ...followed('learners'),
  ]
}

function outstanding(connections: ReadonlySet<ServerConnection>): number {
  let sum = 0
  for (const connection of connections) sum += connection.outstanding
  return sum
}

function whole(value: number): string {
  return String(Math.floor(value))
}

/** An average: a double, or a long without metrics. */
function mean(value: number, { hasMetrics }: Release): string {
  return hasMetrics ? double(value) : whole(value)
}

/** A double as Java prints it: always with a point, and with at most four digits after it. */
function double(value: number): string {
  const rounded = String(Math.round(value * 10_000) / 10_000)
  return rounded.includes('.') ? rounded : `${rounded}.0`
}
