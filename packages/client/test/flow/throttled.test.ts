// ThrottledOp: a busy server has not executed a request.
import { ErrorResponse, ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { op, type ZooKeeper } from '../../src/index.ts'
import type { KnownOpCode } from '../support/requests.ts'
import { connected, nodeData, outcome, reconnected, someStat, VirtualWorld } from '../support/index.ts'

const found = { stat: someStat }
/** No pause of a session with T of 30 s is longer. */
const LONGEST = 30_000 / 32

describe('ThrottledOp', () => {
  test.each([
    ['a read', OpCode.exists, (zk) => zk.exists('/a')],
    ['a read with a watch', OpCode.getData, (zk) => zk.getDataAndWatch('/a')],
    ['a create', OpCode.create2, (zk) => zk.create('/a')],
    ['a delete', OpCode.delete, (zk) => zk.delete('/a')],
    ['a multi', OpCode.multi, (zk) => zk.multi([op.check('/a')])],
    ['a sync', OpCode.sync, (zk) => zk.sync('/a')],
    ['a close', OpCode.closeSession, (zk) => zk.close()],
  ] satisfies [string, KnownOpCode, (zk: ZooKeeper) => Promise<unknown>][])(
    'ZooKeeper sends %s again after a pause',
    async (_, opCode, call) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const called = outcome<unknown>(call(zk))
      connection.fail(await connection.expect(opCode), 'ThrottledOp')
      await world.advance(49)
      await connection.expectNothing()
      expect(called.status).toBe('pending')
      await world.advance(52)
      const again = await connection.expect(opCode)
      connection.fail(again, 'NoAuth')
      await world.settle()
      expect(called.status).not.toBe('pending')
    },
  )

  test('ZooKeeper pauses longer each time, up to T/32, and differently by its seed', async () => {
    const pauses = async (seed: number) => {
      const world = new VirtualWorld(seed)
      const { zk, connection } = await connected(world)
      void outcome(zk.exists('/a'))
      const times: number[] = []
      for (let count = 0; count < 7; count++) {
        connection.fail(await connection.expect(OpCode.exists), 'ThrottledOp')
        const since = world.now()
        const before = connection.segments.length
        await world.settle()
        while (connection.segments.length === before) await world.advance(1)
        times.push(world.now() - since)
      }
      return times
    }
    const [one, other] = [await pauses(1), await pauses(2)]
    expect(one).not.toEqual(other)
    for (const [index, pause] of one.entries()) {
      const longest = Math.min(100 * 2 ** index, LONGEST)
      expect(pause).toBeGreaterThanOrEqual(longest / 2)
      expect(pause).toBeLessThanOrEqual(longest + 1)
    }
  })

  test('ZooKeeper repeats in call order, ahead of what was not sent, and sends nothing meanwhile', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlight: 3 } })
    for (const path of ['/1', '/2', '/3', '/4']) void outcome(zk.exists(path))
    const [one, two, three] = await connection.expectAll(OpCode.exists, OpCode.exists, OpCode.exists)
    connection.fail(one, 'ThrottledOp')
    connection.reply(two, ExistsResponse, found)
    connection.fail(three, 'ThrottledOp')
    await world.settle()
    void outcome(zk.exists('/5'))
    await connection.expectNothing()
    await world.advance(LONGEST)
    const repeated = await connection.expectAll(OpCode.exists, OpCode.exists)
    expect(repeated.map(({ body }) => body.path)).toEqual(['/1', '/3'])
    for (const request of repeated) connection.reply(request, ExistsResponse, found)
    const fresh = await connection.expectAll(OpCode.exists, OpCode.exists)
    expect(fresh.map(({ body }) => body.path)).toEqual(['/4', '/5'])
  })

  test('ZooKeeper asks for as much as the server could do, and then for more again', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: 30_000 })
    const calls = Array.from({ length: 100 }, (_, n) => outcome(zk.exists(`/${n}`)))
    let seen = 0
    /** The server does so many of what has arrived, and is too busy for the others; gives how many had arrived. */
    const serve = async (able: number) => {
      await world.advance(LONGEST)
      const arrived = connection.segments.flat().filter((name) => name === 'exists').length - seen
      seen += arrived
      for (let n = 0; n < arrived; n++) {
        const request = await connection.expect(OpCode.exists)
        if (n < able) connection.reply(request, ExistsResponse, found)
        else connection.fail(request, 'ThrottledOp')
      }
      return arrived
    }
    const bursts: number[] = []
    while (calls.some(({ status }) => status === 'pending')) bursts.push(await serve(10))
    expect(bursts.slice(0, 2)).toEqual([100, 10])
    expect(bursts.length).toBeLessThan(15)
    expect(calls.every(({ status }) => status === 'fulfilled')).toBe(true)
  })

  test('ZooKeeper goes on with pings while it holds back calls, and leaves no timer behind', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.exists('/a', { timeout: 25_000 }))
    for (;;) {
      connection.fail(await connection.expect(OpCode.exists), 'ThrottledOp')
      await world.advance(LONGEST + 1)
      if (connection.heartbeats.length > 0 || world.now() > 20_000) break
    }
    // Requests keep the session alive as pings do: none was needed, and none is when they are answered.
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    await world.settle()
    expect(read.status).toBe('fulfilled')
    expect(world.timers).toBe(1)
  })

  test('ZooKeeper ends the call when its time is up, and says why it was not done', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.create('/a', 'x', { timeout: 20 }))
    connection.fail(await connection.expect(OpCode.create2), 'ThrottledOp')
    await world.advance(20)
    expect(write.error).toMatchObject({
      code: 'RequestTimeout',
      outcomeUnknown: false,
      cause: { code: 'ThrottledOp', op: 'create', path: '/a' },
    })
    await world.advance(LONGEST)
    await connection.expectNothing()
  })

  test('ZooKeeper knows nothing of a write that was sent again and not answered', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.create('/a', 'x', { timeout: 2_000 }))
    connection.fail(await connection.expect(OpCode.create2), 'ThrottledOp')
    await world.advance(2_000)
    await connection.expect(OpCode.create2)
    expect(write.error).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: true, cause: { code: 'ThrottledOp' } })
  })

  test('ZooKeeper sends what was put off on the next connection, without the pause', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const write = outcome(zk.create('/a'))
    void outcome(zk.exists('/b'))
    const [throttled] = await connection.expectAll(OpCode.create2, OpCode.exists)
    connection.fail(throttled, 'ThrottledOp')
    await world.settle()
    const second = await reconnected(world, { server, connection })
    await second.expectAll(OpCode.create2, OpCode.exists)
    expect(write.status).toBe('pending')
  })

  test('ZooKeeper rejects what was put off when the session ends: it did not happen', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.create('/a'))
    connection.fail(await connection.expect(OpCode.create2), 'ThrottledOp')
    await world.settle()
    const adding = outcome(zk.addAuth('digest', 'user:secret'))
    connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    await world.settle()
    expect(adding.error).toMatchObject({ code: 'AuthFailed' })
    expect(write.error).toMatchObject({ code: 'AuthFailed', outcomeUnknown: false })
  })

  test('ZooKeeper asks for nothing of its own either while it holds back', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const watching = outcome(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    void outcome(zk.exists('/b'))
    connection.fail(await connection.expect(OpCode.exists), 'ThrottledOp')
    await world.settle()
    void outcome(watching.value.return())
    await connection.expectNothing()
    await world.advance(LONGEST)
    await connection.expectAll(OpCode.exists, OpCode.removeWatches)
  })

  test('ZooKeeper removes the watch from the server though its removal was throttled', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const watching = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const removal = outcome(watching.value.unwatch())
    connection.fail(await connection.expect(OpCode.removeWatches), 'ThrottledOp')
    await world.advance(LONGEST)
    connection.reply(await connection.expect(OpCode.removeWatches))
    await world.settle()
    expect(removal.status).toBe('fulfilled')
  })

  test('ZooKeeper removes the watch of an aborted read though its own removal was throttled', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const abort = new AbortController()
    void outcome(zk.getDataAndWatch('/a', { signal: abort.signal }))
    const request = await connection.expect(OpCode.getData)
    abort.abort(new Error('enough'))
    connection.reply(request, GetDataResponse, nodeData('x'))
    connection.fail(await connection.expect(OpCode.removeWatches), 'ThrottledOp')
    await world.advance(LONGEST)
    connection.reply(await connection.expect(OpCode.removeWatches))
    await connection.expectNothing()
  })

  test('ZooKeeper gives up a connection rather than take off a watch that was set behind a throttled removal', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const watching = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    void outcome(watching.value.unwatch())
    const again = outcome(zk.getDataAndWatch('/a'))
    const [removal] = await connection.expectAll(OpCode.removeWatches, OpCode.getData)
    connection.fail(removal, 'ThrottledOp')
    await world.settle()
    expect(connection.isClosed).toBe(true)
    await world.advance(1_000)
    const second = await server.accept()
    const [, read] = await second.expectAll(OpCode.removeWatches, OpCode.getData)
    second.reply(read, GetDataResponse, nodeData('x'))
    expect(again.status).toBe('pending')
  })

  test('ZooKeeper gives up a connection that will not set its watches', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    void outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const second = await reconnected(world, { server, connection })
    second.fail(await second.expect(OpCode.setWatches), 'ThrottledOp')
    await world.settle()
    expect(second.isClosed).toBe(true)
    await world.advance(1_000)
    const third = await server.accept()
    await third.expect(OpCode.setWatches)
  })
})

describe('repeatThrottled', () => {
  test('ZooKeeper rejects with ThrottledOp a call that asked for it', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.create('/a', 'x', { repeatThrottled: false }))
    connection.fail(await connection.expect(OpCode.create2), 'ThrottledOp')
    await world.settle()
    expect(write.error).toMatchObject({ code: 'ThrottledOp', outcomeUnknown: false })
    void outcome(zk.exists('/b'))
    await connection.expect(OpCode.exists)
  })

  test('ZooKeeper refuses what is neither true nor false, and sends nothing', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const options = { repeatThrottled: 1 as never }
    const refused = [outcome(zk.exists('/a', options)), outcome(zk.removeWatches('/a', 'Any', options))]
    await connection.expectNothing()
    for (const { error } of refused) expect(error).toEqual(new TypeError('repeatThrottled must be true or false'))
  })
})
