import { ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Counters } from '../../src/telemetry/stats.ts'
import { read } from '../support/made-requests.ts'
import { connected, expired, nodeData, outcome, reconnected, someStat, VirtualWorld } from '../support/index.ts'

const found = { stat: someStat }

describe('ZooKeeper.stats', () => {
  test('ZooKeeper.stats counts calls by what became of them', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const abort = new AbortController()
    void outcome(zk.exists('/a'))
    void outcome(zk.create('/b'))
    void outcome(zk.exists('/c', { timeout: 5 }))
    void outcome(zk.exists('/d', { signal: abort.signal }))
    const [read, write] = await connection.expectAll(OpCode.exists, OpCode.create2, OpCode.exists, OpCode.exists)
    abort.abort(new Error('enough'))
    await world.advance(5)
    connection.reply(read, ExistsResponse, found)
    connection.fail(write, 'NodeExists')
    await world.settle()
    void outcome(zk.exists('/e'))
    expect(zk.stats().requests).toEqual({
      called: 5,
      succeeded: 1,
      failed: { NodeExists: 1, RequestTimeout: 1 },
      aborted: 1,
      throttled: 0,
    })
  })

  test('ZooKeeper.stats shows what waits and what is in flight', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxInFlight: 2 } })
    const sizes = ['/a', '/b', '/c'].map((path) => void outcome(zk.exists(path)))
    expect(zk.stats().flow).toMatchObject({ waiting: sizes.length, inFlight: 0, inFlightBytes: 0 })
    const [request] = await connection.expectAll(OpCode.exists, OpCode.exists)
    const size = request.size + 4
    expect(zk.stats().flow).toEqual({ waiting: 1, waitingBytes: size, inFlight: 2, inFlightBytes: 2 * size })
  })

  test('ZooKeeper.stats counts bytes, connections, events and the time since the last answer', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    void outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.event('NodeDataChanged', '/a')
    connection.event(77, '/a')
    await world.settle()
    await world.advance(500)
    const before = zk.stats()
    expect(before).toMatchObject({ events: 1, anomalies: 1, sinceReceived: 500 })
    expect(before.bytes.sent).toBeGreaterThan(44)
    expect(before.bytes.received).toBeGreaterThan(40)
    await reconnected(world, { server, connection })
    expect(zk.stats()).toMatchObject({
      connections: { dialed: 2, established: 2, reconnected: 1, lost: 1 },
      sessions: { established: 1, expired: 0 },
    })
    expect(before.connections.dialed).toBe(1)
  })

  test('ZooKeeper.stats goes on counting in the next session', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.advance(1_000)
    await server.accept()
    expect(zk.stats()).toMatchObject({
      connections: { dialed: 3, established: 2, reconnected: 0 },
      sessions: { established: 2, expired: 1 },
    })
  })

  test('ZooKeeper.stats shows no time since the last answer while the next session has had none', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    expect(zk.stats().sinceReceived).toBe(0)
    await expired(world, { server, connection })
    expect(zk.stats().sinceReceived).toBeUndefined()
    await world.advance(1_000)
    await server.accept()
    expect(zk.stats().sinceReceived).toBe(0)
  })

  test('ZooKeeper.stats counts what a busy server did not execute', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    void outcome(zk.exists('/a'))
    connection.fail(await connection.expect(OpCode.exists), 'ThrottledOp')
    await world.settle()
    expect(zk.stats().requests).toMatchObject({ called: 1, succeeded: 0, failed: {}, throttled: 1 })
  })

  test('ZooKeeper.stats shows how long calls took, each in its bucket', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    for (const ms of [0, 2, 150]) {
      void outcome(zk.exists('/a'))
      const request = await connection.expect(OpCode.exists)
      await world.advance(ms)
      connection.reply(request, ExistsResponse, found)
      await world.settle()
    }
    const { latency } = zk.stats()
    expect(latency).toMatchObject({ count: 3, max: 150, mean: 152 / 3 })
    expect(latency.buckets.filter(({ count }) => count > 0)).toEqual([
      { upTo: 0.5, count: 1 },
      { upTo: 2, count: 1 },
      { upTo: 200, count: 1 },
    ])
  })

  test('ZooKeeper.stats shows how late the event loop called the timer', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world)
    expect(zk.stats().timer.maxLate).toBe(0)
    world.stall(10_400)
    await world.settle()
    expect(zk.stats().timer.maxLate).toBe(400)
  })

  test('ZooKeeper.stats forgets in recentMaxLate what was a minute or two ago', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { connectTimeout: 1_000_000, advanced: { localExpiry: 2 ** 31 - 1 } })
    const lateness = () => {
      const { maxLate, recentMaxLate } = zk.stats().timer
      return [maxLate, recentMaxLate]
    }
    expect(lateness()).toEqual([0, 0])
    world.stall(10_400)
    await world.settle()
    expect(lateness()).toEqual([400, 400])
    await world.advance(59_000)
    expect(lateness()).toEqual([400, 400])
    await world.advance(61_001)
    expect(lateness()).toEqual([400, 0])
  })

  test('ZooKeeper.stats falls also where no timer fires any more', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world)
    world.stall(10_400)
    await world.settle()
    void outcome(zk.close())
    await world.advance(15_000)
    expect(zk.stats().timer.recentMaxLate).toBe(400)
    await world.advance(120_000)
    expect(zk.stats().timer.recentMaxLate).toBe(0)
  })
})

describe('Counters', () => {
  test('Counters puts every duration into a bucket, the longest too', () => {
    const counters = new Counters()
    const durations = [0, 0.5, 0.50001, 30_000, 30_001, 1e12]
    const session = { id: 1n, timeout: 30_000, connection: undefined, isOver: false }
    for (const duration of durations) {
      counters.settled(read(), session, { code: 'Ok', failure: undefined }, duration)
    }
    const flow = { waiting: 0, waitingBytes: 0, inFlight: 0, inFlightBytes: 0 }
    const { buckets } = counters.snapshot(flow, undefined, 0).latency
    expect(buckets.filter(({ count }) => count > 0)).toEqual([
      { upTo: 0.5, count: 2 },
      { upTo: 1, count: 1 },
      { upTo: 30_000, count: 1 },
      { upTo: Infinity, count: 2 },
    ])
  })
})
