// Promise 8: nothing valid received for 4/3 T ends the session for the user, whether or not a server can be asked.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import {
  connected,
  type FakeConnection,
  type FakeServer,
  nodeData,
  outcome,
  replyFrame,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000

type Fault = (fault: { server: FakeServer; connection: FakeConnection }) => void

const faults: [string, Fault][] = [
  ['servers are down', ({ server, connection }) => (server.refuse(), connection.rst())],
  ['packets are lost', ({ server, connection }) => (server.swallow(), connection.freeze())],
  ['handshakes are not answered', ({ connection }) => connection.freeze()],
]

describe('The session of a client that receives nothing', () => {
  test.each(faults)('Session ends 4/3 T after the last word where %s (S04)', async (_, strike) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T, renewSession: false })
    await world.advance(T / 3)
    expect(connection.heartbeats).toEqual([T / 3])
    strike({ server, connection })
    const read = outcome(zk.getData('/a', { timeout: Infinity }))
    await world.advance((4 / 3) * T - 1)
    expect(zk.session.signal.aborted).toBe(false)
    expect(read.status).toBe('pending')
    await world.advance(1)
    expect(zk.session.signal.reason).toMatchObject({ code: 'SessionExpired' })
    expect(read.error).toMatchObject({ code: 'SessionExpired' })
    expect(world.timers).toBe(0)
  })

  test.each([
    [1, T],
    [2 * T, 2 * T],
  ])('Session with a localExpiry of %i ends after %i ms', async (localExpiry, expected) => {
    const world = new VirtualWorld()
    const options = { sessionTimeout: T, renewSession: false, advanced: { localExpiry } }
    const { zk, server, connection } = await connected(world, options)
    server.refuse()
    connection.rst()
    await world.advance(expected - 1)
    expect(zk.session.signal.aborted).toBe(false)
    await world.advance(1)
    expect(zk.session.signal.aborted).toBe(true)
  })

  test('Session goes by the negotiated timeout, not by the one asked for', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: 60_000, handshake: { timeOut: 6_000 } })
    const { session } = zk
    connection.freeze()
    await world.advance(7_999)
    expect(session.signal.aborted).toBe(false)
    await world.advance(1)
    expect(session.signal.aborted).toBe(true)
  })

  test('ZooKeeper looks for a server with a new session afterwards, and notifies the old watches (S04)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const changed = outcome(read.value.changed)
    server.refuse()
    connection.rst()
    await world.advance((4 / 3) * T)
    expect(changed.value.type).toBe('SessionEnded')
    server.listen()
    await world.advance(10_000)
    const next = await server.connection()
    expect((await next.expectConnect()).sessionId).toBe(0n)
  })
})

describe('The session of a client that gets messages', () => {
  test('Session goes on when the servers come back in time, its watches with it (S03)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const { session } = zk
    outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    server.refuse()
    connection.rst()
    await world.advance(T - 1_000)
    server.listen()
    await world.advance(10_000)
    const second = await server.accept()
    await second.expect(OpCode.setWatches)
    expect(zk.session).toBe(session)
    await world.advance((4 / 3) * T)
    expect(session.signal.aborted).toBe(false)
  })

  test('Session lives on by each whole frame, and not by parts of one or by bytes that mean nothing', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T, renewSession: false })
    await world.advance(T / 3)
    connection.answersPings = false
    connection.raw(replyFrame({ xid: -2 }).subarray(0, 10))
    await world.advance((2 * T) / 3)
    await world.advance(1_000)
    // A server that answers garbage to the handshake counts as silent.
    const second = await server.connection()
    second.raw(Uint8Array.of(0, 0, 0, 1, 7))
    server.refuse()
    await world.advance((5 / 3) * T - world.now() - 1)
    expect(zk.session.signal.aborted).toBe(false)
    await world.advance(1)
    expect(zk.session.signal.aborted).toBe(true)
  })

  test('Session is not brought back by a server that still knows it', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, {
      sessionTimeout: T,
      advanced: { localExpiry: 1 },
      renewSession: false,
    })
    const read = outcome(zk.getData('/a', { timeout: Infinity }))
    const { xid } = await connection.expect(OpCode.getData)
    world.stall(T)
    // Nothing has come in during the stall; the answer is on its way and comes too late.
    await world.settle()
    connection.raw(replyFrame({ xid }))
    await world.settle()
    expect(zk.session.signal.reason).toMatchObject({ code: 'SessionExpired' })
    expect(read.error).toMatchObject({ code: 'SessionExpired' })
  })
})
