// Clients that follow the server list when a reconfiguration changes it.
import { connect, type Runtime, systemRuntime, type ZooKeeper } from '@zk/client'
import { expect, test } from 'vitest'
import { type Ensemble, until } from '../src/ensemble/index.ts'
import { settings } from '@zk/conform/internal'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { lineOf, startReconfigurable } from './support/reconfigurable.ts'

/** Each moves with probability 1/3 to a server that joins two: enough clients that at least one moves. */
const CLIENTS = 60
const CLIENT_PORT = 2181

/** The servers use addresses of their own network among each other; clients use published ports of this host. */
function throughPublishedPorts({ description: { host, nodes } }: Ensemble): Runtime {
  return {
    ...systemRuntime,
    dial: (target, handler) => {
      const node = nodes.find(({ peerAddress }) => peerAddress === target.host && target.port === CLIENT_PORT)
      return systemRuntime.dial(node === undefined ? target : { host, port: node.port }, handler)
    },
  }
}

describeEnsemble('A reconfiguration', () => {
  test('ZooKeeper.followServers leaves a server that leaves, and shares one that joins, in the same session', async () => {
    await using ensemble = await startReconfigurable()
    const runtime = throughPublishedPorts(ensemble)
    await using admin = await connect(ensemble.connectString)
    await admin.addAuth('digest', settings.superUser)
    const [follower] = await ensemble.followers()
    const { id, peerAddress } = ensemble.description.nodes.find((node) => node.id === follower!.id)!
    const line = await lineOf(admin, id)
    const isAtIt = ({ session }: ZooKeeper) => session.connection?.server === `${peerAddress}:${CLIENT_PORT}`

    const servers = ensemble.description.nodes.map((node) => `${node.peerAddress}:${CLIENT_PORT}`).join(',')
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(servers, { runtime })))
    const sessions = clients.map(({ session }) => session)
    try {
      await Promise.all(clients.map((zk) => zk.followServers()))
      const writes = clients.map((zk) => zk.create('/followed-', '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
      await admin.reconfig({ leaving: [id] })
      expect(new Set((await Promise.all(writes)).map(({ path }) => path)).size).toBe(CLIENTS)
      await until('every client to have left it', async () => !clients.some(isAtIt) && clients.every(isConnected))

      await admin.reconfig({ joining: [line] })
      await until('some client to have moved to it', async () => clients.some(isAtIt) && clients.every(isConnected))
      await Promise.all(clients.map((zk) => zk.sync('/')))
      expect(clients.every(isAtIt)).toBe(false)
      expect(clients.map(({ session }) => session)).toEqual(sessions)
    } finally {
      await Promise.all(clients.map((zk) => zk.close()))
    }
  }, 120_000)
})

const isConnected = ({ session }: ZooKeeper) => session.connection !== undefined
