import { configIn, formatConfig } from '../database/index.ts'
import type { Member } from '../ensemble/index.ts'

export interface Configuration {
  readonly tickTime: number
  readonly initLimit: number
  readonly syncLimit: number
  readonly minSessionTimeout: number
  readonly maxSessionTimeout: number
  readonly maxClientCnxns: number
  readonly clientPort: number
}

/** The answer to `conf` (ZooKeeperServer.dumpConf, QuorumZooKeeperServer.dumpConf). */
export function configuration({ id, role, tree }: Member, settings: Configuration): string {
  const isAlone = role === 'standalone'
  const pairs: (readonly [string, string | number])[] = [
    ['clientPort', settings.clientPort],
    ['secureClientPort', -1],
    // These servers have no disk.
    ['dataDir', '<NA>'],
    ['dataDirSize', 0],
    ['dataLogDir', '<NA>'],
    ['dataLogSize', 0],
    ['tickTime', settings.tickTime],
    ['maxClientCnxns', settings.maxClientCnxns],
    ['minSessionTimeout', settings.minSessionTimeout],
    ['maxSessionTimeout', settings.maxSessionTimeout],
    ...(tree.release.hasMetrics ? [['clientPortListenBacklog', -1] as const] : []),
    ['serverId', isAlone ? 0 : id],
  ]
  if (isAlone) return lines(pairs)
  pairs.push(
    ['initLimit', settings.initLimit],
    ['syncLimit', settings.syncLimit],
    ['electionAlg', 3],
    ['electionPort', 3888],
    ['quorumPort', 2888],
    ['peerType', 0],
  )
  return `${lines(pairs)}membership: \n${formatConfig(configIn(tree))}`
}

function lines(pairs: readonly (readonly [string, string | number])[]): string {
  return pairs.map(([key, value]) => `${key}=${value}\n`).join('')
}
