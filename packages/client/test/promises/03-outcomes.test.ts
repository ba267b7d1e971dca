// Promise 3: an error says whether it may have happened.
import { Create2Response, GetDataResponse, MultiResponse, OpCode, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { KeeperError, op, type ZooKeeper } from '../../src/index.ts'
import {
  connected,
  created,
  type FakeConnection,
  nodeData,
  outcome,
  reconnected,
  replyFrame,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000

type Call = (zk: ZooKeeper) => Promise<unknown>
type OpCodes = Parameters<FakeConnection['expect']>[0]

const writes: [string, Call, OpCodes][] = [
  ['create', (zk) => zk.create('/a'), OpCode.create2],
  ['create of a container', (zk) => zk.create('/a', '', { mode: 'CONTAINER' }), OpCode.createContainer],
  ['delete', (zk) => zk.delete('/a'), OpCode.delete],
  ['setData', (zk) => zk.setData('/a', ''), OpCode.setData],
  ['setACL', (zk) => zk.setACL('/a', [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]), OpCode.setACL],
  ['multi', (zk) => zk.multi([op.check('/a')]), OpCode.multi],
]

const repeatables: [string, Call, OpCodes][] = [
  ['getData', (zk) => zk.getData('/a'), OpCode.getData],
  ['getDataAndWatch', (zk) => zk.getDataAndWatch('/a'), OpCode.getData],
  ['exists', (zk) => zk.exists('/a'), OpCode.exists],
  ['existsAndWatch', (zk) => zk.existsAndWatch('/a'), OpCode.exists],
  ['getChildren', (zk) => zk.getChildren('/a'), OpCode.getChildren2],
  ['getChildrenAndWatch', (zk) => zk.getChildrenAndWatch('/a'), OpCode.getChildren2],
  ['getACL', (zk) => zk.getACL('/a'), OpCode.getACL],
  ['sync', (zk) => zk.sync('/a'), OpCode.sync],
]

describe('What was sent when the connection broke', () => {
  test.each(writes)('ZooKeeper never sends a %s twice: it rejects, outcome unknown (S08)', async (_, call, opCode) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const write = outcome(call(zk))
    await connection.expect(opCode)
    connection.rst()
    await world.settle()
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    await world.advance(1_000)
    const second = await server.accept()
    await second.expect(OpCode.sync)
    await second.expectNothing()
  })

  test.each(repeatables)('ZooKeeper repeats a sent %s by itself (S08)', async (_, call, opCode) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const read = outcome(call(zk))
    const { body } = await connection.expect(opCode)
    const second = await reconnected(world, { server, connection })
    expect(read.status).toBe('pending')
    const repeated = await second.expect(opCode)
    expect(repeated.body).toEqual(body)
    second.fail(repeated, 'NoAuth')
    await world.settle()
    expect(read.error).toMatchObject({ code: 'NoAuth', outcomeUnknown: false })
  })

  test('ZooKeeper repeats sent reads ahead of what was not sent, both in call order', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const paths = ['/sent1', '/sent2', '/sent3']
    for (const path of paths) outcome(zk.getData(path))
    await connection.expectAll(OpCode.getData, OpCode.getData, OpCode.getData)
    connection.rst()
    await world.settle()
    for (const path of ['/unsent1', '/unsent2']) outcome(zk.getData(path))
    await world.advance(1_000)
    const second = await server.accept()
    const seen: (string | null)[] = []
    for (let count = 0; count < 5; count++) seen.push((await second.expect(OpCode.getData)).body.path)
    expect(seen).toEqual([...paths, '/unsent1', '/unsent2'])
  })

  test('ZooKeeper repeats a read as often as connections break', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const read = outcome(zk.getData('/a'))
    await connection.expect(OpCode.getData)
    let last = connection
    for (let losses = 0; losses < 5; losses++) {
      last = await reconnected(world, { server, connection: last })
      const request = await last.expect(OpCode.getData)
      if (losses === 4) last.reply(request, GetDataResponse, nodeData('at last'))
    }
    await world.settle()
    expect(new TextDecoder().decode(read.value.data)).toBe('at last')
  })
})

describe('What was not sent', () => {
  test('ZooKeeper sends it on the next connection of the same session, writes too, in call order (S09)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const create = outcome(zk.create('/a'))
    outcome(zk.getData('/a'))
    outcome(zk.delete('/a'))
    await world.advance(1_000)
    const second = await server.accept()
    const [request] = await second.expectAll(OpCode.create2, OpCode.getData, OpCode.delete)
    second.reply(request, Create2Response, created('/a'))
    await world.settle()
    expect(create.value.path).toBe('/a')
  })

  test('ZooKeeper counts what the socket did not take as unsent', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.stopReading()
    const taken = outcome(zk.create('/taken'))
    await world.settle()
    const held = outcome(zk.create('/held'))
    await world.settle()
    connection.rst()
    await world.advance(1_000)
    expect(taken.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(held.status).toBe('pending')
    const second = await server.accept()
    await second.expect(OpCode.sync)
    expect((await second.expect(OpCode.create2)).body.path).toBe('/held')
  })

  test('ZooKeeper rejects it with outcomeUnknown false when its own time ends first (S09)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    server.refuse()
    connection.rst()
    await world.settle()
    const write = outcome(zk.create('/a', '', { timeout: 5_000 }))
    await world.advance(4_999)
    expect(write.status).toBe('pending')
    await world.advance(1)
    expect(write.error).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: false })
    server.listen()
    await world.advance(11_000)
    const second = await server.accept()
    await second.expectNothing()
  })
})

describe('A sync after a write of unknown outcome', () => {
  test('ZooKeeper sends a sync ahead of repeated reads', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.getData('/a'))
    outcome(zk.create('/b'))
    await connection.expectAll(OpCode.getData, OpCode.create2)
    const second = await reconnected(world, { server, connection })
    expect(second.segments).toEqual([['connect'], ['sync', 'getData']])
  })

  test('ZooKeeper sends it also for a write that its caller had given up', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.create('/b', '', { timeout: 10 }))
    await connection.expect(OpCode.create2)
    await world.advance(10)
    const second = await reconnected(world, { server, connection })
    expect(second.segments).toEqual([['connect'], ['sync']])
  })

  test('ZooKeeper sends none where every write was answered, or none was sent', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.create('/b'))
    connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/b'))
    outcome(zk.getData('/a'))
    await connection.expect(OpCode.getData)
    connection.rst()
    await world.settle()
    outcome(zk.create('/c'))
    await world.advance(1_000)
    const second = await server.accept()
    expect(second.segments).toEqual([['connect'], ['getData', 'create2']])
  })

  test('ZooKeeper owes it until it is answered, and not longer', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.create('/b'))
    await connection.expect(OpCode.create2)
    const second = await reconnected(world, { server, connection })
    await second.expect(OpCode.sync)
    const third = await reconnected(world, { server, connection: second })
    third.reply(await third.expect(OpCode.sync), SyncResponse, { path: '/' })
    const fourth = await reconnected(world, { server, connection: third })
    expect(fourth.segments).toEqual([['connect']])
  })

  test.each<[string, (connection: FakeConnection, xid: number) => void]>([
    ['cannot be read', (connection, xid) => connection.raw(replyFrame({ xid }))],
    [
      'is over maxResponseSize',
      (connection, xid) => {
        const head = replyFrame({ xid })
        head.set([0x7f, 0xff, 0xff, 0xff])
        connection.raw(head)
        connection.rst()
      },
    ],
  ])('ZooKeeper sends it after a write whose answer %s', async (_, answer) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const write = outcome(zk.create('/b'))
    const { xid } = await connection.expect(OpCode.create2)
    answer(connection, xid)
    await world.advance(1_000)
    expect(write.error).toMatchObject({ outcomeUnknown: true })
    const second = await server.accept()
    expect(second.segments).toEqual([['connect'], ['sync']])
  })
})

describe('outcomeUnknown is true exactly for a sent write without an answer', () => {
  test.each<[string, OpCodes, boolean, Call]>([
    ['create', OpCode.create2, true, (zk) => zk.create('/a', '', { timeout: 100 })],
    ['multi', OpCode.multi, true, (zk) => zk.multi([op.check('/a')], { timeout: 100 })],
    ['getData', OpCode.getData, false, (zk) => zk.getData('/a', { timeout: 100 })],
    ['sync', OpCode.sync, false, (zk) => zk.sync('/a', { timeout: 100 })],
  ])('KeeperError RequestTimeout of a sent %s', async (_, opCode, outcomeUnknown, call) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const late = outcome(call(zk))
    await connection.expect(opCode)
    await world.advance(100)
    expect(late.error).toMatchObject({ code: 'RequestTimeout', outcomeUnknown })
  })

  /** A sent write, a sent read, a write that is still here; in this order. */
  async function threeCalls(world: VirtualWorld, { zk, connection }: { zk: ZooKeeper; connection: FakeConnection }) {
    const sentWrite = outcome(zk.create('/sent', '', { timeout: Infinity }))
    const sentRead = outcome(zk.getData('/sent', { timeout: Infinity }))
    await connection.expectAll(OpCode.create2, OpCode.getData)
    connection.stopReading()
    outcome(zk.exists('/fills the socket', { timeout: Infinity }))
    await world.settle()
    const unsentWrite = outcome(zk.create('/unsent', '', { timeout: Infinity }))
    await world.settle()
    return () =>
      [sentWrite, sentRead, unsentWrite].map(({ error }) => KeeperError.is(error) && [error.code, error.outcomeUnknown])
  }

  test('KeeperError SessionExpired in an answer is no unknown outcome; that of a write behind it is', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const answered = outcome(zk.create('/a'))
    const behind = outcome(zk.create('/b'))
    const [request] = await connection.expectAll(OpCode.create2, OpCode.create2)
    connection.fail(request, 'SessionExpired')
    await world.settle()
    expect(answered.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(behind.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: true })
  })

  test('KeeperError SessionExpired of local expiry knows what had been sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { localExpiry: 1 }, sessionTimeout: T })
    const errors = await threeCalls(world, { zk, connection })
    // The whole process stood still, so the connection was never found dead.
    world.stall(T)
    await world.settle()
    expect(errors()).toEqual([
      ['SessionExpired', true],
      ['SessionExpired', false],
      ['SessionExpired', false],
    ])
  })

  test('KeeperError AuthFailed knows what had been sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const errors = await threeCalls(world, { zk, connection })
    connection.raw(replyFrame({ xid: -4, zxid: 0n, err: 'AuthFailed' }))
    await world.settle()
    expect(errors()).toEqual([
      ['AuthFailed', true],
      ['AuthFailed', false],
      ['AuthFailed', false],
    ])
  })

  test('KeeperError Closed knows what had been sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const errors = await threeCalls(world, { zk, connection })
    outcome(zk.close())
    await world.advance(T / 2)
    expect(errors()).toEqual([
      ['Closed', true],
      ['Closed', false],
      ['Closed', false],
    ])
  })

  test('KeeperError ConnectionLoss is for the write that was sent alone; the others go on', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const errors = await threeCalls(world, { zk, connection })
    const second = await reconnected(world, { server, connection })
    expect(errors()).toEqual([['ConnectionLoss', true], false, false])
    expect(second.segments).toEqual([['connect'], ['sync', 'getData', 'exists', 'create2']])
  })

  test('KeeperError of an answer is never of unknown outcome', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const create = outcome(zk.create('/a', '', { repeatThrottled: false }))
    const multi = outcome(zk.multi([op.check('/a'), op.create('/b')]))
    const [createRequest, multiRequest] = await connection.expectAll(OpCode.create2, OpCode.multi)
    connection.fail(createRequest, 'ThrottledOp')
    connection.reply(multiRequest, MultiResponse, [
      { type: OpCode.error, response: { err: 0 } },
      { type: OpCode.error, response: { err: -110 } },
    ])
    await world.settle()
    expect(create.error).toMatchObject({ code: 'ThrottledOp', outcomeUnknown: false })
    expect(multi.error).toMatchObject({ code: 'NodeExists', index: 1, outcomeUnknown: false })
  })

  test('KeeperError states in words that it may have happened', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.create('/a'))
    await connection.expect(OpCode.create2)
    connection.rst()
    await world.settle()
    expect((write.error as Error).message).toMatch(
      /^create \/a: ConnectionLoss \(server zk1:2181, session 0x1001\): .*may have happened/,
    )
  })
})

describe('SessionMoved', () => {
  test('ZooKeeper takes it for a lost connection: the write is unknown, the read behind it repeated (S11)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const write = outcome(zk.create('/a'))
    const read = outcome(zk.getData('/a'))
    const [request] = await connection.expectAll(OpCode.create2, OpCode.getData)
    connection.fail(request, 'SessionMoved')
    await world.settle()
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(connection.isClosed).toBe(true)
    await world.advance(1_000)
    const second = await server.accept()
    const [, repeated] = await second.expectAll(OpCode.sync, OpCode.getData)
    second.reply({ xid: repeated.xid - 1 }, SyncResponse, { path: '/' })
    second.reply(repeated, GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })
})

describe('A request that is too long', () => {
  test('ZooKeeper refuses it with its size and the limit, and sends nothing (W26)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const write = outcome(zk.setData('/a', new Uint8Array(1_048_576)))
    await world.settle()
    expect(write.error).toBeInstanceOf(RangeError)
    expect((write.error as Error).message).toMatch(
      /^setData \/a: the request takes 1048598 bytes, over maxRequestSize of 1048575/,
    )
    await connection.expectNothing()
  })

  test('ZooKeeper sends one of exactly the limit (W26)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const overhead = 1_048_598 - 1_048_576
    outcome(zk.setData('/a', new Uint8Array(1_048_575 - overhead)))
    expect((await connection.expect(OpCode.setData)).size).toBe(1_048_575)
  })
})
