// Each of these was found broken once, by a search for cases without a test.
import { GetDataResponse, MultiResponse, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { connect, op } from '../../src/index.ts'
import { connected, FakeServer, nodeData, outcome, VirtualWorld } from '../support/index.ts'

test('ZooKeeper.removeWatches takes a watcher along whose read is still on the wire', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const first = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await world.settle()
  expect(first.status).toBe('fulfilled')
  const second = outcome(zk.getDataAndWatch('/a'))
  const removed = outcome(zk.removeWatches('/a'))
  const [read, removal] = await connection.expectAll(OpCode.getData, OpCode.removeWatches)
  connection.reply(read, GetDataResponse, nodeData('x'))
  // By now the server has removed the one watch that both reads set.
  connection.reply(removal)
  await world.settle()
  expect(removed.status).toBe('fulfilled')
  const changed = outcome(second.value.changed)
  await world.settle()
  expect(changed.value).toEqual({ type: 'DataWatchRemoved', path: '/a' })
})

test('ZooKeeper.removeWatches changes nothing when its signal is aborted already', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const read = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await world.settle()
  const changed = outcome(read.value.changed)
  const removed = outcome(zk.removeWatches('/a', 'Any', { signal: AbortSignal.abort('no') }))
  await world.settle()
  expect([removed.error, changed.status]).toEqual(['no', 'pending'])
})

test('ZooKeeper.multi does not look at the list again that it was called with', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const ops = [op.check('/a')]
  const first = outcome(zk.multi(ops))
  ops.push(op.check('/b'))
  connection.reply(await connection.expect(OpCode.multi), MultiResponse, [{ type: OpCode.check, response: {} }])
  await world.settle()
  expect([first.status, connection.isClosed]).toEqual(['fulfilled', false])
})

test('ZooKeeper.addAuth refuses a credential over maxRequestSize, and does not keep it', async () => {
  const world = new VirtualWorld()
  const { zk, connection, server } = await connected(world)
  const added = outcome(zk.addAuth('digest', 'x'.repeat(3_000_000)))
  await world.settle()
  expect(added.error).toBeInstanceOf(RangeError)
  connection.rst()
  await world.advance(1_000)
  expect((await server.accept()).segments).toEqual([['connect']])
})

test('ZooKeeper.addAuth that is aborted before it is sent never is', async () => {
  const world = new VirtualWorld()
  const { zk, connection, server } = await connected(world)
  connection.rst()
  await world.settle()
  const abort = new AbortController()
  const added = outcome(zk.addAuth('digest', 'a:b', { signal: abort.signal }))
  abort.abort('no')
  await world.advance(1_000)
  expect(added.error).toBe('no')
  expect((await server.accept()).segments).toEqual([['connect']])
})

test('connect goes on when a runtime cannot even dial', async () => {
  const world = new VirtualWorld()
  FakeServer.listen(world, 'zk1:2181')
  const dial = world.dial.bind(world)
  let dials = 0
  world.dial = (target, handler) => {
    if (dials++ === 0) throw new Error('not now')
    return dial(target, handler)
  }
  const connecting = outcome(connect('zk1:2181', { runtime: world, connectTimeout: 5_000 }))
  await world.advance(6_000)
  expect(dials).toBeGreaterThan(1)
  expect(connecting.error).toMatchObject({ name: 'ConnectError' })
})

test('connect keeps its bound though a credential is never answered', async () => {
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  const auth = [{ scheme: 'digest', auth: 'a:b' }]
  const connecting = outcome(connect('zk1:2181', { runtime: world, connectTimeout: 1_000, auth }))
  await server.accept()
  await world.advance(1_200)
  expect(connecting.status).toBe('rejected')
})
