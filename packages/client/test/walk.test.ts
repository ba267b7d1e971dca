// walk and deleteRecursive among servers that are not as they should be; among others they are tested in @zk/testing.
import { GetChildren2Response, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { deleteRecursive, ProtocolError, walk } from '../src/index.ts'
import { children, connected, outcome, VirtualWorld } from './support/index.ts'

const impossible = ['', '.', '..', 'a/b', '../a', 'a\u0000', '\ufffd']

test.each(impossible)('walk rejects when a server calls a child %j', async (name) => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const nodes = walk(zk, '/a')
  const first = outcome(nodes.next())
  connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, children('fine', name))
  await world.settle()
  expect(first.error).toMatchObject({ code: 'InvalidResponse', op: 'walk', path: '/a', outcomeUnknown: false })
  expect(ProtocolError.is((first.error as Error).cause)).toBe(true)
  const second = outcome(nodes.next())
  await world.settle()
  expect(second.value.done).toBe(true)
  await connection.expectNothing()
})

test.each(impossible)('deleteRecursive rejects when a server calls a child %j, and deletes nothing', async (name) => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const deleting = outcome(deleteRecursive(zk, '/a'))
  connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, children('fine', name))
  await world.settle()
  expect(deleting.error).toMatchObject({ code: 'InvalidResponse' })
  await connection.expectNothing()
})

// Its loop is slower than the reads, or faster, or both in turns. Leaves and branches are side by side.
test.each([1, 2, 3])('walk reads %i nodes at a time, however slow its loop is', async (concurrency) => {
  for (const pauses of [[0], [1], [5], [1, 0], [0, 0, 2]]) {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const nodes = walk(zk, '/a', { concurrency })
    let largest = 0
    let read = 0
    for (let next = outcome(nodes.next()); !(next.status === 'fulfilled' && next.value.done); read++) {
      for (let turn = 0; next.status === 'pending' || turn < pauses[read % pauses.length]!; turn++) {
        await world.settle()
        largest = Math.max(largest, zk.stats().flow.inFlight)
        if (zk.stats().flow.inFlight === 0) break
        const request = await connection.expect(OpCode.getChildren2)
        const { path } = request.body as { path: string }
        const isBranch = path.length < 8 && !path.endsWith('c')
        connection.reply(request, GetChildren2Response, isBranch ? children('b', 'c', 'd') : children())
        await world.settle()
      }
      if (next.status === 'fulfilled' && !next.value.done) next = outcome(nodes.next())
      await world.settle()
    }
    expect(largest).toBe(concurrency)
    expect(read).toBeGreaterThan(20)
  }
})

test('walk that is left between two nodes reads no more, also when it is asked again', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const nodes = walk(zk, '/a', { concurrency: 1 })
  const first = outcome(nodes.next())
  connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, children('b', 'c'))
  const ahead = await connection.expect(OpCode.getChildren2)
  expect(first.value.value?.path).toBe('/a')
  await nodes.return?.()
  connection.reply(ahead, GetChildren2Response, children())
  await world.settle()
  const second = outcome(nodes.next())
  await connection.expectNothing()
  expect(second.value.done).toBe(true)
})

test('walk that is left while a node is read reads no more', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const nodes = walk(zk, '/a')
  const first = outcome(nodes.next())
  const request = await connection.expect(OpCode.getChildren2)
  await nodes.return?.()
  connection.reply(request, GetChildren2Response, children('b', 'c'))
  await connection.expectNothing()
  const second = outcome(nodes.next())
  await world.settle()
  expect([first.value.done, second.value.done]).toEqual([true, true])
})

test("walk leaves out the servers' own nodes, and none whose name begins like theirs", async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const nodes = walk(zk, '/', { concurrency: 1 })
  const first = outcome(nodes.next())
  connection.reply(
    await connection.expect(OpCode.getChildren2),
    GetChildren2Response,
    children('zookeeper', 'zookeeper-backup'),
  )
  const { body } = await connection.expect(OpCode.getChildren2)
  expect(first.value.value?.path).toBe('/')
  expect(body).toMatchObject({ path: '/zookeeper-backup' })
})
