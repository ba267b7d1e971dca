// Promise 5: nothing hangs. connect(), every call, close(): each in a test of its own kind.
import { getEventListeners } from 'node:events'
import { Create2Response, ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, ConnectError, KeeperError, type ZooKeeper } from '../../src/index.ts'
import {
  connected,
  created,
  type FakeConnection,
  FakeServer,
  nodeData,
  outcome,
  reconnected,
  replyFrame,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000
/** The default. */
const CONNECT_TIMEOUT = 10_000

afterEach(() => {
  vi.restoreAllMocks()
})

describe('connect', () => {
  test('connect ends after connectTimeout with one ConnectError that lists what happened at each server', async () => {
    const world = new VirtualWorld()
    FakeServer.listen(world, 'refuses:2181').refuse()
    FakeServer.listen(world, 'swallows:2181').swallow()
    world.listen('garbage:2181', {
      dialed: (link) => {
        const text = new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n\r\n')
        link.open({ received: () => link.deliver(text), closed: () => {} })
      },
    })
    const connecting = outcome(
      connect('refuses:2181,swallows:2181,garbage:2181,unknown:2181', { runtime: world, sessionTimeout: T }),
    )
    await world.advance(CONNECT_TIMEOUT - 1)
    expect(connecting.status).toBe('pending')
    await world.advance(1)

    const { error } = connecting
    expect(ConnectError.is(error)).toBe(true)
    const { servers, message } = error as ConnectError
    expect(Object.fromEntries(servers.map(({ server, error }) => [server, error.message]))).toEqual({
      'refuses:2181': 'connect ECONNREFUSED refuses:2181',
      'swallows:2181': 'no TCP connection in time',
      'garbage:2181': 'text in place of a frame: "HTTP/1.1 400 Bad Request"',
      'unknown:2181': 'getaddrinfo ENOTFOUND unknown',
    })
    expect(servers.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(world.dials.length)
    expect(message).toMatch(/^no ZooKeeper server could be reached within 10000 ms: .*garbage:2181 \(tried \d+\): text/)
  })

  test('connect lists the server that was being tried when time was up', async () => {
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, connectTimeout: 1_000 }))
    await world.advance(1_000)
    expect((connecting.error as ConnectError).servers).toMatchObject([{ server: 'zk1:2181', attempts: 2 }])
    expect((connecting.error as Error).message).toContain('no answer to the handshake in time')
  })

  test('connect leaves no timer and no socket behind when it fails', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    outcome(connect('zk1:2181', { runtime: world, connectTimeout: 5_000 }))
    const connection = await server.connection()
    await world.advance(5_000)
    expect(connection.isClosed).toBe(true)
    expect(world.timers).toBe(0)
  })

  test('connect rejects with the reason of its signal, at once, in any state', async () => {
    for (const ms of [0, 10, CONNECT_TIMEOUT / 2]) {
      const world = new VirtualWorld()
      const controller = new AbortController()
      FakeServer.listen(world, 'zk1:2181')
      const connecting = outcome(connect('zk1:2181', { runtime: world, signal: controller.signal }))
      await world.advance(ms)
      const reason = new Error('enough')
      controller.abort(reason)
      await world.settle()
      expect(connecting.error).toBe(reason)
      expect(world.timers).toBe(0)
    }
  })

  test('connect rejects with the reason of a signal that aborts while a credential waits for its answer', async () => {
    const world = new VirtualWorld()
    const controller = new AbortController()
    const server = FakeServer.listen(world, 'zk1:2181')
    const auth = [{ scheme: 'digest', auth: 'user:password' }]
    const connecting = outcome(connect('zk1:2181', { runtime: world, signal: controller.signal, auth }))
    const connection = await server.accept()
    await connection.expect(OpCode.auth)
    expect(connecting.status).toBe('pending')
    controller.abort('enough')
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(connecting).toMatchObject({ status: 'rejected', error: 'enough' })
  })

  test('connect makes no connection where its signal is aborted already', async () => {
    const world = new VirtualWorld()
    const connecting = outcome(connect('zk1:2181', { runtime: world, signal: AbortSignal.abort('enough') }))
    await world.advance(T)
    expect(connecting.error).toBe('enough')
    expect(world.dials).toEqual([])
  })

  const auth = [{ scheme: 'digest', auth: 'user:password' }]
  const ends: [string, (world: VirtualWorld, signal: AbortSignal) => Promise<unknown>][] = [
    ['that resolves', (world, signal) => connected(world, { signal })],
    [
      'that reaches no server',
      async (world, signal) => {
        const connecting = outcome(connect('zk1:2181', { runtime: world, signal, connectTimeout: 1_000 }))
        await world.advance(2_000)
        expect(connecting.error).toMatchObject({ name: 'ConnectError' })
      },
    ],
    [
      'whose credential is refused',
      async (world, signal) => {
        const server = FakeServer.listen(world, 'zk1:2181')
        const connecting = outcome(connect('zk1:2181', { runtime: world, signal, auth }))
        const connection = await server.accept()
        connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
        await world.settle()
        expect(connecting.error).toMatchObject({ code: 'AuthFailed' })
      },
    ],
  ]
  test.each(ends)('connect %s leaves nothing on its signal', async (_, end) => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    await end(new VirtualWorld(), signal)
    expect(added).toHaveBeenCalled()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('connect ends in a bounded time where a credential is never answered', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const auth = [{ scheme: 'digest', auth: 'user:password' }]
    const connecting = outcome(connect('zk1:2181', { runtime: world, auth, connectTimeout: 5_000 }))
    await server.accept()
    await world.advance(5_000 + T / 2)
    expect(connecting.error).toMatchObject({ code: 'RequestTimeout', op: 'addAuth' })
    expect(world.timers).toBe(0)
  })
})

describe('A call and its time', () => {
  test('ZooKeeper.getData rejects with RequestTimeout after its timeout, counted from the call', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const read = outcome(zk.getData('/a', { timeout: 3_000 }))
    await world.advance(2_999)
    expect(read.status).toBe('pending')
    await world.advance(1)
    expect(read.error).toMatchObject({ code: 'RequestTimeout', op: 'getData', path: '/a' })
  })

  test('ZooKeeper.getData waits T by default, over connections too (W25)', async () => {
    const world = new VirtualWorld()
    const { zk, server } = await connected(world, { sessionTimeout: 60_000, handshake: { timeOut: T } })
    const read = outcome(zk.getData('/a'))
    await world.advance((2 * T) / 3 + 1_000)
    const second = await server.accept()
    await second.expect(OpCode.getData)
    await world.advance(T - world.now() - 1)
    expect(read.status).toBe('pending')
    await world.advance(1)
    expect(read.error).toMatchObject({ code: 'RequestTimeout' })
  })

  test('ZooKeeper takes an unsent request whose time is up from the queue', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    server.refuse()
    connection.rst()
    await world.settle()
    outcome(zk.create('/short', '', { timeout: 10 }))
    outcome(zk.create('/long'))
    await world.advance(10)
    server.listen()
    await world.advance(1_000)
    const second = await server.accept()
    expect((await second.expect(OpCode.create2)).body.path).toBe('/long')
    await second.expectNothing()
  })

  test('ZooKeeper swallows the late reply of a call that timed out, and every other call gets its own', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const before = outcome(zk.getData('/before'))
    const short = outcome(zk.create('/short', '', { timeout: 10 }))
    const after = outcome(zk.exists('/after'))
    const requests = await connection.expectAll(OpCode.getData, OpCode.create2, OpCode.exists)
    await world.advance(10)
    expect([before, short, after].map(({ status }) => status)).toEqual(['pending', 'rejected', 'pending'])
    const later = outcome(zk.getData('/later'))
    connection.reply(requests[0], GetDataResponse, nodeData('before'))
    connection.reply(requests[1], Create2Response, created('/short'))
    connection.reply(requests[2], ExistsResponse, { stat: { ...someStat, version: 7 } })
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('later'))
    await world.settle()
    expect(new TextDecoder().decode(before.value.data)).toBe('before')
    expect(after.value?.version).toBe(7)
    expect(new TextDecoder().decode(later.value.data)).toBe('later')
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper swallows a late reply that is an error or cannot be read', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.getData('/a', { timeout: 10 }))
    outcome(zk.getData('/b', { timeout: 10 }))
    const [first, second] = await connection.expectAll(OpCode.getData, OpCode.getData)
    await world.advance(10)
    connection.fail(first, 'NoNode')
    connection.reply(second)
    const read = outcome(zk.getData('/c'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('c'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })

  test('ZooKeeper drops no connection for short timeouts, however many', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const patient = outcome(zk.getData('/patient'))
    const request = await connection.expect(OpCode.getData)
    const hasty = Array.from({ length: 100 }, () => outcome(zk.getData('/hasty', { timeout: 1 })))
    await world.advance((2 * T) / 3 - 1)
    expect(hasty.every(({ error }) => KeeperError.is(error, 'RequestTimeout'))).toBe(true)
    expect(connection.isClosed).toBe(false)
    connection.reply(request, GetDataResponse, nodeData('x'))
    await world.settle()
    expect(patient.status).toBe('fulfilled')
  })

  test('ZooKeeper drops a connection whose oldest request has waited 2/3 T, despite answered pings (W25)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    await world.advance(5_000)
    const write = outcome(zk.create('/a'))
    await world.advance(5_000)
    const read = outcome(zk.getData('/b'))
    await world.advance((2 * T) / 3 - 5_000 - 1)
    expect(connection.isClosed).toBe(false)
    await world.advance(1)
    expect(connection.isClosed).toBe(true)
    expect(connection.heartbeats.length).toBeGreaterThan(0)
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect((write.error as Error).cause).toMatchObject({ message: 'no answer for 2/3 of the session timeout' })
    expect(read.status).toBe('pending')
  })

  test('ZooKeeper drops it also where that request is one that its caller gave up', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.getData('/a', { timeout: 10 }))
    await world.advance((2 * T) / 3)
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper keeps a connection on which some request always waits, but none for 2/3 T', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.getData('/0'))
    for (let count = 1; count < 20; count++) {
      await world.advance(T / 3 - 1)
      outcome(zk.getData(`/${count}`))
      await world.settle()
      await world.advance(T / 3 - 1)
      expect(connection.isClosed).toBe(false)
      connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
      connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
      outcome(zk.getData('/0'))
      await world.settle()
    }
  })

  test('ZooKeeper rejects calls at a server that does not read, and holds few bytes for it (W22)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.stopReading()
    const data = new Uint8Array(100_000)
    const calls = Array.from({ length: 200 }, () => outcome(zk.setData('/a', data, { timeout: 5_000 })))
    await world.settle()
    expect(connection.unread).toBeLessThan(512 * 1024)
    await world.advance(5_000)
    expect(calls.every(({ error }) => KeeperError.is(error, 'RequestTimeout'))).toBe(true)
    await world.advance((2 * T) / 3 - 5_000)
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper begins its next connection at once, without the pings that the last one had no room for', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    connection.stopReading()
    const read = outcome(zk.getData('/a', { timeout: 2 * T }))
    await world.advance((2 * T) / 3)
    expect(connection.isClosed).toBe(true)
    await world.advance(1_000)
    const second = await server.accept()
    const request = await second.expect(OpCode.getData)
    expect(second.segments.flat()).toEqual(['connect', 'getData'])
    second.reply(request, GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })

  test('ZooKeeper sends the rest, in order, to a server that reads again', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.stopReading()
    for (let index = 0; index < 40; index++) outcome(zk.setData(`/${index}`, new Uint8Array(30_000)))
    await world.settle()
    connection.resumeReading()
    for (let index = 0; index < 40; index++) {
      expect((await connection.expect(OpCode.setData)).body.path).toBe(`/${index}`)
    }
  })

  test('ZooKeeper has as many timers after 10,000 calls as after one (S22)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    for (let round = 0; round < 10; round++) {
      const reads = Array.from({ length: 1_000 }, () => outcome(zk.exists('/a')))
      for (const request of await connection.expectAll(...reads.map(() => OpCode.exists)))
        connection.fail(request, 'NoNode')
      await world.advance(100)
      expect(reads.every(({ status }) => status === 'fulfilled')).toBe(true)
    }
    expect(world.timers).toBe(1)
  })
})

describe('A call and its signal', () => {
  test('ZooKeeper rejects with the reason of the signal, whatever it is', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const controller = new AbortController()
    const sent = outcome(zk.getData('/a', { signal: controller.signal }))
    await connection.expect(OpCode.getData)
    controller.abort({ my: 'reason' })
    await world.settle()
    expect(sent.error).toEqual({ my: 'reason' })
  })

  test.each([null, false, 0, ''])(
    'ZooKeeper rejects with the reason %j of a signal aborted before or during a call',
    async (reason) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const controller = new AbortController()
      const during = outcome(zk.getData('/a', { signal: controller.signal }))
      await connection.expect(OpCode.getData)
      controller.abort(reason)
      const before = outcome(zk.getData('/a', { signal: controller.signal }))
      await world.settle()
      expect([during.status, during.error]).toEqual(['rejected', reason])
      expect([before.status, before.error]).toEqual(['rejected', reason])
    },
  )

  test('ZooKeeper sends nothing where the signal is aborted already', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const call = outcome(zk.create('/a', '', { signal: AbortSignal.abort('enough') }))
    await connection.expectNothing()
    expect(call.error).toBe('enough')
  })

  test('ZooKeeper takes an aborted request that was not sent from the queue', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const controller = new AbortController()
    const aborted = outcome(zk.create('/aborted', '', { signal: controller.signal }))
    outcome(zk.create('/kept'))
    controller.abort('enough')
    await world.advance(1_000)
    expect(aborted.error).toBe('enough')
    const second = await server.accept()
    expect((await second.expect(OpCode.create2)).body.path).toBe('/kept')
    await second.expectNothing()
  })

  test('ZooKeeper swallows the reply of an aborted request that was sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const controller = new AbortController()
    const aborted = outcome(zk.getData('/aborted', { signal: controller.signal }))
    const kept = outcome(zk.getData('/kept'))
    const [first, second] = await connection.expectAll(OpCode.getData, OpCode.getData)
    controller.abort('enough')
    await world.settle()
    expect([aborted.status, kept.status]).toEqual(['rejected', 'pending'])
    connection.reply(first, GetDataResponse, nodeData('aborted'))
    connection.reply(second, GetDataResponse, nodeData('kept'))
    await world.settle()
    expect(new TextDecoder().decode(kept.value.data)).toBe('kept')
  })

  test('ZooKeeper takes a watch off the server that an aborted read has set there (V11)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const controller = new AbortController()
    outcome(zk.getDataAndWatch('/a', { signal: controller.signal }))
    const read = await connection.expect(OpCode.getData)
    controller.abort('enough')
    connection.reply(read, GetDataResponse, nodeData('x'))
    const removal = await connection.expect(OpCode.removeWatches)
    expect(removal.body).toEqual({ path: '/a', type: 2 })
    connection.fail(removal, 'NoWatcher')
    await world.settle()
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper takes watches off the server though their removal was aborted before it was sent (V11)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlight: 1 } })
    const watched = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    void outcome(zk.getData('/b'))
    const controller = new AbortController()
    const removal = outcome(zk.removeWatches('/a', 'Any', { signal: controller.signal }))
    const read = await connection.expect(OpCode.getData)
    controller.abort('enough')
    await world.settle()
    expect(removal.error).toBe('enough')
    expect(await watched.value.changed).toMatchObject({ type: 'DataWatchRemoved' })
    connection.reply(read, GetDataResponse, nodeData('x'))
    expect((await connection.expect(OpCode.removeWatches)).body).toEqual({ path: '/a', type: 3 })
  })

  test('ZooKeeper.removeWatches of a closed client is a call like any other: Closed', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    void outcome(zk.close())
    connection.reply(await connection.expect(OpCode.closeSession))
    const removal = outcome(zk.removeWatches('/a'))
    await world.settle()
    expect(removal.error).toMatchObject({ code: 'Closed' })
  })

  test('ZooKeeper forgets the watch of an aborted read whose reply was lost with the connection (V11)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const controller = new AbortController()
    outcome(zk.getDataAndWatch('/a', { signal: controller.signal }))
    await connection.expect(OpCode.getData)
    controller.abort('enough')
    const second = await reconnected(world, { server, connection })
    await second.expectNothing()
    // No other caller of this client waits for the same, so this one removes the watch from the server.
    const read = outcome(zk.getDataAndWatch('/a'))
    second.reply(await second.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    outcome(read.value.unwatch())
    await second.expect(OpCode.removeWatches)
  })

  test('ZooKeeper puts one listener on a signal, however many calls wait on it, and none when none does', async () => {
    const any = vi.spyOn(AbortSignal, 'any')
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const reads = Array.from({ length: 100 }, () => outcome(zk.getData('/a', { signal })))
    outcome(zk.addAuth('digest', 'user:password', { signal }))
    expect(added).toHaveBeenCalledTimes(1)
    connection.reply(await connection.expect(OpCode.auth))
    for (const [index] of reads.entries()) {
      expect(removed).toHaveBeenCalledTimes(0)
      const request = await connection.expect(OpCode.getData)
      if (index % 2 === 0) connection.reply(request, GetDataResponse, nodeData('x'))
      else connection.fail(request, 'NoNode')
    }
    await world.settle()
    expect(removed).toHaveBeenCalledTimes(1)
    expect(any).not.toHaveBeenCalled()
  })

  test('ZooKeeper takes its listener off a signal also when calls time out or the session ends', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    outcome(zk.getData('/a', { signal, timeout: 10 }))
    await world.advance(10)
    expect(removed).toHaveBeenCalledTimes(1)
    outcome(zk.getData('/a', { signal }))
    await world.settle()
    connection.raw(replyFrame({ xid: -4, zxid: 0n, err: 'AuthFailed' }))
    await world.settle()
    expect(removed).toHaveBeenCalledTimes(2)
  })
})

describe('close', () => {
  test.each<[string, (server: FakeServer, connection: FakeConnection) => void, number]>([
    ['connected to a server that answers nothing', () => {}, 0],
    ['connected, half-open', (_, connection) => connection.freeze(), 0],
    ['waiting between two attempts', (server, connection) => (server.refuse(), connection.rst()), 0],
    ['dialing', (server, connection) => (server.swallow(), connection.rst()), 1_000],
    ['in a handshake that is not answered', (_, connection) => connection.rst(), 1_000],
  ])('ZooKeeper.close settles within T/2 while %s (S14, S16)', async (_, bring, after) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    bring(server, connection)
    await world.advance(after)
    const closing = outcome(zk.close())
    await world.advance(T / 2 - 1)
    expect(closing.status).toBe('pending')
    await world.advance(1)
    expect(closing.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.close sends closeSession behind earlier calls, and settles with its reply (S14)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const before = outcome(zk.delete('/a'))
    const closing = outcome(zk.close())
    const [request, close] = await connection.expectAll(OpCode.delete, OpCode.closeSession)
    connection.reply(request)
    await world.settle()
    expect([before.status, closing.status]).toEqual(['fulfilled', 'pending'])
    connection.reply(close)
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(connection.isClosed).toBe(true)
    expect(zk.session.signal.reason).toMatchObject({ code: 'Closed' })
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.close uses a server that comes back in time: the queue first, closeSession last (S14)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    server.refuse()
    connection.rst()
    await world.settle()
    outcome(zk.create('/a'))
    const closing = outcome(zk.close())
    server.listen()
    await world.advance(5_000)
    const second = await server.accept()
    const [create, close] = await second.expectAll(OpCode.create2, OpCode.closeSession)
    second.reply(create, Create2Response, created('/a'))
    second.reply(close)
    await world.settle()
    expect(closing.status).toBe('fulfilled')
  })

  test('ZooKeeper.close does not wait for the end of a pause between two attempts', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.rst()
    await world.settle()
    expect(world.dials.length).toBe(1)
    outcome(zk.close())
    await world.settle()
    expect(world.dials.length).toBe(2)
  })

  test('ZooKeeper.close settles where the server closes the connection instead of an answer', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const closing = outcome(zk.close())
    await connection.expect(OpCode.closeSession)
    connection.fin()
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(zk.session.signal.reason).toMatchObject({ code: 'Closed' })
    await world.advance(10 * T)
    await server.expectNoConnection()
  })

  test('ZooKeeper.close settles twice, and again later (S16)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const both = [outcome(zk.close()), outcome(zk.close())]
    connection.reply(await connection.expect(OpCode.closeSession))
    await connection.expectNothing()
    const third = outcome(zk.close())
    await world.settle()
    expect([...both, third].map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  })

  test('ZooKeeper.close may be called from the code behind a watch (S16)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const closing = outcome(read.value.changed.then(() => zk.close()))
    connection.event('NodeDeleted', '/a')
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(closing.status).toBe('fulfilled')
  })

  test('ZooKeeper.close settles at once where the next session has not begun', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.exists('/a'))
    connection.fail(await connection.expect(OpCode.exists), 'SessionExpired')
    await world.settle()
    const closing = outcome(zk.close())
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    await world.advance(10 * T)
    expect(world.dials.length).toBe(1)
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper lets watches resolve when it is closed', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const changed = outcome(read.value.changed)
    outcome(zk.close())
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(changed.value).toEqual({ type: 'SessionEnded', path: '/a' })
  })
})

describe('Any call after the end', () => {
  test.each<[string, (ended: { zk: ZooKeeper; connection: FakeConnection }) => Promise<void>]>([
    [
      'Closed',
      async ({ zk, connection }) => {
        outcome(zk.close())
        connection.reply(await connection.expect(OpCode.closeSession))
      },
    ],
    ['AuthFailed', async ({ connection }) => connection.raw(replyFrame({ xid: -4, zxid: 0n, err: 'AuthFailed' }))],
    [
      'SessionExpired',
      async ({ zk, connection }) => {
        outcome(zk.exists('/a'))
        connection.fail(await connection.expect(OpCode.exists), 'SessionExpired')
      },
    ],
  ])('ZooKeeper rejects it at once with %s, without a timer or a socket (S15)', async (code, end) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { renewSession: false })
    await end({ zk, connection })
    await world.settle()
    const calls = [
      outcome<unknown>(zk.getData('/a')),
      outcome<unknown>(zk.create('/a')),
      outcome<unknown>(zk.getDataAndWatch('/a')),
      outcome<unknown>(zk.addAuth('digest', 'user:password')),
    ]
    await world.settle()
    for (const { error } of calls) expect(error).toMatchObject({ code, outcomeUnknown: false })
    const closing = outcome(zk.close())
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
    expect(world.dials.length).toBe(1)
  })
})
