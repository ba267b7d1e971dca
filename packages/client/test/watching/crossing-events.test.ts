// An event that crosses with the removal of its watch: the server sent it before it had the removal, so it is nothing unusual.
import { ErrorResponse, ExistsResponse, GetChildren2Response, GetDataResponse, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import type { ZooKeeper } from '../../src/index.ts'
import { connected, type FakeConnection, nodeData, outcome, someStat, VirtualWorld } from '../support/index.ts'
import type { ReceivedRequest } from '../support/requests.ts'

/** Sets a watch on `/a` and waits until the server has it. The returned function gives it up. */
type Watch = (zk: ZooKeeper, connection: FakeConnection, world: VirtualWorld) => Promise<() => Promise<unknown>>

const watches: Record<string, Watch> = {
  async 'a data watch'(zk, connection, world) {
    const reading = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    return () => reading.value.unwatch()
  },
  async 'an exists watch'(zk, connection, world) {
    const reading = outcome(zk.existsAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, { stat: someStat })
    await world.settle()
    return () => reading.value.unwatch()
  },
  async 'a child watch'(zk, connection, world) {
    const reading = outcome(zk.getChildrenAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, {
      children: [],
      stat: someStat,
    })
    await world.settle()
    return () => reading.value.unwatch()
  },
  async 'two watches that removeWatches takes off'(zk, connection, world) {
    const [data] = [outcome(zk.getDataAndWatch('/a')), outcome(zk.existsAndWatch('/a'))]
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, { stat: someStat })
    await world.settle()
    expect(data.status).toBe('fulfilled')
    return () => zk.removeWatches('/a')
  },
  async 'a persistent watch'(zk, connection, world) {
    const watching = outcome(Promise.resolve(zk.watch('/a')))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    return () => watching.value.return()
  },
  async 'a recursive watch'(zk, connection, world) {
    const watching = outcome(Promise.resolve(zk.watch('/a', { recursive: true })))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    return () => watching.value.return()
  },
}

test.each(Object.entries(watches))(
  'ZooKeeper takes an event that crosses with the removal of %s for nothing unusual, and one behind it for an anomaly',
  async (_, watch) => {
    for (const isSent of [false, true]) {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const giveUp = await watch(zk, connection, world)
      const given = outcome(giveUp())
      if (isSent) await world.settle()
      connection.event('NodeDeleted', '/a')
      await world.settle()
      expect(zk.stats().anomalies, isSent ? 'on the wire' : 'in the same turn').toBe(0)
      connection.fail(await connection.expect(OpCode.removeWatches), 'NoWatcher')
      await world.settle()
      expect(given.status).toBe('fulfilled')
      connection.event('NodeDeleted', '/a')
      await world.settle()
      expect(zk.stats().anomalies).toBe(1)
    }
  },
)

/** A read with a watch, how it is answered, and an event of its watch. */
const reads = {
  data: {
    read: (zk: ZooKeeper) => zk.getDataAndWatch('/a'),
    opCode: OpCode.getData,
    answer: (connection: FakeConnection, request: ReceivedRequest) =>
      connection.reply(request, GetDataResponse, nodeData('x')),
    event: 'NodeDataChanged',
  },
  exists: {
    read: (zk: ZooKeeper) => zk.existsAndWatch('/a'),
    opCode: OpCode.exists,
    answer: (connection: FakeConnection, request: ReceivedRequest) =>
      connection.reply(request, ExistsResponse, { stat: someStat }),
    event: 'NodeDataChanged',
  },
  children: {
    read: (zk: ZooKeeper) => zk.getChildrenAndWatch('/a'),
    opCode: OpCode.getChildren2,
    answer: (connection: FakeConnection, request: ReceivedRequest) =>
      connection.reply(request, GetChildren2Response, { children: [], stat: someStat }),
    event: 'NodeChildrenChanged',
  },
} as const
type Kind = keyof typeof reads

/** The watches of both reads are in one table of the server. */
const sameTable: [first: Kind, second: Kind][] = [
  ['data', 'data'],
  ['data', 'exists'],
  ['exists', 'data'],
  ['exists', 'exists'],
  ['children', 'children'],
]

/** The first read has set its watch. The second is under way: `request`. */
async function readBehindWatch(first: Kind, second: Kind) {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const earlier = outcome(reads[first].read(zk))
  reads[first].answer(connection, await connection.expect(reads[first].opCode))
  await world.settle()
  const later = outcome(reads[second].read(zk))
  const request = await connection.expect(reads[second].opCode)
  return { world, zk, connection, earlier, later, request }
}

test.each(sameTable)(
  'ZooKeeper notifies the watch of a %s read alone of an event that comes before the answer to a later %s read',
  async (first, second) => {
    const { world, zk, connection, earlier, later, request } = await readBehindWatch(first, second)
    connection.event(reads[first].event, '/a')
    await world.settle()
    const earlierEvent = outcome(earlier.value.changed)
    await world.settle()
    expect(earlierEvent.value).toMatchObject({ type: reads[first].event })
    // The server sets the later watch when it answers: what comes from then on is its event.
    reads[second].answer(connection, request)
    await world.settle()
    const laterEvent = outcome(later.value.changed)
    await world.settle()
    expect(laterEvent.status).toBe('pending')
    connection.event('NodeDeleted', '/a')
    await world.settle()
    expect(laterEvent.value).toMatchObject({ type: 'NodeDeleted' })
    expect(zk.stats().anomalies).toBe(0)
  },
)

/** A watch that was given up stays at the server for the sake of a read under way. */
test.each(sameTable)(
  'ZooKeeper takes an event of the watch of a %s read that was given up for nothing unusual while a %s read is under way',
  async (first, second) => {
    const { world, zk, connection, earlier, later, request } = await readBehindWatch(first, second)
    await earlier.value.unwatch()
    connection.event(reads[first].event, '/a')
    await world.settle()
    expect(zk.stats().anomalies).toBe(0)
    // That used the watch up. A second event has no watcher.
    connection.event(reads[first].event, '/a')
    await world.settle()
    expect(zk.stats().anomalies).toBe(1)
    // Nothing is left to remove at the server when the read fails.
    const { length } = connection.segments
    connection.fail(request, 'NoAuth')
    await world.settle()
    expect(later.status).toBe('rejected')
    expect(connection.segments.length).toBe(length)
  },
)

test('ZooKeeper takes the second event of a change for nothing unusual while watches are set again', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const watching = outcome(Promise.resolve(zk.watch('/a')))
  connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
  await world.settle()
  const reading = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await world.settle()
  const ending = outcome(watching.value.return())
  const [clear, again] = await connection.expectAll(OpCode.removeWatches, OpCode.setWatches)
  connection.event('NodeDataChanged', '/a')
  connection.reply(clear, ErrorResponse, { err: 0 })
  // The server compares zxids, and does not know that it has just sent the event.
  connection.event('NodeDataChanged', '/a')
  await world.settle()
  expect(zk.stats().anomalies).toBe(0)
  connection.reply(again)
  await world.settle()
  const event = outcome(reading.value.changed)
  await world.settle()
  expect(event.value).toMatchObject({ type: 'NodeDataChanged' })
  expect(ending.status).toBe('fulfilled')
  connection.event('NodeDataChanged', '/a')
  await world.settle()
  expect(zk.stats().anomalies).toBe(1)
})

// The holder of a lock closes its client: `session.signal` aborts, the watch on its node is given up, and the server deletes
// the node because of the closeSession that it has.
test.each(Object.entries(watches))(
  'ZooKeeper that is being closed takes an event of %s that was given up since for nothing unusual',
  async (_, watch) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const giveUp = await watch(zk, connection, world)
    zk.session.signal.addEventListener('abort', () => void outcome(giveUp()))
    const closing = outcome(zk.close())
    const request = await connection.expect(OpCode.closeSession)
    connection.event('NodeDeleted', '/a')
    connection.reply(request)
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(zk.stats().anomalies).toBe(0)
  },
)
