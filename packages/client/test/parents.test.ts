import { Create2Response, OpCode, SyncResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { READ_ACL_UNSAFE, type ZooKeeper } from '../src/index.ts'
import { connected, created, type FakeConnection, outcome, reconnected, VirtualWorld } from './support/index.ts'

const parents = true
const text = (data: Uint8Array | null) => new TextDecoder().decode(data ?? undefined)

async function refuse(connection: FakeConnection): Promise<void> {
  connection.fail(await connection.expect(OpCode.create2), 'NoNode')
}

test('ZooKeeper.create with parents costs nothing where the parent is there', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b', 'x', { parents }))
  connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/a/b'))
  await connection.expectNothing()
  expect(creating.value.path).toBe('/a/b')
})

test('ZooKeeper.create with parents makes containers above, the chroot too, and then the node', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  const data = new TextEncoder().encode('data')
  const creating = outcome(zk.create('/a/n-', data, { mode: 'PERSISTENT_SEQUENTIAL', parents, acl: READ_ACL_UNSAFE }))
  data.fill(0)
  await refuse(connection)
  const made = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
  await connection.expectNothing()
  expect(made.map(({ body }) => [body.path, body.acl?.[0]?.perms])).toEqual([
    ['/app', 31],
    ['/app/a', 31],
  ])
  connection.fail(made[0], 'NodeExists')
  connection.reply(made[1], Create2Response, created('/app/a'))
  const again = await connection.expect(OpCode.create2)
  expect([again.body.path, text(again.body.data), again.body.acl?.[0]?.perms]).toEqual(['/app/a/n-', 'data', 1])
  connection.reply(again, Create2Response, created('/app/a/n-0000000000'))
  await world.settle()
  expect(creating.value.path).toBe('/a/n-0000000000')
})

test('ZooKeeper.create gives the nodes above the ACL that is meant for them', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  outcome(zk.create('/a/b', '', { parents: { acl: READ_ACL_UNSAFE } }))
  await refuse(connection)
  expect((await connection.expect(OpCode.createContainer)).body.acl?.[0]?.perms).toBe(1)
})

test('ZooKeeper.create without parents says NoNode, and with them any other error', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const [without, other] = [outcome(zk.create('/a/b')), outcome(zk.create('/a/b', '', { parents }))]
  const [first, second] = await connection.expectAll(OpCode.create2, OpCode.create2)
  connection.fail(first, 'NoNode')
  connection.fail(second, 'NodeExists')
  await connection.expectNothing()
  expect([without.error, other.error]).toMatchObject([{ code: 'NoNode' }, { code: 'NodeExists', path: '/a/b' }])
})

test('ZooKeeper.create with parents says what was in the way of them', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b/c', '', { parents }))
  await refuse(connection)
  for (const above of await connection.expectAll(OpCode.createContainer, OpCode.createContainer)) {
    connection.fail(above, 'NoAuth')
  }
  await refuse(connection)
  await world.settle()
  expect(creating.error).toMatchObject({ code: 'NoAuth', path: '/a' })
})

test.each(['NodeExists', 'NoAuth', 'QuotaExceeded', 'InvalidACL'] as const)(
  'ZooKeeper.create with parents says %s of the node itself once they are made, and tries no more',
  async (code) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const creating = outcome(zk.create('/a/b', '', { parents }))
    await refuse(connection)
    connection.reply(await connection.expect(OpCode.createContainer), Create2Response, created('/a'))
    connection.fail(await connection.expect(OpCode.create2), code)
    await connection.expectNothing()
    expect(creating.error).toMatchObject({ code, path: '/a/b' })
  },
)

test('ZooKeeper.create with parents makes them again when they have gone at once: a container may', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b', '', { parents }))
  await refuse(connection)
  for (let round = 0; round < 3; round++) {
    connection.reply(await connection.expect(OpCode.createContainer), Create2Response, created('/a'))
    if (round < 2) await refuse(connection)
  }
  connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/a/b'))
  await world.settle()
  expect(creating.status).toBe('fulfilled')
})

test.each(['NoNode', 'ThrottledOp', 'OperationTimeout'] as const)(
  'ZooKeeper.create with parents goes on where a node above was refused with %s, unless that lasts',
  async (code) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const creating = outcome(zk.create('/a/b/c', '', { parents, repeatThrottled: false }))
    await refuse(connection)
    const [above, below] = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
    connection.reply(above, Create2Response, created('/a'))
    connection.fail(below, code)
    // What is gone at once is made again by itself first.
    if (code === 'NoNode') connection.fail(await connection.expect(OpCode.createContainer), code)
    await refuse(connection)
    if (code !== 'OperationTimeout') {
      for (const request of await connection.expectAll(OpCode.createContainer, OpCode.createContainer)) {
        connection.reply(request, Create2Response, created('/a'))
      }
      connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/a/b/c'))
    }
    await world.settle()
    if (code === 'OperationTimeout') expect(creating.error).toMatchObject({ code, path: '/a/b' })
    else expect(creating.status).toBe('fulfilled')
  },
)

test('ZooKeeper.create with parents goes on behind a lost connection, and knows its outcome', async () => {
  const world = new VirtualWorld()
  const { zk, server, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b', '', { parents }))
  await refuse(connection)
  await connection.expect(OpCode.createContainer)
  const second = await reconnected(world, { server, connection })
  second.reply(await second.expect(OpCode.sync), SyncResponse, { path: '/' })
  second.reply(await second.expect(OpCode.create2), Create2Response, created('/a/b'))
  await world.settle()
  expect(creating.value.path).toBe('/a/b')
})

test('ZooKeeper.create with parents fails with NoNode when its time is up before the nodes above are made', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b', '', { parents, timeout: 1_000 }))
  await world.advance(400)
  await refuse(connection)
  await connection.expect(OpCode.createContainer)
  await world.advance(599)
  expect(creating.status).toBe('pending')
  await world.advance(1)
  expect(creating.error).toMatchObject({ code: 'NoNode', path: '/a/b', outcomeUnknown: false })
})

test('ZooKeeper.create with parents has one timeout for all that it does', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const creating = outcome(zk.create('/a/b', '', { parents, timeout: 1_000 }))
  await refuse(connection)
  await world.advance(600)
  connection.reply(await connection.expect(OpCode.createContainer), Create2Response, created('/a'))
  await connection.expect(OpCode.create2)
  await world.advance(399)
  expect(creating.status).toBe('pending')
  await world.advance(1)
  expect(creating.error).toMatchObject({ code: 'RequestTimeout', path: '/a/b', outcomeUnknown: true })
})

test.each<[string, (zk: ZooKeeper) => Promise<unknown>]>([
  ['create with parents', (zk) => zk.create('/a/b/c', '', { parents })],
  ['ensureContainer', (zk) => zk.ensureContainer('/a/b')],
])('ZooKeeper.%s makes persistent nodes where the server knows no containers', async (what, call) => {
  const world = new VirtualWorld()
  const { zk, server, connection } = await connected(world)
  const done = outcome(call(zk))
  if (what !== 'ensureContainer') await refuse(connection)
  const [first] = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
  connection.fail(first, 'Unimplemented', -1n)
  const second = await reconnected(world, { server, connection })
  second.reply(await second.expect(OpCode.sync), SyncResponse, { path: '/' })
  const above = await second.expectAll(OpCode.create2, OpCode.create2)
  expect(above.map(({ body }) => [body.path, body.flags])).toEqual([
    ['/a', 0],
    ['/a/b', 0],
  ])
  for (const request of above) second.reply(request, Create2Response, created(request.body.path!))
  if (what !== 'ensureContainer') {
    second.reply(await second.expect(OpCode.create2), Create2Response, created('/a/b/c'))
  }
  await world.settle()
  expect(done.status).toBe('fulfilled')
})

test.each([
  ['a node', ['ThrottledOp', 'NoNode', 'NoNode'], '/a', ['/a/b', '/a/b/c']],
  ['a node below one without CREATE', ['NoAuth', 'ThrottledOp', 'NoNode'], '/a/b', ['/a/b/c']],
] as const)('ZooKeeper.ensureContainer goes on when a busy server has put off %s', async (_, failures, late, below) => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const making = outcome(zk.ensureContainer('/a/b/c'))
  const { createContainer } = OpCode
  const asked = await connection.expectAll(createContainer, createContainer, createContainer)
  for (const [index, failure] of failures.entries()) connection.fail(asked[index]!, failure)
  await world.advance(1_000)
  connection.reply(await connection.expect(createContainer), Create2Response, created(late))
  const again = await connection.expectAll(...below.map(() => createContainer))
  expect(again.map(({ body }) => body.path)).toEqual(below)
  for (const request of again) connection.reply(request, Create2Response, created(request.body.path!))
  await world.settle()
  expect(making.status).toBe('fulfilled')
})

test('ZooKeeper.ensurePath makes persistent nodes, with its ACL, the chroot too, and takes those that exist', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  const making = outcome(zk.ensurePath('/a', { acl: READ_ACL_UNSAFE }))
  const made = await connection.expectAll(OpCode.create2, OpCode.create2)
  expect(made.map(({ body }) => [body.path, body.flags, body.acl?.[0]?.perms])).toEqual([
    ['/app', 0, 1],
    ['/app/a', 0, 1],
  ])
  connection.fail(made[0], 'NodeExists')
  connection.reply(made[1], Create2Response, created('/app/a'))
  await world.settle()
  expect(making.status).toBe('fulfilled')
})

test('ZooKeeper.ensurePath rejects at a server that cannot make persistent nodes, and asks for nothing else', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const making = outcome(zk.ensurePath('/a'))
  connection.fail(await connection.expect(OpCode.create2), 'Unimplemented')
  await connection.expectNothing()
  expect(making.error).toMatchObject({ code: 'Unimplemented', path: '/a' })
})

test('ZooKeeper.ensureContainer rejects where nothing more is there than before', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const making = outcome(zk.ensureContainer('/a/b'))
  for (const request of await connection.expectAll(OpCode.createContainer, OpCode.createContainer)) {
    connection.fail(request, 'NoNode')
  }
  await connection.expectNothing()
  expect(making.error).toMatchObject({ code: 'NoNode', path: '/a' })
})

test('ZooKeeper.ensureContainer goes step by step where fewer may wait than there are nodes', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { advanced: { maxWaiting: 1 } })
  const making = outcome(zk.ensureContainer('/a/b/c'))
  for (const path of ['/a', '/a/b', '/a/b/c']) {
    const request = await connection.expect(OpCode.createContainer)
    expect(request.body.path).toBe(path)
    connection.reply(request, Create2Response, created(path))
  }
  await world.settle()
  expect(making.status).toBe('fulfilled')
})

test('ZooKeeper.ensureContainer has one timeout for all that it does', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const making = outcome(zk.ensureContainer('/a/b', { timeout: 1_000 }))
  const [a, b] = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
  connection.fail(a, 'ThrottledOp')
  connection.fail(b, 'NoNode')
  await world.advance(900)
  connection.reply(await connection.expect(OpCode.createContainer), Create2Response, created('/a'))
  await connection.expect(OpCode.createContainer)
  await world.advance(99)
  expect(making.status).toBe('pending')
  await world.advance(1)
  expect(making.error).toMatchObject({ code: 'RequestTimeout', path: '/a/b' })
})

test('ZooKeeper.ensureContainer of the root rejects when it is aborted', async () => {
  const { zk } = await connected(new VirtualWorld())
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(zk.ensureContainer('/', { signal })).rejects.toBe(signal.reason)
})

test('ZooKeeper.ensureContainer of the root rejects once the client is closed', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  void zk.close()
  connection.reply(await connection.expect(OpCode.closeSession))
  await world.settle()
  const making = outcome(zk.ensureContainer('/'))
  await world.settle()
  expect(making.error).toMatchObject({ code: 'Closed' })
})

test('ZooKeeper.create with parents sends what it was given, whatever becomes of that meanwhile', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const data = Buffer.from('data')
  const acl = [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]
  const above = [{ perms: 3, id: { scheme: 'world', id: 'anyone' } }]
  outcome(zk.create('/a/b', data, { acl, parents: { acl: above } }))
  data.fill(0)
  acl[0] = above[0] = { perms: 31, id: { scheme: 'digest', id: 'a:b' } }
  const first = await connection.expect(OpCode.create2)
  connection.fail(first, 'NoNode')
  const container = await connection.expect(OpCode.createContainer)
  expect(container.body.acl).toEqual([{ perms: 3, id: { scheme: 'world', id: 'anyone' } }])
  connection.reply(container, Create2Response, created('/a'))
  const again = await connection.expect(OpCode.create2)
  expect(text(again.body.data)).toBe('data')
  expect(again.body).toEqual(first.body)
})

test('ZooKeeper.create with parents makes what is above the chroot for the chroot itself', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app/x' })
  const creating = outcome(zk.create('/', 'data', { parents }))
  await refuse(connection)
  const above = await connection.expect(OpCode.createContainer)
  expect(above.body.path).toBe('/app')
  connection.reply(above, Create2Response, created('/app'))
  const again = await connection.expect(OpCode.create2)
  expect([again.body.path, text(again.body.data)]).toEqual(['/app/x', 'data'])
  connection.reply(again, Create2Response, created('/app/x'))
  await world.settle()
  expect(creating.value.path).toBe('/')
})

test('ZooKeeper.create with parents makes the chroot for a sequential node right below it', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  outcome(zk.create('/', '', { parents, mode: 'PERSISTENT_SEQUENTIAL' }))
  await refuse(connection)
  expect((await connection.expect(OpCode.createContainer)).body.path).toBe('/app')
})

test('ZooKeeper.create rejects where the nodes above would take too long a request for their ACL', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { advanced: { maxRequestSize: 4_096 } })
  const acl = [{ perms: 31, id: { scheme: 'digest', id: 'x'.repeat(5_000) } }]
  const creating = outcome(zk.create('/a/b', '', { parents: { acl } }))
  await refuse(connection)
  await refuse(connection)
  await connection.expectNothing()
  expect(creating.error).toBeInstanceOf(RangeError)
})
