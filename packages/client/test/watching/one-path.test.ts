// Watches of several kinds on one path, which servers up to 3.8 keep as one: what is taken off, and what is set again.
import { ErrorResponse, GetChildren2Response, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { children, nodeData, outcome } from '../support/index.ts'
import type { Watched } from '../../src/index.ts'
import { follow, type Start, start, watching } from './watching.ts'

/** A one-shot watch that is set. */
async function watchedOnce({ world, zk, connection }: Start): Promise<Watched> {
  const read = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
  await world.settle()
  return read.value
}

describe('A removal that is given up before it is sent is done all the same', () => {
  test.each(['Data', 'Any'] as const)('ahead of watches that were asked for later, of type %s', async (type) => {
    const at = await start()
    const { world, zk, connection, server } = at
    await watchedOnce(at)
    connection.rst()
    await world.settle()
    const abort = new AbortController()
    const removed = outcome(zk.removeWatches('/a', type, { signal: abort.signal }))
    outcome(zk.getDataAndWatch('/a'))
    outcome(zk.watch('/a'))
    abort.abort('given up')
    await world.advance(1_000)
    const second = await server.accept()
    await world.settle()
    expect(second.segments).toEqual([['connect'], ['removeWatches', 'getData', 'addWatch']])
    expect(removed.error).toBe('given up')
  })

  test('where its time is up in an outage', async () => {
    const at = await start()
    const { world, zk, connection, server } = at
    const watched = await watchedOnce(at)
    connection.freeze()
    server.refuse()
    const unwatched = outcome(watched.unwatch())
    await world.advance(25_000)
    outcome(zk.getDataAndWatch('/a'))
    await world.advance(7_000)
    expect(unwatched.error).toMatchObject({ code: 'RequestTimeout' })
    server.listen()
    await world.advance(4_000)
    const second = await server.accept()
    await world.settle()
    expect(second.segments).toEqual([['connect'], ['removeWatches', 'getData']])
  })
})

describe('A persistent watch that no caller needs any more', () => {
  test('stays until the reads that count on it are answered; then theirs is set, from there on', async () => {
    const at = await start()
    const { zk, connection } = at
    const events = await watching(at, '/a')
    const read = outcome(zk.getDataAndWatch('/a'))
    void events.return()
    const request = await connection.expect(OpCode.getData)
    await connection.expectNothing()
    expect(request.body.watch).toBe(false)
    connection.reply(request, GetDataResponse, nodeData(''), { zxid: 10n })
    const [, set] = await connection.expectAll(OpCode.removeWatches, OpCode.setWatches)
    expect(set.body).toMatchObject({ dataWatches: ['/a'], relativeZxid: 10n })
    expect(read.status).toBe('fulfilled')
  })

  test('is not taken off by the removal for a read that was aborted: others count on it', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const events = await watching(at, '/a')
    const abort = new AbortController()
    outcome(zk.existsAndWatch('/a', { signal: abort.signal }))
    outcome(zk.getChildrenAndWatch('/a'))
    const [exists, read] = await connection.expectAll(OpCode.exists, OpCode.getChildren2)
    void events.return()
    abort.abort()
    connection.fail(exists, 'NoNode')
    await connection.expectNothing()
    connection.reply(read, GetChildren2Response, children())
    await connection.expectAll(OpCode.removeWatches, OpCode.setWatches)
    await world.settle()
  })

  test.each(['Persistent', 'PersistentRecursive'] as const)('by removeWatches of type %s, too', async (type) => {
    const at = await start()
    const { zk, connection } = at
    await watching(at, '/a', { recursive: type === 'PersistentRecursive' })
    const read = outcome(zk.getDataAndWatch('/a'))
    const removed = outcome(zk.removeWatches('/a', type))
    const request = await connection.expect(OpCode.getData)
    await connection.expectNothing()
    connection.reply(request, GetDataResponse, nodeData(''))
    await connection.expectAll(OpCode.removeWatches, OpCode.setWatches)
    expect([read.status, removed.status]).toEqual(['fulfilled', 'fulfilled'])
  })
})

describe('A recursive watch', () => {
  test.each(['NodeCreated', 'NodeDeleted'] as const)(
    'notifies callers that wait for other children by %s of one',
    async (type) => {
      const at = await start()
      const { world, zk, connection } = at
      await watching(at, '/a', { recursive: true })
      const read = outcome(zk.getChildrenAndWatch('/a'))
      const request = await connection.expect(OpCode.getChildren2)
      expect(request.body.watch).toBe(false)
      connection.reply(request, GetChildren2Response, children('x'))
      await world.settle()
      const changed = outcome(read.value.changed)
      connection.event('NodeDataChanged', '/a/x')
      connection.event(type, '/a/x/y')
      await world.settle()
      expect(changed.status).toBe('pending')
      connection.event(type, '/a/x', { zxid: 7n })
      await world.settle()
      expect(changed.value).toEqual({ type: 'NodeChildrenChanged', path: '/a', zxid: 7n })
    },
  )

  test('yields 200 events of a path with 20,000 levels before the test is over', async () => {
    const at = await start()
    const { notified } = follow(await watching(at, '/a', { recursive: true }))
    const deep = `/a${'/x'.repeat(20_000)}`
    // Each took 0.2 s when every path above it was looked up.
    for (let count = 0; count < 200; count++) at.connection.event('NodeCreated', deep)
    await at.world.settle()
    expect([notified.length, notified.every((each) => each === `NodeCreated ${deep}`)]).toEqual([200, true])
  })

  test('that was given up and set nevertheless is what the server has: it tells the others', async () => {
    const at = await start()
    const { world, zk, connection } = at
    const { notified } = follow(await watching(at, '/a'))
    const abort = new AbortController()
    outcome(zk.watch('/a', { recursive: true, signal: abort.signal }))
    const [add] = await connection.expectAll(OpCode.addWatch, OpCode.removeWatches)
    abort.abort()
    connection.reply(add, ErrorResponse, { err: 0 })
    connection.event('NodeCreated', '/a/x')
    await world.settle()
    expect(notified).toEqual(['NodeChildrenChanged /a'])
  })
})

describe('A server that was too busy', () => {
  test('for a watch, not for the removal of the one before it, has none: that costs the connection', async () => {
    const at = await start()
    const { world, zk, connection } = at
    await watching(at, '/a')
    outcome(zk.watch('/a', { recursive: true }))
    const [add] = await connection.expectAll(OpCode.addWatch, OpCode.removeWatches)
    connection.fail(add, 'ThrottledOp')
    await world.settle()
    expect(connection.isClosed).toBe(true)
  })

  test('for a watch, not for what concerns another path, is asked again', async () => {
    const at = await start()
    const { world, zk, connection } = at
    outcome(zk.watch('/a'))
    outcome(zk.getDataAndWatch('/b'))
    const [add, read] = await connection.expectAll(OpCode.addWatch, OpCode.getData)
    connection.fail(add, 'ThrottledOp')
    connection.reply(read, GetDataResponse, nodeData(''))
    await world.advance(1_000)
    expect((await connection.expect(OpCode.addWatch)).body.path).toBe('/a')
  })

  test('for a read and a watch sets the watch of the read when it comes first again', async () => {
    const { world, zk, connection } = await start()
    outcome(zk.getDataAndWatch('/a'))
    outcome(zk.watch('/a'))
    const [read, add] = await connection.expectAll(OpCode.getData, OpCode.addWatch)
    connection.fail(read, 'ThrottledOp')
    connection.fail(add, 'ThrottledOp')
    await world.advance(1_000)
    expect((await connection.expect(OpCode.getData)).body.watch).toBe(true)
  })

  const abort = new AbortController()
  test.each([
    ['was given up', { signal: abort.signal }],
    ['is not to be repeated', { repeatThrottled: false }],
  ])('for a removal that %s is asked for it again', async (_, options) => {
    const at = await start()
    const { world, zk, connection } = at
    await watchedOnce(at)
    outcome(zk.removeWatches('/a', 'Data', options))
    const removal = await connection.expect(OpCode.removeWatches)
    abort.abort()
    connection.fail(removal, 'ThrottledOp')
    await world.advance(2_000)
    expect((await connection.expect(OpCode.removeWatches)).body).toEqual(removal.body)
  })

  test('for a read whose watch was removed meanwhile sets none when it is asked again', async () => {
    const { world, zk, connection } = await start()
    const read = outcome(zk.getDataAndWatch('/a'))
    const first = await connection.expect(OpCode.getData)
    const removed = outcome(zk.removeWatches('/a', 'Data'))
    const removal = await connection.expect(OpCode.removeWatches)
    connection.fail(first, 'ThrottledOp')
    connection.fail(removal, 'NoWatcher')
    await world.advance(2_000)
    const again = await connection.expect(OpCode.getData)
    expect([first.body.watch, again.body.watch]).toEqual([true, false])
    connection.reply(again, GetDataResponse, nodeData(''))
    await world.settle()
    expect([read.status, removed.status]).toEqual(['fulfilled', 'fulfilled'])
  })

  test('for a watch that waits behind others now is not sent ahead of them, whichever caller gives up the same', async () => {
    const { world, zk, connection } = await start()
    outcome(zk.getData('/b'))
    outcome(zk.watch('/a'))
    const [read, add] = await connection.expectAll(OpCode.getData, OpCode.addWatch)
    connection.fail(read, 'ThrottledOp')
    connection.fail(add, 'ThrottledOp')
    await world.settle()
    const abort = new AbortController()
    outcome(zk.watch('/a', { signal: abort.signal }))
    abort.abort()
    await world.advance(1_000)
    expect(connection.segments.at(-1)).toEqual(['getData'])
  })
})

test('A removal of all watches that a server refuses leaves the persistent one, which a later read relies on', async () => {
  const at = await start()
  const { world, zk, connection } = at
  await watching(at, '/a')
  outcome(zk.removeWatches('/a', 'Any'))
  connection.fail(await connection.expect(OpCode.removeWatches), 'SystemError')
  await world.settle()
  outcome(zk.getDataAndWatch('/a'))
  expect((await connection.expect(OpCode.getData)).body.watch).toBe(false)
})

test('A watch that is only asked for has no event that a recursive watch of its path implies', async () => {
  const at = await start()
  const { world, zk, connection } = at
  const recursive = follow(await watching(at, '/a', { recursive: true }))
  const watch = outcome(zk.watch('/a'))
  const request = await connection.expect(OpCode.addWatch)
  connection.event('NodeCreated', '/a/b')
  connection.reply(request, ErrorResponse, { err: 0 })
  await world.settle()
  const asked = follow(watch.value)
  await world.settle()
  expect([recursive.notified, asked.notified]).toEqual([['NodeCreated /a/b'], []])
  connection.event('NodeCreated', '/a/c')
  await world.settle()
  expect(asked.notified).toEqual(['NodeChildrenChanged /a'])
})

test('A watch that is away has no event that a recursive watch of its path implies', async () => {
  const at = await start()
  const { world, zk, connection, server } = at
  const lasting = follow(await watching(at, '/a'))
  connection.rst()
  await world.advance(2_000)
  const next = await server.accept()
  const setting = await next.expect(OpCode.setWatches2)
  // The server of the next connection watches before it says so.
  const recursive = outcome(zk.watch('/a', { recursive: true }))
  next.event('NodeCreated', '/a/b')
  next.fail(setting, 'Ok')
  await world.settle()
  expect(lasting.notified).toEqual(['Gap reconnected'])
  expect(recursive.status).toBe('pending')
})
