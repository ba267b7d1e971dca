// A new list of servers replaces what works when it works itself, and not before.
import { inspect } from 'node:util'
import { encodeFrame, GetDataResponse, OpCode, RequestHeader } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type Logger } from '../../src/index.ts'
import {
  connected,
  type FakeConnection,
  FakeServer,
  handshakeFrame,
  NamedWorld,
  nodeData,
  outcome,
  VirtualWorld,
} from '../support/index.ts'
import { isTrial } from '../support/fake-server.ts'

const T = 30_000
const dialed = (world: VirtualWorld, from = 0) => world.dials.slice(from).map(({ server }) => server)
const config = (...lines: string[]) => nodeData([...lines, 'version=100000000'].join('\n'))

/** Lets time pass until this is so, `limit` ms at most; returns how long it took. */
async function until(world: VirtualWorld, limit: number, isSo: () => boolean): Promise<number> {
  const began = world.now()
  while (!isSo() && world.now() - began < limit) await world.advance(20)
  expect(isSo()).toBe(true)
  return world.now() - began
}

function notebook(): { lines: string[]; logger: Logger } {
  const lines: string[] = []
  return { lines, logger: (level, message, fields) => void lines.push(`${level} ${message} ${inspect(fields)}`) }
}

/** The client reads this configuration, for the first time or once more. */
async function tell(connection: FakeConnection, ...lines: string[]): Promise<void> {
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(...lines))
}

/** What becomes of a client that tries a server of the new list. */
const useless: readonly (readonly [string, (server: FakeServer) => void])[] = [
  ['refuse', (server) => server.refuse()],
  ['cannot be reached', (server) => server.swallow()],
  ['end the connection at the first byte, as at a TLS port', (server) => (server.onTrial = 'close')],
  ['never answer', (server) => (server.onTrial = 'ignore')],
  ['are read-only', (server) => (server.onTrial = { timeOut: T, sessionId: 9n, readOnly: true })],
]

describe.each(useless)('Servers of a new list that %s', (_, breakIt) => {
  test.each(['updateServers', 'followServers'] as const)(
    'ZooKeeper.%s leaves no good connection for them, and moves once they serve',
    async (method) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world, { sessionTimeout: T })
      const others = ['zk2:2181', 'zk3:2181'].map((address) => FakeServer.listen(world, address))
      for (const other of others) breakIt(other)
      if (method === 'updateServers') zk.updateServers('zk2:2181,zk3:2181')
      else {
        void outcome(zk.followServers())
        await tell(connection, 'server.2=zk2:2888:3888;2181', 'server.3=zk3:2888:3888;2181')
      }
      await world.advance(3 * T)
      expect([connection.isClosed, zk.state.name]).toEqual([false, 'connected'])
      // Rounds of two servers, with pauses that grow up to a minute.
      expect(world.dials.length).toBeGreaterThan(6)
      expect(world.dials.length).toBeLessThan(25)
      for (const other of others) {
        other.listen()
        other.onTrial = 'expire'
      }
      await until(world, 60_000 + T, () => connection.isClosed)
      await world.settle()
      const next = others.find(({ address }) => address === world.dials.at(-1)!.server)!
      await next.accept()
      expect([zk.state.name, others.map(({ address }) => address)]).toEqual([
        'connected',
        expect.arrayContaining([zk.session.connection?.server]),
      ])
    },
  )
})

describe('A list that does not work', () => {
  test('ZooKeeper returns to its former server when the connection is lost, in the same session', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, server, connection } = await connected(world, { sessionTimeout: T })
      const { id } = zk.session
      zk.updateServers('zk2:2181,zk3:2181')
      await world.advance(T)
      connection.rst()
      await world.advance(1_000)
      await server.accept()
      expect([zk.session.id, zk.session.connection?.server]).toEqual([id, 'zk1:2181'])
    }
  })

  test('ZooKeeper moves from a server it has fallen back to as soon as one of the list serves', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    zk.updateServers('zk2:2181')
    await world.advance(T)
    connection.rst()
    await world.advance(1_000)
    const fallback = await server.accept()
    await world.advance(T)
    const other = FakeServer.listen(world, 'zk2:2181')
    other.onTrial = 'expire'
    await until(world, 60_000 + T, () => fallback.isClosed)
    await world.settle()
    await other.accept()
    expect(zk.session.connection?.server).toBe('zk2:2181')
  })

  test('ZooKeeper finds the old servers within T when every server of the new list is silent', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, server, connection } = await connected(world, { sessionTimeout: T })
      for (const address of ['zk2:2181', 'zk3:2181']) FakeServer.listen(world, address).swallow()
      zk.updateServers('zk2:2181,zk3:2181')
      await world.advance(T)
      // Its first attempt fails, too: so the whole round is needed.
      server.refuse()
      connection.rst()
      await world.advance(1_000)
      server.listen()
      expect(dialed(world).at(-1)).not.toBe('zk1:2181')
      await until(world, T, () => dialed(world).at(-1) === 'zk1:2181')
      await server.accept()
      expect(zk.state.name).toBe('connected')
    }
  })

  test('ZooKeeper stays when another list follows that has its server, and asks no more', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    zk.updateServers('zk2:2181')
    await world.advance(5_000)
    zk.updateServers('zk1:2181')
    const from = world.dials.length
    await world.advance(3 * T)
    expect([connection.isClosed, dialed(world, from)]).toEqual([false, []])
  })

  test('ZooKeeper drops a move to a proven server when a list follows that lacks that server', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    const proven = FakeServer.listen(world, 'zk2:2181')
    const write = outcome(zk.setData('/a', ''))
    const request = await connection.expect(OpCode.setData)
    zk.updateServers('zk2:2181')
    await world.advance(100)
    expect(proven.trials).toHaveLength(1)
    zk.updateServers('zk3:2181')
    await world.advance(100)
    connection.fail(request, 'BadVersion')
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect([write.status, read.status, connection.isClosed]).toEqual(['rejected', 'fulfilled', false])
  })

  test('ZooKeeper says once in each round that no server of the list can be used', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk } = await connected(world, { logger })
    zk.updateServers('zk2:2181,zk3:2181')
    await world.settle()
    expect(lines.filter((line) => line.startsWith('debug zk: a server of the new list cannot be used'))).toHaveLength(2)
    const warnings = lines.filter((line) => line.startsWith('warn'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/no server of the new list can be used, the client keeps its server.*ENOTFOUND/s)
  })

  test('ZooKeeper.close ends a trial that is under way', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const other = FakeServer.listen(world, 'zk2:2181')
    other.onTrial = 'ignore'
    zk.updateServers('zk2:2181')
    await world.settle()
    const closing = outcome(zk.close())
    connection.fail(await connection.expect(OpCode.closeSession), 'Ok')
    await world.settle()
    expect([closing.status, world.timers]).toEqual(['fulfilled', 0])
  })
})

test('ZooKeeper closes a session that a trial was given before it hangs up', async () => {
  const world = new VirtualWorld()
  const { zk } = await connected(world, { sessionTimeout: T })
  const seen: (string | number[])[] = []
  world.listen('zk2:2181', {
    dialed: (link) => {
      // The trial is the first connection.
      if (seen.length > 0) return
      link.open({
        received: (segment) => {
          if (!isTrial(segment)) return seen.push([...segment])
          seen.push('trial')
          const passwd = new Uint8Array(16)
          return link.deliver(handshakeFrame({ timeOut: T, sessionId: 9n, passwd, readOnly: false }))
        },
        closed: () => seen.push('closed'),
      })
    },
  })
  zk.updateServers('zk2:2181')
  await world.settle()
  const closeSession = [...encodeFrame((writer) => RequestHeader.write(writer, { xid: 1, type: OpCode.closeSession }))]
  expect(seen.slice(0, 3)).toEqual(['trial', closeSession, 'closed'])
})

describe('The connect string', () => {
  test('ZooKeeper tries it again, with new addresses, when every server of the ensemble is gone', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = new NamedWorld(seed)
      world.names.set('zk', ['10.0.0.1']).set('10.0.0.5', ['10.0.0.5']).set('10.0.0.6', ['10.0.0.6'])
      const first = FakeServer.listen(world, '10.0.0.1:2181')
      const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T }))
      let connection = await first.accept()
      const zk = connecting.value
      const { id } = zk.session
      void outcome(zk.followServers())
      const pods = ['10.0.0.5:2181', '10.0.0.6:2181'].map((address) => FakeServer.listen(world, address))
      await tell(connection, 'server.1=10.0.0.5:2888:3888;2181', 'server.2=10.0.0.6:2888:3888;2181')
      await world.settle()
      connection = await pods.find(({ address }) => address === world.dials.at(-1)!.server)!.accept()
      await world.advance(T)
      // All pods come back with new addresses; nothing is at the old ones, which swallow what comes.
      for (const gone of [first, ...pods]) gone.swallow()
      world.names.set('zk', ['10.0.0.9'])
      const next = FakeServer.listen(world, '10.0.0.9:2181')
      connection.rst()
      await until(world, T, () => dialed(world).at(-1) === next.address)
      await next.accept()
      expect([zk.session.id, zk.session.connection?.server]).toEqual([id, 'zk:2181'])
    }
  })
})

describe('ZooKeeper.followServers', () => {
  const plain = 'server.1=zk1:2888:3888:participant;0.0.0.0:2182'

  test.each([
    [
      'a client with TLS that no server has an address for',
      { tls: true } as const,
      plain,
      /only addresses for plain connections.*uses TLS.*updateServers/,
    ],
    [
      'a client without TLS where all addresses are for TLS',
      {},
      'server.1=zk1:2888:3888;;2281',
      /only addresses for TLS.*option tls/,
    ],
    [
      'where clientPort stands in the static file',
      {},
      'server.1=zk1:2888:3888:participant',
      /clientPort.*static file.*server lines/,
    ],
    ['at a standalone server', {}, '', /lists no server.*updateServers/],
  ])('ZooKeeper.followServers refuses %s, says what to do, and stays', async (_, options, line, message) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, options)
    const following = outcome(zk.followServers())
    await tell(connection, line)
    await world.settle()
    expect(following.error).toMatchObject({ code: 'NoUsableServer', op: 'followServers', path: '/zookeeper/config' })
    expect(following.error).toHaveProperty('message', expect.stringMatching(message))
    await world.advance(1_000)
    expect([world.dials.length, connection.isClosed]).toEqual([1, false])
  })

  test('ZooKeeper.followServers takes the TLS addresses for a client with TLS', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { tls: true })
    const other = FakeServer.listen(world, 'zk2:2281')
    void outcome(zk.followServers())
    await tell(connection, 'server.2=zk2:2888:3888;2181;2281')
    await world.settle()
    expect([other.trials.length, connection.isClosed]).toEqual([1, true])
  })

  test('ZooKeeper.followServers keeps the list at a later configuration without use, and logs why', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { logger })
    const following = outcome(zk.followServers())
    await tell(connection, 'server.1=zk1:2888:3888;2181', 'server.2=zk2:2888:3888')
    await world.settle()
    expect(following.status).toBe('fulfilled')
    connection.event('NodeDataChanged', '/zookeeper/config')
    await tell(connection, 'server.1=zk1:2888:3888')
    await world.settle()
    expect(lines.filter((line) => line.includes('/zookeeper/config'))).toEqual([
      expect.stringContaining('1 of 2 servers have no address that this client can use'),
      expect.stringContaining('the list stays as it is: it lists no address for clients'),
    ])
    expect(connection.isClosed).toBe(false)
  })
})
