// Faults of sessions that no promise of the client covers.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type Logger } from '../src/index.ts'
import { internalsOf } from '../src/session/session-internals.ts'
import { connected, FakeServer, nodeData, outcome, VirtualWorld } from './support/index.ts'

const T = 30_000

describe('When every server is behind what the client has seen', () => {
  test('ZooKeeper goes round with pauses, lowers nothing, and expires by its own clock (S07)', async () => {
    const world = new VirtualWorld()
    const addresses = ['zk1:2181', 'zk2:2181', 'zk3:2181']
    const servers = addresses.map((address) => FakeServer.listen(world, address))
    const dialed = (index: number) => servers.find(({ address }) => address === world.dials[index]!.server)!
    const connecting = outcome(connect(addresses.join(','), { runtime: world, sessionTimeout: T }))
    await world.settle()
    const connection = await dialed(0).accept()
    const zk = connecting.value
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'), { zxid: 77n })
    await world.settle()
    expect(read.status).toBe('fulfilled')
    const heardAt = world.now()
    const { session } = zk
    const write = outcome(zk.setData('/a', '', { timeout: 10 * T }))
    await connection.expect(OpCode.setData)
    const waits = outcome(zk.getData('/b', { timeout: 10 * T }))
    await connection.expect(OpCode.getData)
    connection.fin()
    await world.settle()
    const seen: bigint[] = []
    let tries = 1
    while (!session.signal.aborted) {
      await world.advance(10)
      if (world.dials.length === tries || session.signal.aborted) continue
      const handshaking = await dialed(tries++).connection()
      seen.push((await handshaking.expectConnect()).lastZxidSeen)
      handshaking.fin()
    }
    expect(world.now() - heardAt).toBeLessThanOrEqual((4 / 3) * T + 10)
    expect(session.signal.reason).toMatchObject({ code: 'SessionExpired' })
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(waits.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(new Set(seen)).toEqual(new Set([77n]))
    // A round of three every 3 s or less, at random: some 30 rounds, and no busy loop.
    expect(tries).toBeGreaterThan(30)
    expect(tries).toBeLessThan(300)
    // The next session has seen nothing, and so any server will do.
    while (world.dials.length === tries) await world.advance(10)
    const fresh = await dialed(tries).connection()
    expect(await fresh.expectConnect()).toMatchObject({ lastZxidSeen: 0n, sessionId: 0n })
  })
})

describe('When the process stands still for 2 T', () => {
  test('Session goes on where its answers have arrived meanwhile: they are read first (S23)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    const { session } = zk
    const read = outcome(zk.getData('/a', { timeout: 3 * T }))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    world.stall(2 * T)
    await world.settle()
    expect([read.status, session.signal.aborted, connection.isClosed]).toEqual(['fulfilled', false, false])
  })

  test('Session ends once, by its own clock, where nothing has, and nothing runs in the next one (S04, S23)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const { session } = zk
    let ends = 0
    session.signal.addEventListener('abort', () => ends++)
    const read = outcome(zk.getData('/a', { timeout: 3 * T }))
    await connection.expect(OpCode.getData)
    world.stall(2 * T)
    await world.settle()
    expect([ends, connection.isClosed]).toEqual([1, true])
    expect(read.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    await world.advance(1_000)
    const next = await server.accept({ sessionId: 8n })
    await next.expectNothing()
    expect([ends, zk.session.id]).toEqual([1, 8n])
  })

  test('Session that a server has ended meanwhile says so, at the handshake (S05, S23)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const { session } = zk
    connection.fin()
    world.stall(T)
    await world.settle()
    expect(session.signal.aborted).toBe(false)
    await world.advance(1_000)
    const handshaking = await server.connection()
    await handshaking.expectConnect()
    handshaking.expire()
    await world.settle()
    expect(session.signal.reason).toMatchObject({ code: 'SessionExpired' })
    expect(zk.session).not.toBe(session)
  })
})

test('ZooKeeper logs once that every server closes the connection, also when its session has seen no transaction', async () => {
  const world = new VirtualWorld()
  const warnings: string[] = []
  const logger: Logger = (level, message) => void (level === 'warn' && warnings.push(message))
  const { zk, server, connection } = await connected(world, { logger })
  connection.rst()
  for (let attempt = 0; attempt < 3; attempt++) {
    await world.advance(1_000)
    const next = await server.connection()
    await next.expectConnect()
    next.rst()
    await world.settle()
  }
  const every =
    'zk: every server closes the connection: it is behind this client, has no quorum, or is a proxy or balancer that reaches no server'
  expect(warnings.filter((message) => message.startsWith('zk: every'))).toEqual([every])
  expect(zk.state).toMatchObject({ name: 'disconnected', ensembleBehind: false })
})

test.each(['an earlier request', 'its heartbeat'])(
  'SessionDriver.touch resolves if the connection is lost before %s is answered',
  async (what) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.answersPings = false
    if (what === 'an earlier request') {
      void outcome(zk.getData('/a'))
      await connection.expect(OpCode.getData)
    }
    const touching = outcome(internalsOf(zk.session).touch())
    if (what === 'its heartbeat') await connection.expectAll(OpCode.ping, OpCode.ping)
    await connection.expectNothing()
    expect(touching.status).toBe('pending')
    connection.rst()
    await world.settle()
    expect(touching.status).toBe('fulfilled')
  },
)
