// Promise 10: unknown numbers survive.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ExistsResponse, GetDataResponse, KeeperState, MultiResponse, OpCode, RequestHeader, decode } from '@zk/wire'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { op } from '../../src/index.ts'
import { RequestQueue } from '../../src/session/requests/request-queue.ts'
import { made, sendFrom } from '../support/made-requests.ts'
import { connected, nodeData, outcome, reconnected, someStat, VirtualWorld } from '../support/index.ts'

const anomalies: unknown[] = []
const note = (message: unknown) => {
  anomalies.push(message)
}

beforeEach(() => {
  anomalies.length = 0
  subscribe('zk:anomaly', note)
})

afterEach(() => {
  unsubscribe('zk:anomaly', note)
})

describe('An error code that this version does not know', () => {
  test.each([-126, -999, 5])('KeeperError keeps the number %i, and the connection goes on', async (number) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const failed = outcome(zk.create('/a'))
    const read = outcome(zk.exists('/b'))
    const [request, next] = await connection.expectAll(OpCode.create2, OpCode.exists)
    connection.fail(request, number)
    connection.reply(next, ExistsResponse, { stat: someStat })
    await world.settle()
    expect(failed.error).toMatchObject({ code: 'Unknown', number, op: 'create', path: '/a', outcomeUnknown: false })
    expect((failed.error as Error).message).toContain(`unknown error code ${number}`)
    expect(read.status).toBe('fulfilled')
    expect(connection.isClosed).toBe(false)
  })

  test('KeeperError keeps the number of the operation that failed a multi', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const failed = outcome(zk.multi([op.check('/a'), op.check('/b'), op.check('/c')]))
    connection.reply(await connection.expect(OpCode.multi), MultiResponse, [
      { type: OpCode.error, response: { err: 0 } },
      { type: OpCode.error, response: { err: -999 } },
      { type: OpCode.error, response: { err: -2 } },
    ])
    await world.settle()
    expect(failed.error).toMatchObject({ code: 'Unknown', number: -999, index: 1, path: '/b' })
  })

  test('KeeperError carries the number of a code it knows too', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const failed = outcome(zk.create('/a'))
    connection.fail(await connection.expect(OpCode.create2), 'QuotaExceeded')
    await world.settle()
    expect(failed.error).toMatchObject({ code: 'QuotaExceeded', number: -125 })
  })
})

describe('An event that this version does not know', () => {
  test.each<[string, number | 'None' | 'PersistentWatchRemoved', string]>([
    ['of type 99', 99, 'event of type unknown for /a'],
    ['of type 0', 0, 'event of type unknown for /a'],
    ['of type None', 'None', 'event of type None for /a'],
    ['of a watch it cannot have', 'PersistentWatchRemoved', 'event of type PersistentWatchRemoved for /a'],
  ])('ZooKeeper ignores an event %s, reports it, and goes on (W13)', async (_, type, what) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const changed = outcome(read.value.changed)
    connection.event(type, '/a')
    await world.settle()
    expect(anomalies).toEqual([{ what, client: 'zk1:2181', server: 'zk1:2181', sessionId: zk.session.id }])
    expect(changed.status).toBe('pending')
    connection.event('NodeDataChanged', '/a')
    await world.settle()
    expect(changed.value.type).toBe('NodeDataChanged')
  })

  test('ZooKeeper delivers an event of a state it does not know (W13)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    const changed = outcome(read.value.changed)
    connection.event('NodeDataChanged', '/a', { state: 99 })
    await world.settle()
    expect(changed.value.type).toBe('NodeDataChanged')
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper ignores and reports an event without a path', async () => {
    const world = new VirtualWorld()
    const { connection } = await connected(world)
    connection.event('None', null, { state: KeeperState.SyncConnected })
    await world.settle()
    expect(anomalies.length).toBe(1)
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper ignores and reports an event for a path that is not watched (V13)', async () => {
    const world = new VirtualWorld()
    const { server, connection } = await connected(world)
    connection.event('NodeDataChanged', '/nobody')
    await world.settle()
    expect(anomalies).toMatchObject([{ what: 'NodeDataChanged for /nobody, which has no watcher' }])
    const second = await reconnected(world, { server, connection })
    await second.expectNothing()
  })
})

describe('xids', () => {
  test('RequestQueue goes on with 1 behind 2^31-2, and keeps the order (W28)', () => {
    const queue = new RequestQueue(2 ** 31 - 3)
    const requests = ['/a', '/b', '/c', '/d'].map((path) => made({ op: 'sync', path, opCode: OpCode.sync }))
    for (const request of requests) queue.enqueue(request)
    const frames = sendFrom(queue, 0, Infinity)
    expect(frames.map((frame) => decode(RequestHeader, frame.subarray(4)).xid)).toEqual([
      2 ** 31 - 3,
      2 ** 31 - 2,
      1,
      2,
    ])
    for (const request of requests) {
      expect(queue.oldest).toBe(request)
      queue.answered()
    }
  })
})
