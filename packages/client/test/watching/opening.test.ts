// A persistent watch that is iterated before the server has set it.
import { ErrorResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { outcome } from '../support/index.ts'
import { follow, start } from './watching.ts'

describe('ZooKeeper.watch without await', () => {
  test('ZooKeeper.watch gives its events, from the moment the server has set it', async () => {
    const { world, zk, connection } = await start()
    const { notified, ending } = follow(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    connection.event('NodeCreated', '/a')
    connection.event('NodeDataChanged', '/a')
    await world.settle()
    expect(notified).toEqual(['NodeCreated /a', 'NodeDataChanged /a'])
    expect(ending).toEqual({})
  })

  test('ZooKeeper.watch gives the same events to the loop and to what awaits it', async () => {
    const { world, zk, connection } = await start()
    const watch = zk.watch('/a')
    const first = outcome(watch.next())
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    connection.event('NodeCreated', '/a')
    connection.event('NodeDeleted', '/a')
    await world.settle()
    expect(first.value).toMatchObject({ done: false, value: { type: 'NodeCreated' } })
    expect(await (await watch).next()).toMatchObject({ value: { type: 'NodeDeleted' } })
  })

  test('ZooKeeper.watch that the server refuses rejects the first next, and is over', async () => {
    const { world, zk, connection } = await start()
    const watch = zk.watch('/a')
    const nexts = [outcome(watch.next()), outcome(watch.next())]
    connection.fail(await connection.expect(OpCode.addWatch), 'Unimplemented')
    await world.settle()
    expect(nexts[0]!.error).toMatchObject({ code: 'Unimplemented', op: 'watch', path: '/a' })
    expect(nexts[1]!.value).toEqual({ value: undefined, done: true })
    expect(await watch.next()).toEqual({ value: undefined, done: true })
    await expect(watch).rejects.toMatchObject({ code: 'Unimplemented' })
  })

  test('ZooKeeper.watch with wrong arguments throws nothing, sends nothing, and rejects the first next', async () => {
    const { zk, connection } = await start()
    const watch = zk.watch('no-path')
    await expect(watch.next()).rejects.toThrow('no-path')
    expect(await watch.next()).toEqual({ value: undefined, done: true })
    expect(await watch.return()).toEqual({ value: undefined, done: true })
    await connection.expectNothing()
  })

  test.each([
    ['return()', (watch: AsyncIterator<unknown>) => watch.return!()],
    ['await using', (watch: AsyncIterator<unknown>) => (watch as unknown as AsyncDisposable)[Symbol.asyncDispose]()],
  ])(
    'ZooKeeper.watch that is left by %s before it is set ends at once, and is taken off the server',
    async (_, leave) => {
      const { world, zk, connection } = await start()
      const watch = zk.watch('/a')
      const request = await connection.expect(OpCode.addWatch)
      const next = outcome(watch.next())
      await leave(watch)
      connection.reply(request, ErrorResponse, { err: 0 })
      await world.settle()
      expect(next.value).toEqual({ value: undefined, done: true })
      const removal = await connection.expect(OpCode.removeWatches)
      expect(removal.body).toMatchObject({ path: '/a' })
    },
  )

  test('ZooKeeper.watch whose signal aborts before it is set rejects the first next with the reason', async () => {
    const { world, zk } = await start()
    const abort = new AbortController()
    const next = outcome(zk.watch('/a', { signal: abort.signal }).next())
    abort.abort(new Error('enough'))
    await world.settle()
    expect(next.error).toMatchObject({ message: 'enough' })
  })
})
