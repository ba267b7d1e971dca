// What a server does not know: it says so ahead of all that was asked before, and closes the connection.
import { Create2Response, MultiResponse, OpCode, SetDataResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { op } from '../src/index.ts'
import { connected, created, outcome, reconnected, someStat, VirtualWorld } from './support/index.ts'

test('KeeperError of an operation that the server does not know says from when on servers do', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const asked = outcome(zk.whoAmI())
  connection.fail(await connection.expect(OpCode.whoAmI), 'Unimplemented', -1n)
  await world.settle()
  expect(asked.error).toMatchObject({ code: 'Unimplemented', op: 'whoAmI', outcomeUnknown: false })
  expect((asked.error as Error).message).toMatch(/does not know the operation: servers know it from 3\.7\.0 on$/)
})

test('KeeperError says that a TTL must be enabled, alone and in a multi', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const options = { mode: 'PERSISTENT_WITH_TTL', ttl: 5 } as const
  const calls = [
    outcome(zk.create('/a', '', options)),
    outcome(zk.multi([op.check('/'), op.create('/a', '', options)])),
  ]
  const [create, multi] = await connection.expectAll(OpCode.createTTL, OpCode.multi)
  connection.fail(create, 'Unimplemented')
  connection.reply(multi, MultiResponse, [
    { type: OpCode.error, response: { err: 0 } },
    { type: OpCode.error, response: { err: -6 } },
  ])
  await world.settle()
  for (const { error } of calls) {
    expect(error).toMatchObject({ code: 'Unimplemented', path: '/a' })
    expect((error as Error).message).toMatch(/from 3\.5\.3 on, and only with zookeeper\.extendedTypesEnabled=true$/)
  }
  expect(connection.isClosed).toBe(false)
})

test('SessionMachine knows an answer that overtakes others: Unimplemented', async () => {
  const world = new VirtualWorld()
  const { zk, server, connection } = await connected(world)
  const [write, asked, read] = [outcome(zk.setData('/a', '')), outcome(zk.multiRead([])), outcome(zk.exists('/a'))]
  const [, multiRead] = await connection.expectAll(OpCode.setData, OpCode.multiRead, OpCode.exists)
  connection.fail(multiRead, 'Unimplemented', -1n)
  await world.settle()
  expect(asked.error).toMatchObject({ code: 'Unimplemented', op: 'multiRead' })
  expect([write.status, read.status, connection.isClosed]).toEqual(['pending', 'pending', false])

  // Then the connection goes, and only what was not refused is repeated.
  const second = await reconnected(world, { server, connection })
  expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
  await second.expectAll(OpCode.sync, OpCode.exists)
  await second.expectNothing()
})

test('SessionMachine takes the answers to what was overtaken, if they still come', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const [first, asked, last] = [outcome(zk.setData('/a', '')), outcome(zk.whoAmI()), outcome(zk.create('/b'))]
  const [setData, whoAmI, create] = await connection.expectAll(OpCode.setData, OpCode.whoAmI, OpCode.create2)
  connection.together(() => {
    connection.fail(whoAmI, 'Unimplemented', -1n)
    connection.reply(setData, SetDataResponse, { stat: someStat })
    connection.reply(create, Create2Response, created('/b'))
  })
  await world.settle()
  expect([first.status, asked.status, last.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('SessionMachine takes no other answer out of order', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const calls = [outcome(zk.setData('/a', '')), outcome(zk.whoAmI())]
  const [, whoAmI] = await connection.expectAll(OpCode.setData, OpCode.whoAmI)
  connection.fail(whoAmI, 'NoNode')
  await world.settle()
  expect(connection.isClosed).toBe(true)
  expect(calls[0]!.error).toMatchObject({ code: 'ConnectionLoss' })
})

test('SessionMachine forgets a request that was abandoned, when it is refused out of order', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const abort = new AbortController()
  const [write, asked] = [outcome(zk.setData('/a', '')), outcome(zk.whoAmI({ signal: abort.signal }))]
  const [setData, whoAmI] = await connection.expectAll(OpCode.setData, OpCode.whoAmI)
  abort.abort(new Error('enough'))
  await world.settle()
  expect(asked.error).toBe(abort.signal.reason)
  connection.fail(whoAmI, 'Unimplemented', -1n)
  connection.reply(setData, SetDataResponse, { stat: someStat })
  await world.settle()
  expect([write.status, connection.isClosed]).toEqual(['fulfilled', false])
})
