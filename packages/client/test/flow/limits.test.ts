// What may wait, and what may be under way.
import { ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connected, nodeData, outcome, reconnected, someStat, VirtualWorld } from '../support/index.ts'

const found = { stat: someStat }

describe('maxWaiting', () => {
  test('ZooKeeper does not count credentials that wait for a connection', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1 } })
    connection.rst()
    await world.settle()
    const calls = [outcome(zk.addAuth('digest', 'a:b')), outcome(zk.addAuth('digest', 'c:d')), outcome(zk.exists('/1'))]
    await world.settle()
    expect(calls.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
  })

  test('ZooKeeper refuses a call at once when so many wait for a connection, and sends those that do', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxWaiting: 2 } })
    connection.rst()
    await world.settle()
    const waiting = [outcome(zk.create('/1')), outcome(zk.exists('/2'))]
    const refused = outcome(zk.create('/3', 'x'))
    await world.settle()
    expect(refused.error).toMatchObject({ code: 'QueueFull', op: 'create', path: '/3', outcomeUnknown: false })
    expect((refused.error as Error).message).toMatch(/^create \/3: QueueFull .*maxWaiting.*not sent/)
    expect(waiting.map(({ status }) => status)).toEqual(['pending', 'pending'])
    await world.advance(1_000)
    const second = await server.accept()
    await second.expectAll(OpCode.create2, OpCode.exists)
    expect(outcome(zk.exists('/4')).status).toBe('pending')
    await second.expect(OpCode.exists)
  })

  test('ZooKeeper counts the bytes of those that wait, and takes one however long it is', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaitingBytes: 1_024 } })
    connection.rst()
    await world.settle()
    const long = outcome(zk.create('/long', 'x'.repeat(5_000)))
    const refused = outcome(zk.exists('/a'))
    await world.settle()
    expect(long.status).toBe('pending')
    expect(refused.error).toMatchObject({ code: 'QueueFull', outcomeUnknown: false })
  })

  test('ZooKeeper has room again when a call that waits is aborted or its time is up', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1 } })
    connection.freeze()
    connection.rst()
    await world.settle()
    const abort = new AbortController()
    const aborted = outcome(zk.exists('/a', { signal: abort.signal }))
    abort.abort(new Error('enough'))
    const timed = outcome(zk.exists('/b', { timeout: 50 }))
    await world.advance(50)
    const last = outcome(zk.exists('/c'))
    await world.settle()
    expect([aborted, timed, last].map(({ status }) => status)).toEqual(['rejected', 'rejected', 'pending'])
    expect(timed.error).toMatchObject({ code: 'RequestTimeout' })
  })

  test('ZooKeeper leaves no watch behind by a refused read, and never refuses the removal of one', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1, maxInFlight: 1 } })
    const watching = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    void outcome(zk.exists('/sent'))
    await world.settle()
    void outcome(zk.exists('/waiting'))
    const refused = outcome(zk.getDataAndWatch('/b'))
    const removal = outcome(watching.value.unwatch())
    await world.settle()
    expect(refused.error).toMatchObject({ code: 'QueueFull' })
    expect(removal.status).toBe('pending')
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    connection.reply(await connection.expect(OpCode.removeWatches))
    await world.settle()
    expect(removal.status).toBe('fulfilled')
  })

  test('ZooKeeper.close is never refused', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1, maxInFlight: 1 } })
    const calls = [outcome(zk.exists('/a')), outcome(zk.exists('/b'))]
    const closing = outcome(zk.close())
    expect(calls[1]!.status).toBe('pending')
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    await world.settle()
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(closing.status).toBe('fulfilled')
  })
})

describe('maxInFlight', () => {
  test('ZooKeeper sends so many calls, and the others in call order as answers come', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlight: 3 } })
    const calls = Array.from({ length: 7 }, (_, number) => outcome(zk.exists(`/${number}`)))
    const first = await connection.expectAll(OpCode.exists, OpCode.exists, OpCode.exists)
    await connection.expectNothing()
    connection.together(() => {
      connection.reply(first[0], ExistsResponse, found)
      connection.reply(first[1], ExistsResponse, found)
    })
    const next = await connection.expectAll(OpCode.exists, OpCode.exists)
    await connection.expectNothing()
    for (const request of [first[2], ...next]) connection.reply(request, ExistsResponse, found)
    const last = await connection.expectAll(OpCode.exists, OpCode.exists)
    expect([...first, ...next, ...last].map(({ body }) => body.path)).toEqual(calls.map((_, number) => `/${number}`))
    for (const request of last) connection.reply(request, ExistsResponse, found)
    await world.settle()
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 'fulfilled'))
    // One segment for all that the answers of one segment made room for.
    expect(connection.segments.slice(-4).map(({ length }) => length)).toEqual([3, 2, 1, 1])
  })

  test('ZooKeeper counts the bytes in flight, and sends one call however long it is', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlightBytes: 1_024 } })
    const long = outcome(zk.setData('/a', 'x'.repeat(3_000)))
    void outcome(zk.exists('/b'))
    const request = await connection.expect(OpCode.setData)
    await connection.expectNothing()
    connection.fail(request, 'NoNode')
    await connection.expect(OpCode.exists)
    expect(long.error).toMatchObject({ code: 'NoNode' })
  })

  test('ZooKeeper counts a call that timed out until its answer is here', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlight: 1 } })
    void outcome(zk.exists('/a', { timeout: 10 }))
    void outcome(zk.exists('/b'))
    const late = await connection.expect(OpCode.exists)
    await world.advance(10)
    await connection.expectNothing()
    connection.reply(late, ExistsResponse, found)
    await connection.expect(OpCode.exists)
  })

  test('ZooKeeper sets watches again and sends the repeated reads within the limit', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxInFlight: 2 } })
    void outcome(zk.getDataAndWatch('/watched'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    for (const path of ['/1', '/2', '/3']) void outcome(zk.exists(path))
    await connection.expectAll(OpCode.exists, OpCode.exists)
    const second = await reconnected(world, { server, connection })
    const [set] = await second.expectAll(OpCode.setWatches, OpCode.exists)
    await second.expectNothing()
    second.reply(set)
    await second.expect(OpCode.exists)
  })
})

describe('A server that does not read', () => {
  test('ZooKeeper hands the socket no more than it takes, and goes on when it drains (W22)', async () => {
    const world = new VirtualWorld()
    const limits = { maxWaiting: 3, maxInFlight: 1_000 }
    const { zk, connection } = await connected(world, { advanced: limits })
    connection.stopReading()
    // The fake socket takes one segment.
    void outcome(zk.setData('/0', 'x'.repeat(1_000)))
    await world.settle()
    const handed = connection.unread
    const waiting = ['/1', '/2', '/3'].map((path) => outcome(zk.setData(path, 'x'.repeat(1_000))))
    const refused = outcome(zk.setData('/4', 'x'.repeat(1_000)))
    await world.settle()
    expect(connection.unread).toBe(handed)
    expect(refused.error).toMatchObject({ code: 'QueueFull' })
    expect(waiting.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
    connection.resumeReading()
    await connection.expectAll(OpCode.setData, OpCode.setData, OpCode.setData, OpCode.setData)
  })
})
