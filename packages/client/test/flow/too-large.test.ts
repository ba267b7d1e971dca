// Requests at which a server closes the connection, because they are longer than its jute.maxbuffer.
import {
  Create2Response,
  ExistsResponse,
  GetDataResponse,
  MultiResponse,
  OpCode,
  SetDataResponse,
  SyncResponse,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { isTransient, op } from '../../src/index.ts'
import {
  connected,
  created,
  type FakeConnection,
  nodeData,
  outcome,
  reconnected,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

const T = 6_000
const large = 'x'.repeat(70_000)

async function start() {
  const world = new VirtualWorld()
  const client = await connected(world, { sessionTimeout: T, handshake: { timeOut: T } })
  const next = (connection: FakeConnection) => reconnected(world, { ...client, connection })
  /** The client asks for a sync behind a write that was lost, and to find out whether the connection is good. */
  const synced = async (connection: FakeConnection) => {
    connection.reply(await connection.expect(OpCode.sync), SyncResponse, { path: '/' })
    await world.settle()
  }
  return { world, ...client, next, synced }
}

describe('A request that may be too large', () => {
  test('ZooKeeper sends a request over 32 KiB alone, until one of half its size was answered on this connection', async () => {
    const { world, zk, connection } = await start()
    for (const path of ['/a', '/b', '/c'])
      outcome(zk.setData(path, path === '/a' ? '' : path === '/b' ? large : large.repeat(2).slice(100)))
    outcome(zk.exists('/d'))
    const small = await connection.expect(OpCode.setData)
    await connection.expectNothing()
    connection.reply(small, SetDataResponse, { stat: someStat })
    await world.settle()
    const first = await connection.expect(OpCode.setData)
    await connection.expectNothing()
    connection.reply(first, SetDataResponse, { stat: someStat })
    await world.settle()
    await connection.expectAll(OpCode.setData, OpCode.exists)
  })

  test('ZooKeeper rejects a write with RequestTooLarge when a server closes the connection at it for the second time', async () => {
    const { world, zk, connection, next, synced } = await start()
    const [first, other] = [outcome(zk.setData('/a', large)), outcome(zk.setData('/b', `${large}x`))]
    await connection.expect(OpCode.setData)
    const second = await next(connection)
    expect(first.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(String(first.error)).toMatch(/jute\.maxbuffer of 70\d\d\d bytes or more/)
    // It shows that the connection is good.
    await synced(second)
    await second.expect(OpCode.setData)
    const again = outcome(zk.setData('/a', large))
    const kept = outcome(zk.exists('/c'))
    const third = await next(second)
    expect(other.error).toMatchObject({ code: 'RequestTooLarge', outcomeUnknown: true, path: '/b' })
    expect(isTransient(other.error)).toBe(false)
    expect(String(other.error)).toMatch(/raise their jute\.maxbuffer.*maxRequestSize.*70\d\d\d bytes/)
    expect([again.status, kept.status]).toEqual(['pending', 'pending'])
    await synced(third)
    await third.expect(OpCode.setData)
    await third.expectNothing()
    await next(third)
    expect(again.error).toMatchObject({ code: 'RequestTooLarge', path: '/a' })
    expect(kept.status).toBe('pending')
    await world.settle()
  })

  test('ZooKeeper refuses waiting and new requests of the same size for T, without sending them', async () => {
    const { world, zk, connection, next, synced } = await start()
    outcome(zk.setData('/a', large))
    const [second, third] = [outcome(zk.setData('/b', large)), outcome(zk.setData('/c', large))]
    await connection.expect(OpCode.setData)
    const again = await next(connection)
    await synced(again)
    await again.expect(OpCode.setData)
    const last = await next(again)
    expect(second.error).toMatchObject({ code: 'RequestTooLarge', outcomeUnknown: true })
    expect(third.error).toMatchObject({ code: 'RequestTooLarge', outcomeUnknown: false, op: 'setData', path: '/c' })
    const refused = outcome(zk.setData('/d', large))
    await world.settle()
    expect(refused.error).toMatchObject({ code: 'RequestTooLarge', outcomeUnknown: false })
    await synced(last)
    await world.advance(T)
    // Limits change when servers are restarted.
    const tried = outcome(zk.setData('/d', large))
    last.reply(await last.expect(OpCode.setData), SetDataResponse, { stat: someStat })
    await world.settle()
    expect(tried.status).toBe('fulfilled')
  })

  test('ZooKeeper repeats such a read once, and then rejects it', async () => {
    const { zk, connection, next, synced } = await start()
    const read = outcome(zk.multiRead(Array.from({ length: 400 }, () => op.getData(`/${'x'.repeat(100)}`))))
    await connection.expect(OpCode.multiRead)
    const second = await next(connection)
    await synced(second)
    await second.expect(OpCode.multiRead)
    expect(read.status).toBe('pending')
    await next(second)
    expect(read.error).toMatchObject({ code: 'RequestTooLarge', op: 'multiRead', outcomeUnknown: false })
  })

  test('ZooKeeper finds the request that is too large among several lost together', async () => {
    const { world, zk, connection, next, synced } = await start()
    const reads = [5, 20, 10].map((kib) => outcome(zk.multiRead([op.getData(`/${'x'.repeat(kib * 1024)}`)])))
    await connection.expectAll(OpCode.multiRead, OpCode.multiRead, OpCode.multiRead)
    const second = await next(connection)
    await synced(second)
    second.reply(await second.expect(OpCode.multiRead), MultiResponse, [
      { type: OpCode.error, response: { err: -101 } },
    ])
    await world.settle()
    await second.expect(OpCode.multiRead)
    await second.expectNothing()
    const third = await next(second)
    await synced(third)
    const again = await third.expect(OpCode.multiRead)
    expect(again.size).toBeGreaterThan(20 * 1024)
    // So low a limit is rare: the third loss decides.
    expect(reads.map(({ status }) => status)).toEqual(['fulfilled', 'pending', 'pending'])
    const fourth = await next(third)
    expect(reads.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'pending'])
    await synced(fourth)
    await fourth.expect(OpCode.multiRead)
  })

  test('ZooKeeper sends a backlog in ascending order in two round trips', async () => {
    const { world, zk, connection } = await start()
    const backlog = Array.from({ length: 300 }, (_, index) =>
      outcome(zk.setData('/a', 'x'.repeat(33_000 + index * 64))),
    )
    const trips: number[] = []
    for (let answered = 0; answered < backlog.length; answered += trips.at(-1)!) {
      await world.settle()
      const sent = connection.segments.flat().filter((name) => name === 'setData').length
      trips.push(sent - answered)
      const requests = await connection.expectAll(...Array.from({ length: sent - answered }, () => OpCode.setData))
      for (const request of requests) connection.reply(request, SetDataResponse, { stat: someStat })
    }
    await world.settle()
    expect(trips).toEqual([1, 299])
    expect(backlog.every(({ status }) => status === 'fulfilled')).toBe(true)
  })

  test('ZooKeeper refuses half the size, too, from the fourth loss on, unless it was answered before', async () => {
    const { world, zk, connection, next, synced } = await start()
    const write = (size: number) => outcome(zk.setData('/a', 'x'.repeat(size)))
    write(600_000)
    connection.reply(await connection.expect(OpCode.setData), SetDataResponse, { stat: someStat })
    await world.settle()
    let at = connection
    for (const size of [1_000_000, 900_000, 800_000, 700_000]) {
      write(size)
      await at.expect(OpCode.setData)
      at = await next(at)
      await synced(at)
    }
    const between = write(650_000)
    write(500_000)
    const { size } = await at.expect(OpCode.setData)
    expect(size).toBeLessThan(600_000)
    await at.expectNothing()
    expect(between.error).toMatchObject({ code: 'RequestTooLarge', outcomeUnknown: false })
    expect(String(between.error)).toMatch(
      /sizes from 6000\d\d on are tried again after \d+ ms, because .* had 7000\d\d bytes/,
    )
  })

  test('ZooKeeper does not count a loss that is older than T', async () => {
    const { world, zk, connection, next, synced } = await start()
    let at = connection
    for (let time = 0; time < 3; time++) {
      const call = outcome(zk.setData('/a', large))
      await at.expect(OpCode.setData)
      at = await next(at)
      expect(call.error).toMatchObject({ code: 'ConnectionLoss' })
      await synced(at)
      for (let third = 0; third < 3; third++) await world.advance(T / 3)
    }
  })

  test('ZooKeeper never refuses a short request as too large, even if the connection ends each time', async () => {
    const { zk, connection, next, synced } = await start()
    let at = connection
    for (let time = 0; time < 5; time++) {
      const call = outcome(zk.setData('/a', 'x'.repeat(4_000)))
      await at.expect(OpCode.setData)
      at = await next(at)
      expect(call.error).toMatchObject({ code: 'ConnectionLoss', needs: undefined })
      await synced(at)
    }
  })

  test('ZooKeeper refuses no request as too large if the server kept it for T/3 before the end', async () => {
    const { world, zk, connection, next, synced } = await start()
    let at = connection
    for (let time = 0; time < 3; time++) {
      const call = outcome(zk.setData('/a', large))
      await at.expect(OpCode.setData)
      await world.advance(T / 3)
      at = await next(at)
      expect(call.error).toMatchObject({ code: 'ConnectionLoss' })
      await synced(at)
    }
  })
})

describe('setWatches at a server with a small limit', () => {
  test('ZooKeeper sets watches again in halves when the connection ends at them', async () => {
    const { world, zk, connection, next } = await start()
    const paths = Array.from({ length: 30 }, (_, index) => `/${'x'.repeat(990)}${index}`)
    for (const path of paths) outcome(zk.getDataAndWatch(path))
    for (const _ of paths) connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    const second = await next(connection)
    await second.expect(OpCode.setWatches)
    await second.expectNothing()
    const third = await next(second)
    const set: (string | null)[] = []
    while (set.length < paths.length) {
      const { size, body } = await third.expect(OpCode.setWatches)
      expect(size).toBeLessThan(16 * 1024)
      set.push(...body.dataWatches!)
    }
    expect(set).toEqual(paths)
  })
})

describe('An operation that a server may lack', () => {
  test('ZooKeeper says which servers know create2 if the connection ends after the first, not later', async () => {
    const { world, zk, connection, next, synced } = await start()
    const first = outcome(zk.create('/a'))
    await connection.expect(OpCode.create2)
    const second = await next(connection)
    expect(first.error).toMatchObject({ code: 'ConnectionLoss', needs: 'servers know it from 3.5.0 on' })
    expect(String(first.error)).toMatch(/it may have happened; .*: servers know it from 3\.5\.0 on$/)
    await synced(second)
    outcome(zk.create('/a'))
    second.reply(await second.expect(OpCode.create2), Create2Response, created('/a'))
    await world.settle()
    const later = outcome(zk.create('/b'))
    await second.expect(OpCode.create2)
    const third = await next(second)
    expect(later.error).toMatchObject({ code: 'ConnectionLoss', needs: undefined })
    await synced(third)
    outcome(zk.exists('/a'))
    third.reply(await third.expect(OpCode.exists), ExistsResponse, { stat: someStat })
  })
})
