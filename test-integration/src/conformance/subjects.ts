// What docs/conformance has results of, and how each is started. `scripts/conformance.mjs` judges them.
import { DEBIAN, isBefore, RELEASES, settings } from '@zk/conform/internal'
import { type ServerRelease, TestEnsemble, TestServer } from '@zk/testing'
import { Ensemble, StandaloneServer } from '../ensemble/index.ts'
import { type Adapters, startAdapters } from '../foreign/index.ts'

export interface Subject {
  readonly name: string
  readonly kind: 'server' | 'client'
  /** Calls `judge` with the arguments for `conform` while it runs. */
  readonly use: (judge: (words: readonly string[]) => Promise<void>) => Promise<void>
}

const NEWEST = RELEASES.at(-1)!
const IN_DEBIAN = DEBIAN.replace('-debian', '')

const real: Readonly<Record<string, string>> = {
  ZOO_TICK_TIME: String(settings.tickTime),
  ZOO_INIT_LIMIT: String(settings.initLimit),
  ZOO_SYNC_LIMIT: String(settings.syncLimit),
  ZOO_4LW_COMMANDS_WHITELIST: '*',
  ZOO_CFG_EXTRA: `maxSessionTimeout=${settings.maxSessionTimeout} extendedTypesEnabled=true`,
  SERVER_JVMFLAGS: [
    `-Dzookeeper.DigestAuthenticationProvider.superDigest=${settings.superDigest}`,
    `-Dzookeeper.enforceQuota=${settings.enforceQuota}`,
    `-Dznode.container.checkIntervalMs=${settings.containerCheckInterval}`,
  ].join(' '),
}

const { superUser: _, ...inProcess } = settings

const wordsOf = (connectString: string): readonly string[] => [connectString, '--super', settings.superUser]

function realServer(release: string): Subject {
  const isDebian = release === IN_DEBIAN
  return {
    name: `ZooKeeper ${release}${isDebian ? ' (Debian)' : ''}`,
    kind: 'server',
    use: async (judge) => {
      process.env['ZK_RELEASE'] = isDebian ? '' : release
      await using server = await StandaloneServer.start({ environment: real })
      await judge(wordsOf(server.connectString))
    },
  }
}

function testServer(release: string): Subject {
  return {
    name: `@zk/testing as ${release}`,
    kind: 'server',
    use: async (judge) => {
      const exact = (release === IN_DEBIAN ? DEBIAN : release) as ServerRelease
      // Earlier ones have no hard limits.
      const enforceQuota = !isBefore(release, '3.7')
      await using server = await TestServer.start({ ...inProcess, enforceQuota, release: exact })
      await judge(wordsOf(server.connectString))
    },
  }
}

function client(name: string, which: Exclude<keyof Adapters, symbol>): Subject {
  return {
    name,
    kind: 'client',
    use: async (judge) => {
      await using adapters = await startAdapters()
      const command = adapters[which]
      if (command === undefined) throw new Error(`${name} needs Go`)
      await judge(['client', '--adapter', '--', ...command])
    },
  }
}

export const subjects: readonly Subject[] = [
  ...RELEASES.map(realServer),
  {
    name: `ZooKeeper ${NEWEST}, ensemble of three`,
    kind: 'server',
    use: async (judge) => {
      process.env['ZK_RELEASE'] = NEWEST
      await using ensemble = await Ensemble.start({ environment: real })
      await judge(wordsOf(ensemble.connectString))
    },
  },
  ...RELEASES.map(testServer),
  {
    name: `@zk/testing as ${NEWEST}, ensemble of three`,
    kind: 'server',
    use: async (judge) => {
      await using ensemble = await TestEnsemble.start({ ...inProcess, release: NEWEST as ServerRelease })
      await judge(wordsOf(ensemble.connectString))
    },
  },
  client('kazoo 2.8.0', 'kazoo'),
  client('Curator 5.4.0', 'curator'),
  client('go-zookeeper 1.0.4', 'goZookeeper'),
  client('node-zookeeper-client 1.1.3', 'nodeZookeeperClient'),
  client('@zk/client', 'ours'),
]
