// What a persistent watch tells while its connection stands, and what it asks of the server.
import { getEventListeners } from 'node:events'
import { AddWatchMode, ErrorResponse, GetChildren2Response, GetDataResponse, OpCode, WatcherType } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { PersistentWatchEvent, WatchIterator } from '../../src/index.ts'
import { children, nodeData, outcome, reconnected } from '../support/index.ts'
import { describeEvent, follow, start, type Start, watching } from './watching.ts'

describe('ZooKeeper.watch', () => {
  test.each([
    [{}, AddWatchMode.PERSISTENT],
    [{ recursive: true }, AddWatchMode.PERSISTENT_RECURSIVE],
  ])('ZooKeeper.watch %j asks for mode %i, and resolves when it is set', async (options, mode) => {
    const { world, zk, connection } = await start({ chroot: '/c' })
    const watch = outcome(zk.watch('/a', options))
    const request = await connection.expect(OpCode.addWatch)
    expect(request.body).toEqual({ path: '/c/a', mode })
    expect(watch.status).toBe('pending')
    connection.reply(request, ErrorResponse, { err: 0 })
    await world.settle()
    expect(watch.status).toBe('fulfilled')
  })

  test('ZooKeeper.watch delivers every event of its node, in order', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a'))
    const types = ['NodeCreated', 'NodeDataChanged', 'NodeChildrenChanged', 'NodeDeleted', 'NodeCreated'] as const
    at.connection.together(() => types.forEach((type) => at.connection.event(type, '/a')))
    await at.world.settle()
    expect(notified).toEqual(types.map((type) => `${type} /a`))
  })

  test('ZooKeeper.watch with recursive delivers events of the node and of all below it, and no neighbour', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a', { recursive: true }))
    for (const path of ['/a', '/a/b', '/a/b/c', '/ab', '/']) at.connection.event('NodeDataChanged', path)
    await at.world.settle()
    expect(notified).toEqual(['/a', '/a/b', '/a/b/c'].map((path) => `NodeDataChanged ${path}`))
    expect(at.zk.session.anomalies).toBe(2)
  })

  test('ZooKeeper.watch with recursive of the root delivers every event', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/', { recursive: true }))
    for (const path of ['/', '/a', '/a/b']) at.connection.event('NodeDataChanged', path)
    await at.world.settle()
    expect(notified).toHaveLength(3)
  })

  test('ZooKeeper.watch tells which transaction it was, where the server says so', async () => {
    const at = await start()
    const events = await watching(at, '/a')
    at.connection.event('NodeDataChanged', '/a', { zxid: 7n })
    at.connection.event('NodeDataChanged', '/a')
    await at.world.settle()
    expect((await events.next()).value).toEqual({ type: 'NodeDataChanged', path: '/a', zxid: 7n })
    expect((await events.next()).value).toEqual({ type: 'NodeDataChanged', path: '/a' })
  })

  test('ZooKeeper.watch tells one-shot, persistent and recursive watchers of one event, each once', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const read = outcome(zk.getDataAndWatch('/a/b'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    const all = [follow(await watching(at, '/a/b')), follow(await watching(at, '/', { recursive: true }))]
    const changed = outcome(read.value.changed)
    for (let times = 0; times < 2; times++) connection.event('NodeDataChanged', '/a/b')
    await world.settle()
    expect(changed.value).toEqual({ type: 'NodeDataChanged', path: '/a/b' })
    for (const { notified } of all) expect(notified).toEqual(['NodeDataChanged /a/b', 'NodeDataChanged /a/b'])
  })

  test('ZooKeeper maps paths of events below the chroot, that of the chroot itself to the root (V07)', async () => {
    const at = await start({ chroot: '/c' })
    const { world, zk, connection } = at
    const { notified } = follow(await watching(at, '/', { recursive: true }))
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    const root = outcome(zk.getChildrenAndWatch('/'))
    connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, children())
    await world.settle()
    const [changed, children0] = [outcome(read.value.changed), outcome(root.value.changed)]
    // An event outside is reported as an anomaly, and delivered to no watcher.
    for (const path of ['/c', '/c/a', '/', '/cc', '/a']) connection.event('NodeDataChanged', path)
    connection.event('NodeChildrenChanged', '/c')
    await world.settle()
    expect(notified).toEqual(['NodeDataChanged /', 'NodeDataChanged /a'])
    expect([changed.value.path, children0.value.path]).toEqual(['/a', '/'])
    expect(zk.session.anomalies).toBe(3)
  })

  test('ZooKeeper.watch of a server that does not know it says from which version on (3.6)', async () => {
    const { world, zk, connection } = await start()
    const watch = outcome(zk.watch('/a'))
    connection.fail(await connection.expect(OpCode.addWatch), 'Unimplemented', -1n)
    connection.fin()
    await world.settle()
    expect(watch.error).toMatchObject({ code: 'Unimplemented', op: 'watch', path: '/a' })
    expect((watch.error as Error).message).toMatch(
      /this server does not know the operation: servers know it from 3\.6\.0 on/,
    )
  })

  test.each([
    [{ recursive: 'yes' }, TypeError],
    [{ maxQueued: 0 }, RangeError],
    [{ maxQueued: 1.5 }, RangeError],
    [{ timeout: -1 }, RangeError],
  ])('ZooKeeper.watch refuses %j, and sends nothing', async (options, error) => {
    const { zk, connection } = await start()
    const watch = outcome(zk.watch('/a', options as object))
    await connection.expectNothing()
    expect(watch.error).toBeInstanceOf(error)
  })
})

describe('The queue of a watch', () => {
  test('NodeEvents collapses events that are not taken into one Gap, and other watches and replies go on (V09)', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const notified: string[] = []
    const slow = await watching(at, '/slow', { maxQueued: 3 })
    const loop = async () => {
      for await (const event of slow) {
        notified.push(describeEvent(event))
        // The body never ends.
        await new Promise(() => {})
      }
    }
    void loop()
    const other = follow(await watching(at, '/other'))
    for (let times = 0; times < 101; times++) connection.event('NodeDataChanged', '/slow')
    connection.event('NodeDataChanged', '/other')
    const read = outcome(zk.getData('/slow'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    expect([notified, other.notified]).toEqual([['NodeDataChanged /slow'], ['NodeDataChanged /other']])
    expect(read.status).toBe('fulfilled')
    expect((await slow.next()).value).toEqual({ type: 'Gap', cause: 'overflow', path: '/slow' })
  })

  test('NodeEvents has room for 1,000 events where nothing else is said', async () => {
    const at = await start()
    const events = [await watching(at, '/full'), await watching(at, '/over')]
    for (const [index, path] of ['/full', '/over'].entries()) {
      for (let times = 0; times < 1_000 + index; times++) at.connection.event('NodeDataChanged', path)
    }
    await at.world.settle()
    const firsts = await Promise.all(events.map(async (each) => (await each.next()).value?.type))
    expect(firsts).toEqual(['NodeDataChanged', 'Gap'])
  })

  test('NodeEvents delivers all up to its limit, and what comes behind the Gap', async () => {
    const at = await start()
    const events = await watching(at, '/a', { maxQueued: 2 })
    const take = async () => describeEvent((await events.next()).value!)
    for (let times = 0; times < 2; times++) at.connection.event('NodeDataChanged', '/a')
    await at.world.settle()
    expect([await take(), await take()]).toEqual(['NodeDataChanged /a', 'NodeDataChanged /a'])
    for (let times = 0; times < 3; times++) at.connection.event('NodeDataChanged', '/a')
    at.connection.event('NodeDeleted', '/a')
    await at.world.settle()
    expect([await take(), await take()]).toEqual(['Gap overflow', 'NodeDeleted /a'])
  })

  test('Watched.changed whose callback throws does not keep other callers from being notified (V09)', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    const user = async () => {
      await read.value.changed
      throw new Error("the user's")
    }
    const thrown = outcome(user())
    const { notified } = follow(await watching(at, '/a'))
    connection.event('NodeDataChanged', '/a')
    connection.event('NodeDeleted', '/a')
    await world.settle()
    expect(thrown.error).toHaveProperty('message', "the user's")
    expect(notified).toEqual(['NodeDataChanged /a', 'NodeDeleted /a'])
  })
})

describe('A watch that is taken back', () => {
  const removal = { path: '/a', type: WatcherType.Any }

  test.each(['the loop is left', 'return', 'await using', 'signal'])(
    'NodeEvents is taken off the server, and ends: %s',
    async (how) => {
      const at = await start()
      const controller = new AbortController()
      const events = await watching(at, '/a', { signal: controller.signal })
      const pending = outcome(events.next())
      if (how === 'return') outcome(events.return())
      else if (how === 'await using') void events[Symbol.asyncDispose]()
      else if (how === 'signal') controller.abort()
      else {
        const leave = async () => {
          for await (const _ of events) break
        }
        at.connection.event('NodeCreated', '/a')
        at.connection.event('NodeCreated', '/a')
        await at.world.settle()
        void leave()
      }
      expect((await at.connection.expect(OpCode.removeWatches)).body).toEqual(removal)
      expect(pending.value.done).toBe(how !== 'the loop is left')
      expect(await events.next()).toEqual({ value: undefined, done: true })
    },
  )

  const ends: [string, (at: Start, events: WatchIterator<PersistentWatchEvent>) => unknown][] = [
    ['it is left', (_, events) => events.return()],
    ['removeWatches takes it', ({ zk }) => zk.removeWatches('/a').catch(() => {})],
    ['the client is closed', ({ zk }) => zk.close()],
    [
      'the next server does not know it',
      async (at) => {
        const next = await reconnected(at.world, at)
        next.fail(await next.expect(OpCode.setWatches2), 'Unimplemented')
        await at.world.settle()
      },
    ],
  ]
  test.each(ends)('NodeEvents leaves nothing on its signal when %s', async (_, end) => {
    const at = await start()
    const { signal } = new AbortController()
    const events = await watching(at, '/a', { signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const { ending } = follow(events)
    void end(at, events)
    await at.world.advance(20_000)
    expect(ending.value).toBeDefined()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('NodeEvents leaves the watch to other callers of this client that need it', async () => {
    const at = await start()
    const [first, second] = [await watching(at, '/a'), await watching(at, '/a')]
    const { notified } = follow(second)
    await first.return()
    at.connection.event('NodeDataChanged', '/a')
    await at.connection.expectNothing()
    expect(notified).toEqual(['NodeDataChanged /a'])
    await second.return()
    expect((await at.connection.expect(OpCode.removeWatches)).body).toEqual(removal)
  })

  test('NodeEvents counts no event as odd that was on its way when it was left', async () => {
    const at = await start()
    const events = await watching(at, '/a', { recursive: true })
    await events.return()
    const request = await at.connection.expect(OpCode.removeWatches)
    at.connection.event('NodeDataChanged', '/a/b')
    await at.world.settle()
    expect(at.zk.session.anomalies).toBe(0)
    at.connection.reply(request)
    at.connection.event('NodeDataChanged', '/a/b')
    await at.world.settle()
    expect(at.zk.session.anomalies).toBe(1)
  })

  test('ZooKeeper.watch that is aborted on its way rejects with the reason, and leaves no watch (V11)', async () => {
    const { world, zk, connection } = await start()
    const controller = new AbortController()
    const watch = outcome(zk.watch('/a', { signal: controller.signal }))
    const request = await connection.expect(OpCode.addWatch)
    controller.abort('enough')
    expect((await connection.expect(OpCode.removeWatches)).body).toEqual(removal)
    connection.reply(request, ErrorResponse, { err: 0 })
    await world.settle()
    expect(watch.error).toBe('enough')
    const late = outcome(zk.watch('/a', { signal: controller.signal }))
    await connection.expectNothing()
    expect(late.error).toBe('enough')
  })

  test.each([
    ['Persistent', false, 'Any'],
    ['PersistentRecursive', true, 'Any'],
    ['Any', false, 'Any'],
    ['Any', true, 'Any'],
  ] as const)('ZooKeeper.removeWatches of %s ends a watch with recursive %j', async (type, recursive, asked) => {
    const at = await start()
    const { notified, ending } = follow(await watching(at, '/a', { recursive }))
    const removed = outcome(at.zk.removeWatches('/a', type))
    const request = await at.connection.expect(OpCode.removeWatches)
    // Servers before 3.9 know no other type that would do.
    expect(request.body).toEqual({ path: '/a', type: WatcherType[asked] })
    at.connection.reply(request)
    await at.connection.expectNothing()
    expect(removed.status).toBe('fulfilled')
    expect([notified, ending.value]).toEqual([['PersistentWatchRemoved /a'], 'done'])
  })

  test.each(['Data', 'Children', 'PersistentRecursive'] as const)(
    'ZooKeeper.removeWatches of %s is not about a persistent watch',
    async (type) => {
      const at = await start()
      const { ending } = follow(await watching(at, '/a'))
      const removed = outcome(at.zk.removeWatches('/a', type))
      await at.connection.expectNothing()
      expect(removed.error).toMatchObject({ code: 'NoWatcher' })
      expect(ending.value).toBeUndefined()
    },
  )
})
