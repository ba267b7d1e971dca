// Where the servers are: names with several addresses, lists that change, the ensemble's own word for it.
import { getEventListeners } from 'node:events'
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, ConnectError, type HostProvider, type ZooKeeper } from '../../src/index.ts'
import { connected, FakeServer, NamedWorld, nodeData, outcome, VirtualWorld } from '../support/index.ts'

const T = 30_000

const dialed = (world: VirtualWorld) => world.dials.map(({ server }) => server)

describe('A host name', () => {
  test('ZooKeeper resolves a name at every attempt: it fails, and works later (S19)', async () => {
    const world = new NamedWorld()
    world.names.set('zk', new Error('getaddrinfo EAI_AGAIN zk'))
    const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
    await world.advance(1_000)
    expect(world.lookups.length).toBeGreaterThan(2)
    expect(world.dials).toEqual([])
    world.names.set('zk', ['10.0.0.1'])
    const server = FakeServer.listen(world, '10.0.0.1:2181')
    await world.advance(10_000)
    await server.accept()
    expect(connecting.value.session.connection?.server).toBe('zk:2181')
  })

  test('ZooKeeper survives an empty answer, and asks again (S19)', async () => {
    const world = new NamedWorld()
    world.names.set('zk', [])
    const connecting = outcome(connect('zk:2181', { runtime: world, connectTimeout: 5_000 }))
    await world.advance(5_000)
    expect(ConnectError.is(connecting.error)).toBe(true)
    expect(connecting.error).toHaveProperty('message', expect.stringContaining('zk has no address'))
    expect(world.lookups.length).toBeGreaterThan(2)
  })

  test('ZooKeeper tries dead addresses and then the live one, each with its part of the time (S19)', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new NamedWorld(seed)
      world.names.set('zk', ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      FakeServer.listen(world, '10.0.0.1:2181').swallow()
      FakeServer.listen(world, '10.0.0.2:2181').swallow()
      const live = FakeServer.listen(world, '10.0.0.3:2181')
      const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
      await world.settle()
      for (let waited = 0; waited < 2 && dialed(world).at(-1) !== '10.0.0.3:2181'; waited++) await world.advance(T / 3)
      await live.accept()
      expect(connecting.status).toBe('fulfilled')
      expect(new Set(dialed(world)).size).toBe(world.dials.length)
      expect(world.lookups).toEqual(['zk'])
    }
  })

  test('ZooKeeper tries the addresses of a name in an order of chance: clients spread', async () => {
    const first = new Set<string>()
    for (let seed = 1; seed <= 40; seed++) {
      const world = new NamedWorld(seed)
      world.names.set('zk', ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
      await world.settle()
      first.add(dialed(world)[0]!)
    }
    expect(first.size).toBe(3)
  })

  test('connect reports what happened at each address of a name', async () => {
    const world = new NamedWorld()
    world.names.set('zk', ['10.0.0.1', 'fd00::1'])
    const connecting = outcome(connect('zk:2181', { runtime: world, connectTimeout: 1_000 }))
    await world.advance(1_000)
    const { servers } = connecting.error as ConnectError
    expect(servers.map(({ server, address }) => `${server} ${address}`).toSorted()).toEqual([
      'zk:2181 10.0.0.1',
      'zk:2181 fd00::1',
    ])
    expect(connecting.error).toHaveProperty('message', expect.stringContaining('zk:2181 at fd00::1 (tried'))
    expect(dialed(world)).toContain('[fd00::1]:2181')
  })

  test('ZooKeeper gives up a look-up that does not end, and goes to the next server', async () => {
    const world = new NamedWorld()
    // Which is the first is drawn.
    let first: string | undefined
    world.resolve = (host, handler) => {
      first ??= host
      if (host !== first) world.arrive(() => handler.found(['10.0.0.2']))
    }
    const server = FakeServer.listen(world, '10.0.0.2:2181')
    const connecting = outcome(connect('zk1:2181,zk2:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
    await world.advance(T / 5)
    await server.accept()
    expect(connecting.status).toBe('fulfilled')
  })
})

describe.each(['found twice', 'found, then failed', 'found, then it throws'])(
  'a look-up that is answered: %s',
  (how) => {
    test('ZooKeeper takes the first answer alone', async () => {
      const world = new NamedWorld()
      world.resolve = (host, handler) => {
        world.lookups.push(host)
        handler.found(['10.0.0.1'])
        if (how === 'found twice') handler.found(['10.0.0.2'])
        else if (how === 'found, then failed') handler.failed(new Error('late'))
        else throw new Error('late')
      }
      const server = FakeServer.listen(world, '10.0.0.1:2181')
      const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
      await server.accept()
      expect(connecting.status).toBe('fulfilled')
      expect([world.lookups, dialed(world)]).toEqual([['zk'], ['10.0.0.1:2181']])
    })
  },
)

describe('ZooKeeper.updateServers', () => {
  test('ZooKeeper.updateServers leaves a server that is gone, in the same session, when all is answered (S20)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { session } = zk
    const other = FakeServer.listen(world, 'zk2:2181')
    const write = outcome(zk.setData('/a', 'x'))
    const request = await connection.expect(OpCode.setData)
    zk.updateServers('zk2:2181')
    await world.settle()
    expect(other.trials).toHaveLength(1)
    const read = outcome(zk.getData('/a'))
    await connection.expectNothing()
    await other.expectNoConnection()
    connection.fail(request, 'BadVersion')
    await world.settle()
    expect(write.error).toMatchObject({ code: 'BadVersion', outcomeUnknown: false })
    expect(connection.isClosed).toBe(true)
    const next = await other.connection()
    expect((await next.expectConnect()).sessionId).toBe(session.id)
    next.accept()
    next.reply(await next.expect(OpCode.getData), GetDataResponse, nodeData('y'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    expect(zk.session).toBe(session)
    await server.expectNoConnection()
  })

  test('ZooKeeper.updateServers keeps the session alive while what was asked before is answered slowly', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    FakeServer.listen(world, 'zk2:2181')
    const write = outcome(zk.setData('/a', ''))
    const request = await connection.expect(OpCode.setData)
    zk.updateServers('zk2:2181')
    await world.advance(T / 2)
    expect(connection.heartbeats).toEqual([T / 3])
    connection.fail(request, 'BadVersion')
    await world.settle()
    expect(write.error).toMatchObject({ code: 'BadVersion' })
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper.close ends the session where it is, though the list has changed: before it, or behind it', async () => {
    for (const isClosedFirst of [true, false]) {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world, { sessionTimeout: T })
      void outcome(zk.setData('/a', ''))
      const write = await connection.expect(OpCode.setData)
      const other = FakeServer.listen(world, 'zk2:2181')
      if (!isClosedFirst) {
        zk.updateServers('zk2:2181')
        await world.settle()
      }
      const closing = outcome(zk.close())
      if (isClosedFirst) zk.updateServers('zk2:2181')
      const last = await connection.expect(OpCode.closeSession)
      connection.fail(write, 'BadVersion')
      connection.fail(last, 'Ok')
      await world.settle()
      expect(closing.status).toBe('fulfilled')
      expect(connection.isClosed).toBe(true)
      await other.expectNoConnection()
      expect(world.timers).toBe(0)
    }
  })

  test('ZooKeeper.updateServers stays where the server is kept, and knows the others when it is lost (S20)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    zk.updateServers('zk1:2181')
    await world.advance(1_000)
    expect(connection.isClosed).toBe(false)
    const other = FakeServer.listen(world, 'zk2:2181')
    zk.updateServers('zk2:2181,zk1:2181')
    await world.settle()
    if (!connection.isClosed) connection.rst()
    server.refuse()
    await world.advance(5_000)
    await other.accept()
    expect(zk.session.connection?.server).toBe('zk2:2181')
  })

  test('ZooKeeper.updateServers gives up a server that is being dialed on the way to another list', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new VirtualWorld(seed)
      const { zk } = await connected(world)
      const others = ['zk2:2181', 'zk3:2181'].map((address) => FakeServer.listen(world, address))
      for (const other of others) other.listen({ delay: 100 })
      zk.updateServers('zk2:2181,zk3:2181')
      await world.advance(50)
      const [kept] = others.filter(({ address }) => address !== world.dials.at(-1)!.server)
      zk.updateServers(kept!.address)
      await world.advance(1_000)
      await kept!.accept()
      expect(zk.session.connection?.server).toBe(kept!.address)
    }
  })

  test('ZooKeeper.updateServers waits out no pause that the list before it has earned', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T, advanced: { localExpiry: 10 * T } })
    server.refuse()
    connection.rst()
    await world.advance(2 * T)
    server.swallow()
    const { length } = world.dials
    while (world.dials.length === length) await world.advance(10)
    const from = world.dials.length
    zk.updateServers('zk2:2181')
    await world.advance(100)
    expect(dialed(world).slice(from)).toContain('zk2:2181')
  })

  test('ZooKeeper.updateServers moves no client to the server where it is, however often that is named', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, connection } = await connected(world)
      zk.updateServers('zk1:2181,zk1:2181')
      await world.advance(1_000)
      expect(connection.isClosed).toBe(false)
    }
  })

  test('ZooKeeper.updateServers counts for the sessions that follow', async () => {
    const world = new VirtualWorld()
    const { zk, server } = await connected(world)
    const other = FakeServer.listen(world, 'zk2:2181')
    zk.updateServers('zk2:2181')
    await world.settle()
    const connection = await other.connection()
    await connection.expectConnect()
    connection.expire()
    await world.advance(2_000)
    await other.accept()
    expect(zk.session.connection?.server).toBe('zk2:2181')
    await server.expectNoConnection()
  })

  test.each([1, 2])(
    'ZooKeeper.updateServers moves half of the clients to a server that is added, also when called %i times',
    async (times) => {
      let moved = 0
      for (let seed = 1; seed <= 60; seed++) {
        const world = new VirtualWorld(seed)
        const { zk } = await connected(world)
        FakeServer.listen(world, 'zk2:2181')
        for (let time = 0; time < times; time++) zk.updateServers('zk1:2181,zk2:2181')
        await world.advance(100)
        if (dialed(world).at(-1) === 'zk2:2181') moved++
      }
      expect(moved).toBeGreaterThan(15)
      expect(moved).toBeLessThan(45)
    },
  )

  test('ZooKeeper.updateServers refuses another chroot, and takes its own or none', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { chroot: '/app' })
    expect(() => zk.updateServers('zk1:2181/other')).toThrow(TypeError)
    expect(() => zk.updateServers('')).toThrow(TypeError)
    zk.updateServers('zk1:2181/app')
    zk.updateServers('zk1:2181')
  })
})

describe('The option hostProvider', () => {
  test('connect asks the HostProvider for every attempt, in every session', async () => {
    const world = new VirtualWorld()
    const servers = [FakeServer.listen(world, 'a:1'), FakeServer.listen(world, 'b:1')]
    let turn = 0
    const seen: string[] = []
    const provider: HostProvider = {
      size: 2,
      next: () => ({ host: 'ab'[turn++ % 2]!, port: 1 }),
      connected: ({ host }) => seen.push(host),
      update: () => true,
    }
    const connecting = outcome(connect('seed:2181', { runtime: world, advanced: { hostProvider: () => provider } }))
    const connection = await servers[0]!.accept()
    connection.rst()
    await world.advance(1_000)
    const next = await servers[1]!.connection()
    await next.expectConnect()
    next.expire()
    await world.advance(2_000)
    await servers[0]!.accept()
    expect(connecting.status).toBe('fulfilled')
    expect(seen).toEqual(['a', 'a'])
  })

  test('connect pauses between rounds though the HostProvider comes with other names all the time', async () => {
    const world = new NamedWorld()
    let turn = 0
    const provider: HostProvider = {
      size: 1,
      next: () => {
        const host = `zk${++turn}`
        world.names.set(host, [`10.${turn}.0.1`, `10.${turn}.0.2`, `10.${turn}.0.3`])
        return { host, port: 1 }
      },
      connected: () => {},
      update: () => false,
    }
    const connecting = outcome(connect('zk1:2181', { runtime: world, advanced: { hostProvider: () => provider } }))
    await world.advance(T)
    expect(connecting.status).toBe('rejected')
    expect(world.dials.length).toBeLessThan(3 * 60)
  })
})

describe('The option hostProvider, when it makes something else', () => {
  const whole = { next: () => ({ host: 'a', port: 1 }), connected: () => {}, update: () => false }

  test.each([
    ['nothing', () => undefined, TypeError],
    ['a promise', async () => ({ ...whole, size: 1 }), TypeError],
    ['less', () => ({ size: 1, next: whole.next }), TypeError],
    ['one of no servers', () => ({ ...whole, size: 0 }), RangeError],
    ['one without a size', () => whole, RangeError],
  ])('connect refuses %s', async (_, hostProvider, expected) => {
    const world = new VirtualWorld()
    const connecting = outcome(
      connect('zk1:2181', { runtime: world, advanced: { hostProvider: hostProvider as never } }),
    )
    await world.settle()
    expect(connecting.error).toBeInstanceOf(expected)
    expect(connecting.error).toHaveProperty('message', expect.stringContaining('hostProvider'))
    expect(world.timers).toBe(0)
  })
})

describe('ZooKeeper.followServers', () => {
  const config = (...lines: string[]) => nodeData([...lines, 'version=100000000'].join('\n'))
  const zk1 = 'server.1=zk1:2888:3888:participant;0.0.0.0:2181'
  const zk2 = 'server.2=zk2:2888:3888:participant;2181'

  test('ZooKeeper.followServers takes the servers from /zookeeper/config, and again when it changes (S20)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { chroot: '/app' })
    const following = outcome(zk.followServers())
    const first = await connection.expect(OpCode.getData)
    expect(first.body).toMatchObject({ path: '/zookeeper/config', watch: true })
    connection.reply(first, GetDataResponse, config(zk1))
    await world.settle()
    expect(following.status).toBe('fulfilled')
    const other = FakeServer.listen(world, 'zk2:2181')
    connection.event('NodeDataChanged', '/zookeeper/config')
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk2))
    await world.settle()
    expect(connection.isClosed).toBe(true)
    await other.accept()
    expect(zk.session.connection?.server).toBe('zk2:2181')
  })

  test('ZooKeeper.followServers listens to its signal no more when the client is closed, however often the servers changed', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { signal } = new AbortController()
    const listeners = () => getEventListeners(signal, 'abort').length
    const following = outcome(zk.followServers({ signal }))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    expect(following.status).toBe('fulfilled')
    expect(listeners()).toBe(1)
    for (let changes = 0; changes < 5; changes++) {
      connection.event('NodeDataChanged', '/zookeeper/config')
      connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
      await world.settle()
    }
    expect(listeners()).toBe(1)
    const closing = outcome(zk.close())
    connection.fail(await connection.expect(OpCode.closeSession), 'Ok')
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(listeners()).toBe(0)
  })

  test('ZooKeeper.followServers rejects where no server says where it takes clients', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const following = outcome(zk.followServers())
    connection.reply(
      await connection.expect(OpCode.getData),
      GetDataResponse,
      config('server.1=zk1:2888:3888:participant'),
    )
    await world.settle()
    expect(following.error).toHaveProperty('message', expect.stringContaining('/zookeeper/config'))
  })

  test('ZooKeeper.followServers leaves no timer when the client is closed while it waits', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1, maxInFlight: 1 } })
    void outcome(zk.followServers())
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    void outcome(zk.sync('/'))
    await world.settle()
    void outcome(zk.sync('/'))
    connection.event('NodeDataChanged', '/zookeeper/config')
    await world.settle()
    void outcome(zk.close())
    await world.advance(15_000)
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.followServers goes on when there is room in the queue again, and leaves no timer behind', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1, maxInFlight: 1 } })
    const following = outcome(zk.followServers())
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    expect(following.status).toBe('fulfilled')
    void outcome(zk.getData('/1'))
    const first = await connection.expect(OpCode.getData)
    void outcome(zk.getData('/2'))
    connection.event('NodeDataChanged', '/zookeeper/config')
    await world.settle()
    connection.reply(first, GetDataResponse, nodeData('x'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await connection.expectNothing()
    await world.advance(1_000)
    expect((await connection.expect(OpCode.getData)).body).toMatchObject({ path: '/zookeeper/config', watch: true })
    // It waits for its turn, and once more there is no room.
    void outcome(zk.getData('/3'))
    connection.rst()
    await world.settle()
    const closing = outcome(zk.close())
    await world.advance(T)
    expect(closing.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.followServers goes on after a read of the configuration that was not answered in time', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T, advanced: { localExpiry: 10 * T } })
    const following = outcome(zk.followServers())
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    expect(following.status).toBe('fulfilled')
    connection.event('NodeDataChanged', '/zookeeper/config')
    await connection.expect(OpCode.getData)
    // No server answers for longer than a call may take.
    server.refuse()
    connection.rst()
    await world.advance(T + 1)
    expect(zk.stats().requests.failed).toEqual({ RequestTimeout: 1 })
    server.listen()
    await world.advance(10_000)
    const second = await server.accept()
    expect((await second.expect(OpCode.getData)).body).toMatchObject({ path: '/zookeeper/config', watch: true })
    expect(zk.stats().anomalies).toBe(0)
  })

  test('ZooKeeper.followServers reports a refusal later on as an anomaly, and keeps the servers it has', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const following = outcome(zk.followServers())
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    connection.event('NodeDataChanged', '/zookeeper/config')
    connection.fail(await connection.expect(OpCode.getData), 'NoAuth')
    await world.settle()
    expect([following.status, zk.stats().anomalies, connection.isClosed]).toEqual(['fulfilled', 1, false])
    await world.advance(1_000)
    await connection.expectNothing()
  })

  /** It has the servers for the first time. */
  async function followed() {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const controller = new AbortController()
    const following = outcome(zk.followServers({ signal: controller.signal }))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, config(zk1))
    await world.settle()
    return { world, zk, connection, controller, following }
  }

  test.each<[string, (zk: ZooKeeper, controller: AbortController) => unknown]>([
    ['the client is closed', (zk) => zk.close()],
    ['the session is left', (zk) => zk.detach()],
    ['its signal aborts', (_, controller) => controller.abort()],
  ])('ZooKeeper.followServers reports nothing where %s while it reads again', async (_, end) => {
    const { world, zk, connection, controller, following } = await followed()
    connection.event('NodeDataChanged', '/zookeeper/config')
    await connection.expect(OpCode.getData)
    connection.freeze()
    void end(zk, controller)
    await world.advance(zk.session.timeout / 2)
    expect([following.status, zk.stats().anomalies]).toEqual(['fulfilled', 0])
  })

  test('ZooKeeper.followServers ends with its signal, and with the client', async () => {
    const { connection, controller, following } = await followed()
    expect(following.status).toBe('fulfilled')
    controller.abort()
    await connection.expect(OpCode.removeWatches)
    await connection.expectNothing()
  })
})
