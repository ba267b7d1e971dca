// Promise 1: call order is wire order.
import { Create2Response, GetChildren2Response, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { op, type ZooKeeper } from '../../src/index.ts'
import { children, connected, created, outcome, reconnected, VirtualWorld } from '../support/index.ts'

/** One call of every operation, in this order. */
const EVERY_OPERATION = [
  'create2',
  'createContainer',
  'getChildren2',
  'getData',
  'setData',
  'exists',
  'getACL',
  'setACL',
  'sync',
  'multi',
  'delete',
  'getData',
  'exists',
  'getChildren2',
]

function callEveryOperation(zk: ZooKeeper): void {
  outcome(zk.create('/a'))
  outcome(zk.create('/c', '', { mode: 'CONTAINER' }))
  outcome(zk.getChildren('/'))
  outcome(zk.getData('/a'))
  outcome(zk.setData('/a', 'text'))
  outcome(zk.exists('/a'))
  outcome(zk.getACL('/a'))
  outcome(zk.setACL('/a', [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]))
  outcome(zk.sync('/'))
  outcome(zk.multi([op.check('/a')]))
  outcome(zk.delete('/a'))
  outcome(zk.getDataAndWatch('/a'))
  outcome(zk.existsAndWatch('/a'))
  outcome(zk.getChildrenAndWatch('/a'))
}

describe('The calls of one turn', () => {
  test('ZooKeeper sends the calls of one turn in one segment, in call order, whatever they are', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    callEveryOperation(zk)
    await world.settle()
    expect(connection.segments).toEqual([['connect'], EVERY_OPERATION])
  })

  test('ZooKeeper sends calls before anything of theirs is awaited', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const before = outcome(zk.create('/a'))
    const listed = outcome(zk.getChildren('/'))
    await connection.expectAll(OpCode.create2, OpCode.getChildren2)
    expect([before.status, listed.status]).toEqual(['pending', 'pending'])
  })

  test('ZooKeeper sends the calls of two turns in two segments', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.getData('/a'))
    outcome(zk.getData('/b'))
    await world.settle()
    outcome(zk.getData('/c'))
    await world.settle()
    expect(connection.segments).toEqual([['connect'], ['getData', 'getData'], ['getData']])
  })

  test('ZooKeeper keeps call order where one turn fills several segments', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const data = new Uint8Array(30_000)
    for (let index = 0; index < 40; index++) outcome(zk.create(`/${index}`, data))
    await world.settle()
    expect(connection.segments.length).toBeGreaterThan(2)
    for (let index = 0; index < 40; index++) {
      expect((await connection.expect(OpCode.create2)).body.path).toBe(`/${index}`)
    }
  })

  test('ZooKeeper numbers requests in call order', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    for (const path of ['/a', '/b', '/c']) outcome(zk.getData(path))
    const requests = await connection.expectAll(OpCode.getData, OpCode.getData, OpCode.getData)
    expect(requests.map(({ xid }) => xid)).toEqual([1, 2, 3])
  })

  test('ZooKeeper keeps calls made without a connection in order, for one segment of the next', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    callEveryOperation(zk)
    await world.advance(1_000)
    const second = await server.accept()
    expect(second.segments).toEqual([['connect'], EVERY_OPERATION])
  })

  test('ZooKeeper.addAuth sends its credential before calls that come after it', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.addAuth('digest', 'user:password'))
    outcome(zk.getData('/a'))
    await world.settle()
    expect(connection.segments).toEqual([['connect'], ['auth', 'getData']])
  })
})

describe('Each answer stands for itself', () => {
  test('ZooKeeper.getChildren succeeds although the create before it failed', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const create = outcome(zk.create('/locks/x'))
    const list = outcome(zk.getChildren('/locks'))
    const [createRequest, listRequest] = await connection.expectAll(OpCode.create2, OpCode.getChildren2)
    connection.fail(createRequest, 'NodeExists')
    connection.reply(listRequest, GetChildren2Response, children('x'))
    await world.settle()
    expect(create.error).toMatchObject({ code: 'NodeExists', op: 'create', path: '/locks/x' })
    expect(list.value.children).toEqual(['x'])
  })

  test('ZooKeeper.getChildren fails although the create before it worked', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const create = outcome(zk.create('/locks/x'))
    const list = outcome(zk.getChildren('/locks'))
    const [createRequest, listRequest] = await connection.expectAll(OpCode.create2, OpCode.getChildren2)
    connection.reply(createRequest, Create2Response, created('/locks/x'))
    connection.fail(listRequest, 'NoAuth')
    await world.settle()
    expect(create.value.path).toBe('/locks/x')
    expect(list.error).toMatchObject({ code: 'NoAuth', op: 'getChildren', path: '/locks', needs: 'READ on the node' })
  })
})

describe('What was called is what is sent', () => {
  test('ZooKeeper.setData sends the bytes that the array had at the call', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const data = Uint8Array.of(1, 2, 3)
    outcome(zk.setData('/a', data))
    data.fill(0)
    expect((await connection.expect(OpCode.setData)).body.data).toEqual(Uint8Array.of(1, 2, 3))
  })

  test.each<[string, (zk: ZooKeeper) => Promise<unknown>, typeof Error]>([
    ['create of a path without "/"', (zk) => zk.create('a'), TypeError],
    ['getDataAndWatch of an empty path', (zk) => zk.getDataAndWatch(''), TypeError],
    [
      'setData with a version that is no 32-bit integer',
      (zk) => zk.setData('/a', '', { version: 2 ** 31 }),
      RangeError,
    ],
    ['multi with a bad path in it', (zk) => zk.multi([op.check('/a'), op.delete('/a//b')]), TypeError],
    ['getData with a negative timeout', (zk) => zk.getData('/a', { timeout: -1 }), RangeError],
    ['getData with NaN for a timeout', (zk) => zk.getData('/a', { timeout: NaN }), RangeError],
    ['addAuth without a scheme', (zk) => zk.addAuth('', 'user:password'), TypeError],
    ['removeWatches of an unknown kind', (zk) => zk.removeWatches('/a', 'Both' as 'Any'), TypeError],
  ])('ZooKeeper rejects %s, and sends nothing', async (_, call, expected) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const misuse = outcome(call(zk))
    await world.settle()
    expect(misuse.error).toBeInstanceOf(expected)
    await connection.expectNothing()
  })

  test('ZooKeeper sends a call once on each of two connections, and never more', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.getData('/a'))
    await connection.expect(OpCode.getData)
    const second = await reconnected(world, { server, connection })
    await second.expect(OpCode.getData)
    await second.expectNothing()
  })
})
