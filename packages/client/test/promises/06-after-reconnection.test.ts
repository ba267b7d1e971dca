// Promise 6: order after a reconnection: credentials, watches, a sync if one is owed, repeated reads, the queue.
import { ExistsResponse, GetChildren2Response, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { Watched, WatchedEvent, ZooKeeper } from '../../src/index.ts'
import {
  children,
  connected,
  type FakeConnection,
  nodeData,
  outcome,
  type Outcome,
  reconnected,
  replyFrame,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

interface Client {
  readonly zk: ZooKeeper
  readonly connection: FakeConnection
}

/** How each kind of watch is set, and in which list of setWatches it then is. */
const kinds: Record<
  'data' | 'exist' | 'existing' | 'child',
  (client: Client, path: string) => Promise<Outcome<Watched>>
> = {
  data: async ({ zk, connection }, path) => {
    const read = outcome(zk.getDataAndWatch(path))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    return read
  },
  exist: async ({ zk, connection }, path) => {
    const read = outcome(zk.existsAndWatch(path))
    connection.fail(await connection.expect(OpCode.exists), 'NoNode')
    return read
  },
  existing: async ({ zk, connection }, path) => {
    const read = outcome(zk.existsAndWatch(path))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, { stat: someStat })
    return read
  },
  child: async ({ zk, connection }, path) => {
    const read = outcome(zk.getChildrenAndWatch(path))
    connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, children())
    return read
  },
}

/** Watches `path`; the events that came so far, and the way back. */
async function watch(world: VirtualWorld, client: Client, kind: keyof typeof kinds, path: string) {
  const read = await kinds[kind](client, path)
  await world.settle()
  const events: WatchedEvent[] = []
  void read.value.changed.then((event) => events.push(event))
  return { events, unwatch: read.value.unwatch }
}

/** Watches the data of many paths at once. */
async function watchAll({ zk, connection }: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths) outcome(zk.getDataAndWatch(path))
  const requests = await connection.expectAll(...paths.map(() => OpCode.getData))
  connection.together(() => {
    for (const request of requests) connection.reply(request, GetDataResponse, nodeData('x'))
  })
  await connection.expectNothing()
}

describe('The order', () => {
  test('ZooKeeper sends credentials, watches, sync, repeated reads, then the queue (S12)', async () => {
    const world = new VirtualWorld()
    const auth = [{ scheme: 'digest', auth: 'one:1' }]
    const { zk, server, connection } = await connected(world, { auth })
    outcome(zk.addAuth('digest', 'two:2'))
    connection.reply(await connection.expect(OpCode.auth))
    await watch(world, { zk, connection }, 'data', '/watched')
    outcome(zk.getData('/repeated'))
    outcome(zk.create('/unknown'))
    await connection.expectAll(OpCode.getData, OpCode.create2)
    connection.rst()
    await world.settle()
    outcome(zk.create('/queued'))
    await world.advance(1_000)
    const second = await server.accept()
    expect(second.segments).toEqual([['connect'], ['auth', 'auth', 'setWatches', 'sync', 'getData', 'create2']])
    const [one, two] = await second.expectAll(OpCode.auth, OpCode.auth)
    expect([one, two].map(({ body }) => new TextDecoder().decode(body.auth ?? undefined))).toEqual(['one:1', 'two:2'])
  })

  test('ZooKeeper writes nothing behind the ConnectRequest before it is answered', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    outcome(zk.create('/queued'))
    outcome(zk.addAuth('digest', 'user:password'))
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    await world.advance(1_000)
    outcome(zk.getData('/later'))
    await world.settle()
    expect(second.segments).toEqual([['connect']])
    second.accept()
    await world.settle()
    expect(second.segments).toEqual([['connect'], ['auth', 'create2', 'getData']])
  })

  test('ZooKeeper.addAuth without a connection resolves with the answer on the next', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const added = outcome(zk.addAuth('digest', 'user:password'))
    await world.advance(1_000)
    const second = await server.accept()
    second.reply(await second.expect(OpCode.auth))
    await world.settle()
    expect(added.status).toBe('fulfilled')
  })

  test('ZooKeeper.addAuth resolves once although its credential had to be sent twice', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const added = outcome(zk.addAuth('digest', 'user:password'))
    await connection.expect(OpCode.auth)
    const second = await reconnected(world, { server, connection })
    expect(added.status).toBe('pending')
    second.reply(await second.expect(OpCode.auth))
    await world.settle()
    expect(added.status).toBe('fulfilled')
  })
})

describe('setWatches', () => {
  test('ZooKeeper names every watch under its kind, with the last zxid seen in a reply (V01)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    for (const kind of ['data', 'exist', 'existing', 'child'] as const)
      await watch(world, { zk, connection }, kind, `/${kind}`)
    outcome(zk.exists('/a'))
    connection.fail(await connection.expect(OpCode.exists), 'NoNode', 42n)
    await world.settle()
    const second = await reconnected(world, { server, connection })
    expect((await second.expect(OpCode.setWatches)).body).toEqual({
      relativeZxid: 42n,
      dataWatches: ['/data', '/existing'],
      existWatches: ['/exist'],
      childWatches: ['/child'],
    })
  })

  test('ZooKeeper names a path once, however many wait for it', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const one = await watch(world, { zk, connection }, 'data', '/a')
    const two = await watch(world, { zk, connection }, 'data', '/a')
    const second = await reconnected(world, { server, connection })
    const request = await second.expect(OpCode.setWatches)
    expect(request.body.dataWatches).toEqual(['/a'])
    second.event('NodeDataChanged', '/a')
    second.reply({ xid: -8 })
    await world.settle()
    expect([one.events.length, two.events.length]).toEqual([1, 1])
  })

  test.each([
    ['data', 'NodeDataChanged'],
    ['data', 'NodeDeleted'],
    ['existing', 'NodeDataChanged'],
    ['exist', 'NodeCreated'],
    ['child', 'NodeChildrenChanged'],
    ['child', 'NodeDeleted'],
  ] as const)('ZooKeeper delivers what happened to a %s watch meanwhile, %s, once (V01)', async (kind, type) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { events } = await watch(world, { zk, connection }, kind, '/a')
    const second = await reconnected(world, { server, connection })
    const request = await second.expect(OpCode.setWatches)
    second.event(type, '/a')
    second.reply(request)
    second.event(type, '/a')
    await world.settle()
    expect(events).toEqual([{ type, path: '/a' }])
    const third = await reconnected(world, { server, connection: second })
    await third.expectNothing()
  })

  test('ZooKeeper delivers the last event of a connection once, and does not set that watch again (V02)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { events } = await watch(world, { zk, connection }, 'data', '/a')
    connection.event('NodeDataChanged', '/a')
    const second = await reconnected(world, { server, connection })
    await second.expectNothing()
    expect(events.length).toBe(1)
  })

  test('ZooKeeper takes no zxid from events: the rest of a multi comes after the reconnection (V05)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const paths = ['/1', '/2', '/3', '/4', '/5']
    const watches = []
    for (const path of paths) watches.push(await watch(world, { zk, connection }, 'data', path))
    for (const path of paths.slice(0, 2)) connection.event('NodeDataChanged', path, { zxid: 50n })
    const second = await reconnected(world, { server, connection })
    const { body } = await second.expect(OpCode.setWatches)
    expect(body).toMatchObject({ relativeZxid: 1n, dataWatches: ['/3', '/4', '/5'] })
    for (const path of paths.slice(2)) second.event('NodeDataChanged', path)
    await world.settle()
    expect(watches.map(({ events }) => events.length)).toEqual([1, 1, 1, 1, 1])
  })

  test('ZooKeeper takes no zxid from pings and credentials', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    await watch(world, { zk, connection }, 'data', '/a')
    connection.reply({ xid: -2 }, GetDataResponse, nodeData(''), { zxid: 50n })
    connection.reply({ xid: -4 }, GetDataResponse, nodeData(''), { zxid: 50n })
    const second = await reconnected(world, { server, connection })
    expect((await second.expect(OpCode.setWatches)).body.relativeZxid).toBe(1n)
  })

  test('ZooKeeper sets 20,000 watches again in chunks of at most 32 KiB, all before the queue (V04)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxInFlight: 20_000 } })
    const paths = Array.from({ length: 20_000 }, (_, index) => `/${String(index).padStart(99, '0')}`)
    await watchAll({ zk, connection }, paths)
    connection.rst()
    await world.settle()
    outcome(zk.create('/queued'))
    await world.advance(1_000)
    const second = await server.accept()
    const seen: (string | null)[] = []
    while (seen.length < paths.length) {
      const { body, size } = await second.expect(OpCode.setWatches)
      expect(size).toBeLessThanOrEqual(32 * 1024)
      seen.push(...body.dataWatches!)
    }
    expect(seen).toEqual(paths)
    await second.expect(OpCode.create2)
  })

  test('ZooKeeper keeps chunks of 32 KiB where paths are short, or not ASCII (V04)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxInFlight: 20_000 } })
    const paths = [
      ...Array.from({ length: 8 }, (_, index) => `/${'ü'.repeat(1_000)}${index}`),
      ...Array.from({ length: 3_000 }, (_, index) => `/${index}`),
    ]
    await watchAll({ zk, connection }, paths)
    const second = await reconnected(world, { server, connection })
    const [first, rest] = await second.expectAll(OpCode.setWatches, OpCode.setWatches)
    for (const { size } of [first, rest]) expect(size).toBeLessThanOrEqual(32 * 1024)
    expect([...first.body.dataWatches!, ...rest.body.dataWatches!]).toEqual(paths)
    await second.expectNothing()
  })

  test('ZooKeeper counts from the same zxid when the connection breaks between two chunks (V01, V04)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const long = (name: string) => `/${name.repeat(100_000)}`
    await watch(world, { zk, connection }, 'data', long('a'))
    const late = await watch(world, { zk, connection }, 'data', long('b'))
    const second = await reconnected(world, { server, connection })
    const [first] = await second.expectAll(OpCode.setWatches, OpCode.setWatches)
    expect(first.body.relativeZxid).toBe(1n)
    // The server has gone on to 99, and the events of the second path until then have not arrived.
    second.raw(replyFrame({ xid: first.xid, zxid: 99n }))
    const third = await reconnected(world, { server, connection: second })
    for (const { body } of await third.expectAll(OpCode.setWatches, OpCode.setWatches))
      expect(body.relativeZxid).toBe(1n)
    third.event('NodeDataChanged', long('b'))
    await world.settle()
    expect(late.events.length).toBe(1)
  })

  test('ZooKeeper drops a connection on which setWatches is refused', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    await watch(world, { zk, connection }, 'data', '/a')
    const second = await reconnected(world, { server, connection })
    second.fail(await second.expect(OpCode.setWatches), 'Unimplemented')
    await world.settle()
    expect(second.isClosed).toBe(true)
    expect(zk.session.signal.aborted).toBe(false)
  })
})

describe('What is not set again', () => {
  test('ZooKeeper asks again for a watch whose read was not answered, and does not set it besides', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    await connection.expect(OpCode.getData)
    const second = await reconnected(world, { server, connection })
    const request = await second.expect(OpCode.getData)
    expect(request.body).toEqual({ path: '/a', watch: true })
    second.reply(request, GetDataResponse, nodeData('x'))
    await world.settle()
    const changed = outcome(read.value.changed)
    second.event('NodeDataChanged', '/a')
    await world.settle()
    expect(changed.value.type).toBe('NodeDataChanged')
  })

  test('ZooKeeper sets no watch for a read of data or children that found no node (V10)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const reads = [outcome<unknown>(zk.getDataAndWatch('/a')), outcome<unknown>(zk.getChildrenAndWatch('/a'))]
    for (const request of await connection.expectAll(OpCode.getData, OpCode.getChildren2))
      connection.fail(request, 'NoNode')
    await world.settle()
    expect(reads.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const second = await reconnected(world, { server, connection })
    await second.expectNothing()
  })

  test('ZooKeeper.removeWatches without a connection takes them off here at once, and for good (V12)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const data = await watch(world, { zk, connection }, 'data', '/a')
    const child = await watch(world, { zk, connection }, 'child', '/a')
    connection.rst()
    await world.settle()
    const removed = outcome(zk.removeWatches('/a', 'Any'))
    await world.settle()
    expect(data.events).toEqual([{ type: 'DataWatchRemoved', path: '/a' }])
    expect(child.events).toEqual([{ type: 'ChildWatchRemoved', path: '/a' }])
    await world.advance(1_000)
    const second = await server.accept()
    // The server forgot them with the connection.
    second.fail(await second.expect(OpCode.removeWatches), 'NoWatcher')
    await second.expectNothing()
    expect(removed.status).toBe('fulfilled')
  })

  test('Watched.unwatch without a connection takes it off here, and sends nothing', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { events, unwatch } = await watch(world, { zk, connection }, 'data', '/a')
    connection.rst()
    await world.settle()
    const done = outcome(unwatch())
    await world.advance(1_000)
    expect(done.status).toBe('fulfilled')
    expect(events).toEqual([{ type: 'DataWatchRemoved', path: '/a' }])
    const second = await server.accept()
    await second.expectNothing()
  })

  test('ZooKeeper does not set a watch again that has fired', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    await watch(world, { zk, connection }, 'data', '/a')
    connection.event('NodeDeleted', '/a')
    await world.settle()
    const second = await reconnected(world, { server, connection })
    await second.expectNothing()
  })
})

describe('Events and the watches they take', () => {
  test('ZooKeeper notifies each waiter once of a node deleted under a data and a child watch (V08)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const data = await watch(world, { zk, connection }, 'data', '/a')
    const child = await watch(world, { zk, connection }, 'child', '/a')
    connection.event('NodeDeleted', '/a')
    connection.event('NodeDeleted', '/a')
    await world.settle()
    expect(data.events).toEqual([{ type: 'NodeDeleted', path: '/a' }])
    expect(child.events).toEqual([{ type: 'NodeDeleted', path: '/a' }])
  })

  test.each([
    ['data', 'NodeChildrenChanged'],
    ['existing', 'NodeChildrenChanged'],
    ['child', 'NodeDataChanged'],
    ['child', 'NodeCreated'],
  ] as const)('ZooKeeper keeps a %s watch at %s, which is not its concern', async (kind, type) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { events } = await watch(world, { zk, connection }, kind, '/a')
    connection.event(type, '/a')
    connection.event(type, '/b')
    await world.settle()
    expect(events).toEqual([])
  })

  test('WatchedEvent carries the zxid that servers from 3.9 on say, and none where they say none', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const one = await watch(world, { zk, connection }, 'data', '/1')
    const two = await watch(world, { zk, connection }, 'data', '/2')
    connection.event('NodeDataChanged', '/1', { zxid: 9n })
    connection.event('NodeDataChanged', '/2')
    await world.settle()
    expect(one.events.map((event) => ({ ...event }))).toStrictEqual([{ type: 'NodeDataChanged', path: '/1', zxid: 9n }])
    expect(two.events).toStrictEqual([{ type: 'NodeDataChanged', path: '/2' }])
  })
})
