// One call has failed, and the others are aborted with its error: that says nothing of them.
import { Create2Response, ErrorCode, GetChildren2Response, MultiResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { deleteRecursive, KeeperError, walk, type ZooKeeper } from '../src/index.ts'
import { children, connected, created, outcome, VirtualWorld } from './support/index.ts'

type Call = (zk: ZooKeeper, signal: AbortSignal) => Promise<unknown>

const { create2, createContainer, getChildren2, multi } = OpCode

async function started(call: Call) {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const controller = new AbortController()
  return { world, connection, controller, done: outcome(call(zk, controller.signal)) }
}

async function seen(nodes: ReturnType<typeof walk>): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of nodes) paths.push(path)
  return paths
}

describe('A call that is aborted with the error of another rejects with it', () => {
  test.each<
    [
      string,
      'NoNode' | 'NodeExists' | 'Unimplemented',
      (typeof create2 | typeof createContainer | typeof getChildren2)[],
      Call,
    ]
  >([
    ['create with parents', 'NoNode', [create2], (zk, signal) => zk.create('/a/b', '', { parents: true, signal })],
    [
      'ensureContainer',
      'NodeExists',
      [createContainer, createContainer],
      (zk, signal) => zk.ensureContainer('/a/b', { signal }),
    ],
    ['ensureContainer', 'NoNode', [createContainer], (zk, signal) => zk.ensureContainer('/a', { signal })],
    ['ensureContainer', 'Unimplemented', [createContainer], (zk, signal) => zk.ensureContainer('/a', { signal })],
    ['walk', 'NoNode', [getChildren2], (zk, signal) => seen(walk(zk, '/a', { signal }))],
    ['deleteRecursive', 'NoNode', [getChildren2], (zk, signal) => deleteRecursive(zk, '/a', { signal })],
  ])('ZooKeeper.%s with %s', async (_, code, asked, call) => {
    const { world, connection, controller, done } = await started(call)
    await connection.expectAll(...asked)
    controller.abort(new KeeperError(code))
    await connection.expectNothing()
    await world.settle()
    expect(done.error).toBe(controller.signal.reason)
  })

  test('ZooKeeper.create with parents, while these are made', async () => {
    const { world, connection, controller, done } = await started((zk, signal) =>
      zk.create('/a/b/c', '', { parents: true, signal }),
    )
    connection.fail(await connection.expect(create2), 'NoNode')
    const [a] = await connection.expectAll(createContainer, createContainer)
    connection.reply(a, Create2Response, created('/a'))
    await world.settle()
    controller.abort(new KeeperError('NoNode'))
    await connection.expectNothing()
    expect(done.error).toBe(controller.signal.reason)
  })

  test.each(['ConnectionLoss', 'NoNode'] as const)(
    'deleteRecursive while a batch is under way, with %s',
    async (code) => {
      const { connection, controller, done } = await started((zk, signal) => deleteRecursive(zk, '/a', { signal }))
      connection.reply(await connection.expect(getChildren2), GetChildren2Response, children())
      await connection.expect(multi)
      controller.abort(new KeeperError(code))
      await connection.expectNothing()
      expect(done.error).toBe(controller.signal.reason)
    },
  )

  test('deleteRecursive while the nodes of a refused batch are deleted one by one, with NoNode', async () => {
    const { connection, controller, done } = await started((zk, signal) => deleteRecursive(zk, '/a', { signal }))
    connection.reply(await connection.expect(getChildren2), GetChildren2Response, children())
    const batch = await connection.expect(multi)
    connection.reply(batch, MultiResponse, [{ type: OpCode.error, response: { err: ErrorCode.NotEmpty } }])
    await connection.expect(OpCode.delete)
    controller.abort(new KeeperError('NoNode'))
    await connection.expectNothing()
    expect(done.error).toBe(controller.signal.reason)
  })
})

test('ZooKeeper leaves the reason of a signal as it is, its stack too', async () => {
  const reason = new KeeperError('NoNode')
  const { stack } = reason
  const { world, done } = await started((zk) => zk.exists('/a', { signal: AbortSignal.abort(reason) }))
  await world.settle()
  expect(done.error).toBe(reason)
  expect(reason.stack).toBe(stack)
})
