// Promise 4: silence is noticed, and another server is looked for.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import {
  connected,
  type FakeConnection,
  FakeServer,
  handshakeFrame,
  nodeData,
  outcome,
  replyFrame,
  VirtualWorld,
} from '../support/index.ts'
import { internalsOf } from '../../src/session/session-internals.ts'

const T = 30_000

/** Three servers, and a client that looks for them. */
function threeServers(world: VirtualWorld) {
  const addresses = ['zk1:2181', 'zk2:2181', 'zk3:2181']
  const servers = new Map(addresses.map((address) => [address, FakeServer.listen(world, address)]))
  return {
    servers: [...servers.values()],
    connectString: addresses.join(),
    /** The one that was dialed last. */
    dialed: () => servers.get(world.dials.at(-1)!.server)!,
  }
}

/** A client connected to one of three servers. */
async function connectedToOneOfThree(world: VirtualWorld) {
  const ensemble = threeServers(world)
  const connecting = outcome(connect(ensemble.connectString, { runtime: world, sessionTimeout: T, connectTimeout: T }))
  await world.settle()
  const server = ensemble.dialed()
  const connection = await server.accept()
  return { ...ensemble, zk: connecting.value, server, connection }
}

describe('Connect and handshake together get T / number of servers', () => {
  test.each<[string, (server: FakeServer) => void]>([
    ['does not answer SYN', (server) => server.swallow()],
    ['takes the connection and says nothing (W20)', (server) => server.listen()],
    ['takes the connection late and then says nothing', (server) => server.listen({ delay: T / 3 - 1 })],
  ])('ZooKeeper tries the next server after T/3 where each of three %s', async (_, behave) => {
    const world = new VirtualWorld()
    const { servers, connectString } = threeServers(world)
    for (const server of servers) behave(server)
    outcome(connect(connectString, { runtime: world, sessionTimeout: T, connectTimeout: T }))
    await world.advance(T - 1)
    expect(world.dials.map(({ at }) => at)).toEqual([0, T / 3, (2 * T) / 3])
    expect(new Set(world.dials.map(({ server }) => server)).size).toBe(3)
  })

  test('ZooKeeper tries the next server at once where a connection is refused', async () => {
    const world = new VirtualWorld()
    const { servers, connectString, dialed } = threeServers(world)
    for (const server of servers) server.refuse()
    outcome(connect(connectString, { runtime: world, sessionTimeout: T, connectTimeout: T }))
    await world.settle()
    expect(world.dials.map(({ at }) => at)).toEqual([0, 0, 0])
    expect(dialed()).toBe(servers.find(({ address }) => address === world.dials[2]!.server))
  })

  test('ZooKeeper fails no call for a server that does not answer: nothing was sent (W20)', async () => {
    const world = new VirtualWorld()
    const { zk, dialed, connection } = await connectedToOneOfThree(world)
    connection.rst()
    await world.settle()
    const write = outcome(zk.create('/a'))
    await world.advance(T / 3 + 1_000)
    expect(write.status).toBe('pending')
    const next = await dialed().accept()
    await next.expect(OpCode.create2)
  })
})

describe('A connection on which nothing is received', () => {
  test('ZooKeeper drops a half-open connection after 2/3 T and goes to another server (W24)', async () => {
    const world = new VirtualWorld()
    const { zk, server, dialed, connection } = await connectedToOneOfThree(world)
    connection.freeze()
    await world.advance((2 * T) / 3 - 1)
    expect(zk.session.connection?.signal.aborted).toBe(false)
    const lost = zk.session.connection!
    await world.advance(1)
    expect(lost.signal.aborted).toBe(true)
    expect(lost.signal.reason).toMatchObject({ message: 'nothing received for 2/3 of the session timeout' })
    expect(zk.session.connection).toBeUndefined()
    await world.advance(1_000)
    expect(dialed()).not.toBe(server)
  })

  test('ZooKeeper drops a connection whose frame never becomes whole, a byte a second (W21)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    const read = outcome(zk.getData('/a'))
    const request = await connection.expect(OpCode.getData)
    const reply = replyFrame({ xid: request.xid }, GetDataResponse, nodeData('x'.repeat(100)))
    for (let sent = 0; sent < (2 * T) / 3 / 1_000; sent++) {
      expect(connection.isClosed).toBe(false)
      connection.raw(reply.subarray(sent, sent + 1))
      await world.advance(1_000)
    }
    expect(connection.isClosed).toBe(true)
    expect(read.status).toBe('pending')
  })

  test('ZooKeeper reads a node that takes its slow link 2 T, and needs one connection', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    const read = outcome(zk.getData('/a', { timeout: 3 * T }))
    const request = await connection.expect(OpCode.getData)
    const reply = replyFrame({ xid: request.xid }, GetDataResponse, nodeData('x'.repeat(1024 * 1024)))
    for (let at = 0; at < reply.byteLength; at += 16_384) {
      await world.advance((2 * T) / 64)
      connection.raw(reply.subarray(at, at + 16_384))
    }
    await world.settle()
    expect(read.value.data.byteLength).toBe(1024 * 1024)
    expect(connection.heartbeats).toEqual([1, 2, 3, 4, 5, 6].map((count) => (count * T) / 3))
    expect(world.dials.length).toBe(1)
  })

  test('ZooKeeper takes any whole frame for a sign of life, an unexpected ping reply too (W15)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    for (let beats = 0; beats < 10; beats++) {
      await world.advance(T / 2)
      for (let count = 0; count < 3; count++) connection.raw(replyFrame({ xid: -2, zxid: 0n }))
    }
    expect(zk.session.connection?.signal.aborted).toBe(false)
  })
})

describe('Pings', () => {
  test('ZooKeeper pings an idle connection every T/3, and keeps it over 10 T (S01)', async () => {
    const world = new VirtualWorld()
    const { connection } = await connected(world, { sessionTimeout: T })
    await world.advance(10 * T)
    expect(connection.heartbeats).toEqual(Array.from({ length: 30 }, (_, index) => ((index + 1) * T) / 3))
    expect(connection.isClosed).toBe(false)
    expect(world.dials.length).toBe(1)
  })

  test('ZooKeeper sends no second heartbeat before both pings of the first are answered (S01)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    await world.advance(T / 3)
    for (let step = 0; step < 4; step++) {
      // Not silent, though the ping is not answered.
      connection.event('NodeCreated', '/a')
      await world.advance(T / 7)
    }
    expect(connection.heartbeats.length).toBe(1)
    connection.raw(replyFrame({ xid: -2, zxid: 0n }))
    await world.settle()
    expect(connection.heartbeats.length).toBe(1)
    connection.raw(replyFrame({ xid: -2, zxid: 0n }))
    await world.advance(T / 3)
    expect(connection.heartbeats.length).toBe(2)
    expect(zk.session.connection).toBeDefined()
  })

  test('ZooKeeper drops a connection whose ping is not answered for 2/3 T, though events come', async () => {
    const world = new VirtualWorld()
    const { connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    await world.advance(T / 3)
    for (let step = 0; step < 4; step++) {
      connection.event('NodeCreated', '/a')
      await world.advance(T / 6 - 1)
    }
    expect(connection.isClosed).toBe(false)
    await world.advance(5)
    expect(connection.isClosed).toBe(true)
  })

  test.each([
    [2, 'sends no ping'],
    [1, 'sends pings all the same'],
  ])('ZooKeeper that sends %i requests in T/3 %s: a follower may lose one touch (S01)', async (requests) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    for (let count = 0; count < 50 * requests; count++) {
      outcome(zk.getData('/a'))
      connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
      await world.advance(T / 3 / requests - 1)
    }
    if (requests === 2) expect(connection.heartbeats).toEqual([])
    else expect(connection.heartbeats.length).toBeGreaterThan(20)
  })

  test('ZooKeeper pings though credentials are sent all the time: servers do not touch the session for them', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    for (let count = 0; count < 30; count++) {
      outcome(zk.addAuth('digest', `me:${count}`))
      connection.reply(await connection.expect(OpCode.auth))
      await world.advance(T / 10)
    }
    expect(connection.heartbeats).toEqual(Array.from({ length: 9 }, (_, index) => ((index + 1) * T) / 3))
  })
})

describe('After a loss', () => {
  test.each<[string, (connection: FakeConnection) => void]>([
    ['FIN', (connection) => connection.fin()],
    ['RST', (connection) => connection.rst()],
    [
      'FIN in the middle of a frame',
      (connection) => {
        connection.raw(replyFrame({ xid: 1 }).subarray(0, 9))
        connection.fin()
      },
    ],
  ])('ZooKeeper resumes the session elsewhere after %s, within T/30 (S02, W23)', async (_, lose) => {
    const world = new VirtualWorld()
    const { zk, dialed, server, connection } = await connectedToOneOfThree(world)
    const { session } = zk
    await world.advance(T)
    lose(connection)
    await world.advance(T / 30)
    expect(dialed()).not.toBe(server)
    const next = await dialed().connection()
    expect(await next.expectConnect()).toMatchObject({ sessionId: session.id, passwd: new Uint8Array(16).fill(7) })
    next.accept()
    await world.settle()
    expect(zk.session).toBe(session)
    expect(session.connection?.server).toBe(dialed().address)
    expect(session.signal.aborted).toBe(false)
  })

  test('ZooKeeper takes in what came whole before the connection broke, the end of the session too (W23)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { renewSession: false })
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.rst()
    await world.advance(1_000)
    expect(read.status).toBe('fulfilled')
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    second.rst()
    await world.settle()
    expect(zk.session.signal.reason).toMatchObject({ code: 'SessionExpired' })
  })

  test('ZooKeeper tells every server how far it has seen, and one behind loses it to the next (S06)', async () => {
    const world = new VirtualWorld()
    const { zk, dialed, connection } = await connectedToOneOfThree(world)
    outcome(zk.getData('/a'))
    const read = await connection.expect(OpCode.getData)
    connection.reply(read, GetDataResponse, nodeData('x'), { zxid: 77n })
    connection.fin()
    await world.advance(1_000)
    const behind = await dialed().connection()
    expect((await behind.expectConnect()).lastZxidSeen).toBe(77n)
    behind.fin()
    await world.advance(1_000)
    expect(dialed().address).not.toBe(behind.server)
    const next = await dialed().connection()
    expect((await next.expectConnect()).lastZxidSeen).toBe(77n)
  })

  test('ZooKeeper goes by the timeout that the next server grants (S17)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    connection.rst()
    await world.advance(1_000)
    const second = await server.accept({ timeOut: 6_000 })
    expect(zk.session.timeout).toBe(6_000)
    const from = internalsOf(zk.session).connection!.handshakeAt.now
    await world.advance(10_000)
    expect(second.heartbeats.map((at) => at - from)).toEqual([2_000, 4_000, 6_000, 8_000, 10_000])
    second.freeze()
    await world.advance(4_000)
    expect(second.isClosed).toBe(true)
    await world.advance(1_000)
    // The wish stays what it was.
    expect((await (await server.connection()).expectConnect()).timeOut).toBe(T)
  })

  test.each([1, 2 ** 31 - 1])('ZooKeeper lives with a timeout of %i ms (W19)', async (timeOut) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { handshake: { timeOut } })
    expect(zk.session.timeout).toBe(timeOut)
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    await world.advance(100)
    expect(world.timers).toBeLessThanOrEqual(2)
  })
})

describe('When no server can be reached', () => {
  /** When each round of attempts begins, until the session expires. */
  async function attempts(seed: number, behave: (server: FakeServer) => void) {
    const world = new VirtualWorld(seed)
    const { servers, connection } = await connectedToOneOfThree(world)
    for (const server of servers) behave(server)
    const from = world.now()
    connection.rst()
    await world.advance((4 / 3) * T - 1)
    return world.dials.slice(1).map(({ server, at }) => ({ server, at: at - from }))
  }

  test('ZooKeeper tries every server in each round', async () => {
    const dials = await attempts(1, (server) => server.refuse())
    for (let round = 0; round + 3 <= dials.length; round += 3) {
      expect(new Set(dials.slice(round, round + 3).map(({ server }) => server)).size).toBe(3)
    }
  })

  test('ZooKeeper pauses longer after each failed round, at random, at most 10 s or T/10 (S18)', async () => {
    const shares: number[] = []
    for (let seed = 1; seed <= 40; seed++) {
      const moments = [...new Set((await attempts(seed, (server) => server.refuse())).map(({ at }) => at))]
      const pauses = moments.slice(1).map((at, index) => at - moments[index]!)
      for (const [round, pause] of pauses.slice(1).entries()) {
        const bound = Math.min(100 * 2 ** (round + 1), 10_000, T / 10)
        expect(pause).toBeLessThanOrEqual(bound + 1)
        shares.push(pause / bound)
      }
    }
    // Over the whole width, as full jitter is: not near the bound alone.
    expect(Math.min(...shares)).toBeLessThan(0.1)
    expect(Math.max(...shares)).toBeGreaterThan(0.9)
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeCloseTo(0.5, 1)
  })

  test('ZooKeeper never pauses past the time left: the last attempt comes before the session expires', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, server, connection } = await connected(world, {
        sessionTimeout: T,
        advanced: { localExpiry: 1 },
        renewSession: false,
      })
      server.refuse()
      connection.rst()
      await world.advance(T)
      expect(zk.session.signal.aborted).toBe(true)
      expect(world.dials.every(({ at }) => at <= T)).toBe(true)
    }
  })

  test('ZooKeeper does not hammer a server that takes the connection and closes it, over 100 tries (S18)', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, sessionTimeout: T, connectTimeout: 2 ** 31 - 1 }))
    const moments: number[] = []
    for (let tries = 0; tries < 100; tries++) {
      const connection = await server.connection()
      moments.push(world.now())
      connection.fin()
      await world.settle()
      for (let ms = 0; ms <= 10_000 && world.dials.length === tries + 1; ms += 10) await world.advance(10)
    }
    const pauses = moments.slice(1).map((at, index) => at - moments[index]!)
    const late = pauses.slice(20)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(T / 10 + 10)
    expect(late.reduce((sum, pause) => sum + pause, 0) / late.length).toBeGreaterThan(T / 30)
    expect(connecting.status).toBe('pending')
  })

  test('ZooKeeper gives the name to the network at every attempt, to be resolved then (S19)', async () => {
    const world = new VirtualWorld()
    const connecting = outcome(connect('later.example:2181', { runtime: world, sessionTimeout: T, connectTimeout: T }))
    await world.advance(1_000)
    expect(world.dials.length).toBeGreaterThan(2)
    expect(new Set(world.dials.map(({ server }) => server))).toEqual(new Set(['later.example:2181']))
    const server = FakeServer.listen(world, 'later.example:2181')
    await world.advance(10_000)
    await server.accept()
    expect(connecting.status).toBe('fulfilled')
  })
})

describe('The clock', () => {
  test.each([T / 3, T / 2, T])(
    'ZooKeeper reads what has arrived before it drops a connection, after a stall of %i ms (S23)',
    async (ms) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world, { sessionTimeout: T })
      const { session } = zk
      const read = outcome(zk.getData('/a'))
      const request = await connection.expect(OpCode.getData)
      connection.reply(request, GetDataResponse, nodeData('x'))
      world.stall(ms)
      await world.settle()
      expect(read.status).toBe('fulfilled')
      expect(connection.isClosed).toBe(false)
      await world.advance(T)
      expect(zk.session).toBe(session)
      expect(world.dials.length).toBe(1)
    },
  )

  test('ZooKeeper does drop a silent connection after a stall (S23)', async () => {
    const world = new VirtualWorld()
    const { connection } = await connected(world, { sessionTimeout: T })
    world.stall((2 * T) / 3)
    await world.settle()
    expect(connection.isClosed).toBe(true)
  })

  test.each([3_600_000, -3_600_000])(
    'ZooKeeper does not look at the clock on the wall, set by %i ms (S24)',
    async (offset) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world, { sessionTimeout: T })
      world.setWallClock(offset)
      await world.advance(T)
      expect(connection.heartbeats).toEqual([T / 3, (2 * T) / 3, T])
      const read = outcome(zk.getData('/a', { timeout: 1_000 }))
      await world.advance(999)
      expect(read.status).toBe('pending')
      await world.advance(1)
      expect(read.error).toMatchObject({ code: 'RequestTimeout' })
      expect(zk.session.connection?.signal.aborted).toBe(false)
    },
  )
})

test('ConnectResponse of the 3.3 form, without readOnly, is accepted (W17)', async () => {
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  const connecting = outcome(connect('zk1:2181', { runtime: world }))
  const connection = await server.connection()
  await connection.expectConnect()
  const whole = handshakeFrame({ timeOut: T, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false })
  const short = whole.slice(0, -1)
  new DataView(short.buffer).setInt32(0, 36)
  connection.raw(short)
  await world.settle()
  expect(connecting.value.session.id).toBe(5n)
})
