// What becomes of persistent watches when a connection is lost, or the session.
import { ErrorResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { expired, type FakeConnection, nodeData, outcome, reconnected } from '../support/index.ts'
import { follow, type Start, start, watching } from './watching.ts'

/** The server ends the session, as it says in the next handshake; the connection of the session after it, if any. */
async function renewed({ world, server, connection }: Start): Promise<FakeConnection> {
  await expired(world, { server, connection })
  await world.advance(1_000)
  return server.accept()
}

describe('A connection that is lost', () => {
  test('ZooKeeper sets its watches again in requests that are no longer than maxRequestSize', async () => {
    const at = await start({ advanced: { maxRequestSize: 4_096 } })
    const { world, zk, connection } = at
    const names = Array.from({ length: 100 }, (_, n) => `/${'x'.repeat(60)}${n}`)
    for (const name of names) {
      outcome(zk.existsAndWatch(name))
      connection.fail(await connection.expect(OpCode.exists), 'NoNode')
    }
    await watching(at, '/a')
    const second = await reconnected(world, at)
    const requests = await second.expectAll(OpCode.setWatches, OpCode.setWatches2)
    expect(requests.flatMap(({ body }) => body.existWatches)).toEqual(names)
    for (const { body } of requests) expect(JSON.stringify(body.existWatches).length).toBeLessThan(4_096)
  })

  test('Reads with watches that were aborted on a lost connection leave nothing behind: a later watch of each path is taken off alone', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const paths = ['/a', '/b', '/c']
    const aborting = new AbortController()
    for (const path of paths) outcome(zk.getDataAndWatch(path, { signal: aborting.signal }))
    await connection.expectAll(OpCode.getData, OpCode.getData, OpCode.getData)
    aborting.abort()
    const second = await reconnected(world, at)
    for (const path of paths) {
      const reading = outcome(zk.getDataAndWatch(path))
      second.reply(await second.expect(OpCode.getData), GetDataResponse, nodeData('x'))
      await world.settle()
      outcome(reading.value.unwatch())
      // If another read still counted as waiting for it, the watch would stay.
      const removal = await second.expect(OpCode.removeWatches)
      expect(removal.body.path).toBe(path)
      second.reply(removal)
    }
  })

  test('NodeEvents that is left while watches are set again is taken off behind them', async () => {
    const at = await start()
    const { world, server, connection } = at
    const all = []
    for (const letter of 'abcdefg') all.push(await watching(at, `/${letter.repeat(130_000)}`))
    connection.rst()
    await world.settle()
    const { length } = world.dials
    while (world.dials.length === length) await world.advance(1)
    const second = await server.connection()
    await second.expectConnect()
    second.stopReading()
    second.accept()
    await world.settle()
    await all.at(-1)!.return()
    await world.settle()
    second.resumeReading()
    await world.settle()
    const sent = second.segments.flat().filter((each) => each !== 'connect' && each !== 'ping')
    expect(sent).toEqual([...all.map(() => 'setWatches2'), 'removeWatches'])
  })

  test('NodeEvents has one Gap, when its watch is set again, and no event made up before it (V06)', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const { notified } = follow(await watching(at, '/a'))
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    const changed = outcome(read.value.changed)
    const second = await reconnected(world, at)
    const request = await second.expect(OpCode.setWatches2)
    expect(request.body).toMatchObject({ dataWatches: ['/a'], persistentWatches: ['/a'] })
    // It is about the one-shot watch, and about the past.
    second.event('NodeDataChanged', '/a')
    await world.settle()
    expect([changed.status, notified]).toEqual(['fulfilled', []])
    second.reply(request)
    second.event('NodeDeleted', '/a')
    await world.settle()
    expect(notified).toEqual(['Gap reconnected', 'NodeDeleted /a'])
  })

  test('NodeEvents has its Gap before the answer to a read that was sent with the connection', async () => {
    const at = await start()
    const { world, zk, connection, server } = at
    const log: string[] = []
    const events = await watching(at, '/a')
    void events.next().then(({ value }) => log.push(value!.type))
    connection.rst()
    await world.settle()
    void zk.getData('/a').then(() => log.push('getData'))
    await world.advance(1_000)
    const second = await server.accept()
    const [set, read] = await second.expectAll(OpCode.setWatches2, OpCode.getData)
    second.together(() => {
      second.reply(set)
      second.reply(read, GetDataResponse, nodeData(''))
    })
    await world.settle()
    expect(log).toEqual(['Gap', 'getData'])
  })

  test('NodeEvents is stale from the loss of its connection until its watch is set again', async () => {
    const at = await start()
    const { world, zk } = at
    const events = await watching(at, '/a')
    expect(events.isStale).toBe(false)
    const second = await reconnected(world, at)
    const request = await second.expect(OpCode.setWatches2)
    expect([zk.state.name, events.isStale]).toEqual(['connected', true])
    second.reply(request)
    await world.settle()
    expect(events.isStale).toBe(false)
    second.rst()
    await world.settle()
    expect(events.isStale).toBe(true)
  })

  test('NodeEvents has one Gap for connections that are lost before the watch is set again', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a', { recursive: true }))
    const second = await reconnected(at.world, at)
    await second.expect(OpCode.setWatches2)
    const third = await reconnected(at.world, { server: at.server, connection: second })
    const { body, xid } = await third.expect(OpCode.setWatches2)
    expect(body).toMatchObject({ persistentWatches: [], persistentRecursiveWatches: ['/a'] })
    third.reply({ xid })
    await at.world.settle()
    expect(notified).toEqual(['Gap reconnected'])
  })

  test('ZooKeeper.watch that was not answered is asked again, and begins without a Gap', async () => {
    const at = await start()
    const watch = outcome(at.zk.watch('/a'))
    await at.connection.expect(OpCode.addWatch)
    const second = await reconnected(at.world, at)
    second.reply(await second.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await at.world.settle()
    const { notified } = follow(watch.value)
    second.event('NodeCreated', '/a')
    await at.world.settle()
    expect(notified).toEqual(['NodeCreated /a'])
  })

  test('ZooKeeper takes no zxid from setWatches2: its events may not all have arrived', async () => {
    const at = await start()
    await watching(at, '/a')
    const second = await reconnected(at.world, at)
    const { xid } = await second.expect(OpCode.setWatches2)
    second.reply({ xid }, ErrorResponse, { err: 0 }, { zxid: 99n })
    const third = await reconnected(at.world, { server: at.server, connection: second })
    expect((await third.expect(OpCode.setWatches2)).body.relativeZxid).toBe(1n)
  })

  test('ZooKeeper sets 3,000 persistent watches again in chunks of at most 32 KiB, and tells when all are set (V04)', async () => {
    const at = await start()
    const { world, zk, connection, server } = at
    const paths = Array.from({ length: 3_000 }, (_, index) => `/${String(index).padStart(99, '0')}`)
    const watches = paths.map((path, index) => outcome(zk.watch(path, { recursive: index % 2 === 0 })))
    for (const _ of paths) connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    const gaps = watches.map(({ value }) => outcome(value.next()))
    connection.rst()
    await world.settle()
    outcome(zk.create('/queued'))
    await world.advance(1_000)
    const second = await server.accept()
    const seen: (string | null)[] = []
    while (seen.length < paths.length) {
      const { body, size, xid } = await second.expect(OpCode.setWatches2)
      expect(size).toBeLessThanOrEqual(32 * 1024)
      seen.push(...body.persistentWatches!, ...body.persistentRecursiveWatches!)
      expect(gaps.every(({ status }) => status === 'pending')).toBe(true)
      second.reply({ xid })
    }
    await second.expect(OpCode.create2)
    expect(gaps.every(({ value }) => value.value?.type === 'Gap')).toBe(true)
    expect(new Set(seen)).toEqual(new Set(paths))
  })

  test('NodeEvents that is left meanwhile is not set again (V12)', async () => {
    const at = await start()
    const [left, removed] = [await watching(at, '/left'), await watching(at, '/removed')]
    at.connection.rst()
    await at.world.settle()
    await left.return()
    const removal = outcome(at.zk.removeWatches('/removed'))
    await at.world.advance(1_000)
    const second = await at.server.accept()
    second.fail(await second.expect(OpCode.removeWatches), 'NoWatcher')
    await second.expectNothing()
    expect(removal.status).toBe('fulfilled')
    expect((await removed.next()).value).toEqual({ type: 'PersistentWatchRemoved', path: '/removed' })
  })
})

describe.each(['Unimplemented', 'MarshallingError'] as const)('A server that answers setWatches2 with %s', (code) => {
  test('NodeEvents throws it, and one-shot watches go on by setWatches', async () => {
    const at = await start()
    const { world, zk, connection, server } = at
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    const { notified, ending } = follow(await watching(at, '/b'))
    const { ending: other } = follow(await watching({ ...at, zk: zk.withChroot('/app') }, '/c'))
    const changed = outcome(read.value.changed)
    const second = await reconnected(world, at)
    second.fail(await second.expect(OpCode.setWatches2), code, -1n)
    second.fin()
    await world.advance(2_000)
    const third = await server.accept()
    const { body, xid } = await third.expect(OpCode.setWatches)
    expect(body).toMatchObject({ dataWatches: ['/a'] })
    third.event('NodeDataChanged', '/a')
    third.reply({ xid })
    await third.expectNothing()
    expect(changed.status).toBe('fulfilled')
    expect(notified).toEqual([])
    expect(ending.value).toMatchObject({ code, op: 'watch', path: '/b', chroot: undefined })
    expect(other.value).toMatchObject({ code, op: 'watch', path: '/c', chroot: '/app' })
  })
})

describe('A session that ends', () => {
  test('NodeEvents is set in the next one, which is a Gap', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a', { recursive: true }))
    const next = await renewed(at)
    const request = await next.expect(OpCode.addWatch)
    expect(request.body).toEqual({ path: '/a', mode: 1 })
    await at.world.settle()
    expect(notified).toEqual([])
    next.together(() => {
      next.reply(request, ErrorResponse, { err: 0 })
      next.event('NodeCreated', '/a/b')
    })
    await at.world.settle()
    expect(notified).toEqual(['Gap renewed', 'NodeCreated /a/b'])
    const later = await reconnected(at.world, { server: at.server, connection: next })
    later.reply(await later.expect(OpCode.setWatches2))
    await at.world.settle()
    expect(notified.at(-1)).toBe('Gap reconnected')
  })

  test('NodeEvents goes on to the session after the next, when that does not last', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a'))
    const next = await renewed(at)
    await next.expect(OpCode.addWatch)
    const last = await renewed({ ...at, connection: next })
    last.reply(await last.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await at.world.settle()
    expect(notified).toEqual(['Gap renewed'])
  })

  test('NodeEvents are set in the next one, however little may wait', async () => {
    const at = await start({ advanced: { maxWaiting: 1 } })
    const followed = []
    for (const path of ['/a', '/b', '/c']) followed.push(follow(await watching(at, path)))
    const next = await renewed(at)
    for (const request of await next.expectAll(OpCode.addWatch, OpCode.addWatch, OpCode.addWatch)) {
      next.reply(request, ErrorResponse, { err: 0 })
    }
    await at.world.settle()
    expect(followed.map(({ notified }) => notified)).toEqual([['Gap renewed'], ['Gap renewed'], ['Gap renewed']])
  })

  test('NodeEvents throws what the watch is refused with in the next one', async () => {
    const at = await start()
    const { ending } = follow(await watching(at, '/a'))
    const next = await renewed(at)
    next.fail(await next.expect(OpCode.addWatch), 'Unimplemented')
    await at.world.settle()
    expect(ending.value).toMatchObject({ code: 'Unimplemented', op: 'watch', path: '/a' })
  })

  test('NodeEvents that is left meanwhile is not set in the next one', async () => {
    const at = await start()
    const events = await watching(at, '/a')
    await expired(at.world, at)
    await events.return()
    await at.world.advance(1_000)
    const next = await at.server.accept()
    await next.expectNothing()
  })

  test('NodeEvents delivers the end, and is over, where no session follows (V14)', async () => {
    const at = await start({ renewSession: false })
    const { notified, ending } = follow(await watching(at, '/a'))
    await expired(at.world, at)
    expect([notified, ending.value]).toEqual([['SessionEnded /a'], 'done'])
  })

  test('NodeEvents of a call that was pinned to a session ends with it', async () => {
    const at = await start()
    const { session } = at.zk
    const { notified, ending } = follow(await watching(at, '/a', { session } as object))
    await expired(at.world, at)
    expect([notified, ending.value]).toEqual([['SessionEnded /a'], 'done'])
  })

  test('NodeEvents delivers the end when the client is closed', async () => {
    const at = await start()
    const { notified, ending } = follow(await watching(at, '/a'))
    const closing = outcome(at.zk.close())
    at.connection.reply(await at.connection.expect(OpCode.closeSession))
    await at.world.settle()
    expect(closing.status).toBe('fulfilled')
    expect([notified, ending.value]).toEqual([['SessionEnded /a'], 'done'])
  })
})
