import { GetDataResponse, MultiResponse, type MultiResult, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { KeeperError, op, type ReadOp } from '../src/index.ts'
import { connected, nodeData, outcome, reconnected, someStat, VirtualWorld } from './support/index.ts'

const error = (err: number): MultiResult => ({ type: OpCode.error, response: { err } })

test('ZooKeeper.multiRead gives each its value or its error, by position', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, { chroot: '/app' })
  const read = outcome(zk.multiRead([op.getData('/a'), op.getChildren('/a'), op.getData('/b'), op.getData('/c')]))
  const request = await connection.expect(OpCode.multiRead)
  expect(request.body).toEqual([
    { type: OpCode.getData, request: { path: '/app/a', watch: false } },
    { type: OpCode.getChildren, request: { path: '/app/a', watch: false } },
    { type: OpCode.getData, request: { path: '/app/b', watch: false } },
    { type: OpCode.getData, request: { path: '/app/c', watch: false } },
  ])
  connection.reply(request, MultiResponse, [
    { type: OpCode.getData, response: nodeData('x') },
    { type: OpCode.getChildren, response: { children: ['b', 'c'] } },
    error(-101),
    error(-999),
  ])
  await world.settle()
  const [data, names, missing, odd] = read.value
  expect(data.value).toMatchObject({ data: Uint8Array.of(120), stat: { dataLength: 1, ctime: Number(someStat.ctime) } })
  expect(names).toEqual({ value: ['b', 'c'] })
  expect(missing.error).toMatchObject({
    code: 'NoNode',
    op: 'multiRead',
    path: '/b',
    chroot: '/app',
    index: 2,
    server: 'zk1:2181',
  })
  expect(KeeperError.is(missing.error, 'NoNode') && missing.error.sessionId).toBe(zk.session.id)
  expect(odd.error).toMatchObject({ code: 'Unknown', number: -999, path: '/c', outcomeUnknown: false })
})

test('ZooKeeper.multiRead goes by the list as it was called', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const list = [op.getData('/a')]
  const read = outcome(zk.multiRead(list))
  list.length = 0
  connection.reply(await connection.expect(OpCode.multiRead), MultiResponse, [
    { type: OpCode.getData, response: nodeData('x') },
  ])
  await world.settle()
  expect(read.value).toHaveLength(1)
})

test('ZooKeeper.multiRead is a read: it is repeated on the next connection', async () => {
  const world = new VirtualWorld()
  const { zk, server, connection } = await connected(world)
  const read = outcome(zk.multiRead([op.getChildren('/a')]))
  await connection.expect(OpCode.multiRead)
  const second = await reconnected(world, { server, connection })
  const part: MultiResult = { type: OpCode.getChildren, response: { children: [] } }
  second.reply(await second.expect(OpCode.multiRead), MultiResponse, [part])
  await world.settle()
  expect(read.value).toEqual([{ value: [] }])
})

const names: MultiResult = { type: OpCode.getChildren, response: { children: [] } }
const data: MultiResult = { type: OpCode.getData, response: nodeData('x') }

test.each<[string, ReadOp<unknown>, MultiResult[]]>([
  ['too few results', op.getData('/a'), []],
  ['names in place of data', op.getData('/a'), [names]],
  ['data in place of names', op.getChildren('/a'), [data]],
  ['no names', op.getChildren('/a'), [{ type: OpCode.getChildren, response: { children: null } }]],
  ['an error that is none', op.getData('/a'), [error(0)]],
])('ZooKeeper.multiRead answered with %s costs the connection', async (_, asked, results) => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const read = outcome(zk.multiRead([asked]))
  connection.reply(await connection.expect(OpCode.multiRead), MultiResponse, results)
  await world.settle()
  expect(read.error).toMatchObject({ code: 'InvalidResponse' })
  expect(connection.isClosed).toBe(true)
})

test('ZooKeeper.multiRead refused as a whole rejects', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const read = outcome(zk.multiRead([op.getData('/a')]))
  connection.fail(await connection.expect(OpCode.multiRead), 'SessionExpired')
  await world.settle()
  expect(read.error).toMatchObject({ code: 'SessionExpired', op: 'multiRead' })
})

test('ZooKeeper.getData goes on beside it', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const reads = [outcome(zk.multiRead([])), outcome(zk.getData('/a'))]
  const [first, second] = await connection.expectAll(OpCode.multiRead, OpCode.getData)
  connection.reply(first, MultiResponse, [])
  connection.reply(second, GetDataResponse, nodeData('x'))
  await world.settle()
  expect(reads.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
})
