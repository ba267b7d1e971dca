// What programs log: `JSON.stringify` throws at a bigint, and makes {} of an error.
import { describe, expect, test } from 'vitest'
import { ErrorResponse, GetDataResponse, OpCode } from '@zk/wire'
import { ConnectError, formatDetachedSession, KeeperError, parseDetachedSession } from '../src/index.ts'
import { DetachedSession } from '../src/session/protocol/detached-session.ts'
import { connected, nodeData, outcome, VirtualWorld } from './support/index.ts'

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('KeeperError in JSON has all that it says', () => {
  const about = {
    op: 'multi',
    path: '/a',
    server: 'zk1:2181',
    index: 1,
    results: ['Ok', 'NoAuth'] as const,
    needs: 'READ',
  }
  const error = new KeeperError('NoAuth', { ...about, sessionId: -1n, outcomeUnknown: true, cause: new Error('other') })
  expect(parsed({ error })).toEqual({
    error: {
      name: 'KeeperError',
      message: error.message,
      code: 'NoAuth',
      number: -102,
      ...about,
      sessionId: '0xffffffffffffffff',
      outcomeUnknown: true,
    },
  })
})

test('ConnectError in JSON says what happened at each server', () => {
  const error = new ConnectError([{ server: 'zk1:2181', attempts: 2, error: new Error('refused') }], 1_000)
  expect(parsed(error)).toEqual({
    name: 'ConnectError',
    message: error.message,
    code: 'NoServerReached',
    servers: [{ server: 'zk1:2181', attempts: 2, error: 'refused' }],
  })
})

test('Stat in JSON has its zxids and its owner as text', async () => {
  const { zk, connection } = await connected(new VirtualWorld())
  const reading = outcome(zk.getData('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await connection.expectNothing()
  const { stat } = reading.value
  expect(parsed(stat)).toEqual({
    ...stat,
    czxid: `0x${stat.czxid.toString(16)}`,
    mzxid: `0x${stat.mzxid.toString(16)}`,
    pzxid: `0x${stat.pzxid.toString(16)}`,
    ephemeralOwner: `0x${stat.ephemeralOwner.toString(16)}`,
  })
})

test('NodeEvent in JSON has its zxid as text, which servers from 3.9 on send', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const reading = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  const watch = outcome(zk.watch('/a'))
  connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
  await world.settle()
  connection.event('NodeDataChanged', '/a', { zxid: 0x1fn })
  await world.settle()
  const events = [await reading.value.changed, (await watch.value.next()).value]
  for (const event of events) {
    expect(event).toEqual({ type: 'NodeDataChanged', path: '/a', zxid: 0x1fn })
    expect(parsed(event)).toEqual({ type: 'NodeDataChanged', path: '/a', zxid: '0x1f' })
  }
})

test('KeeperError and the errors of ConnectError survive JSON as copies of their fields', () => {
  const certificate = { raw: 1n, issuerCertificate: {} }
  certificate.issuerCertificate = certificate
  const error = Object.assign(new Error('refused'), { cert: certificate })
  expect(parsed(Object.assign({}, new ConnectError([{ server: 'zk1:2281', attempts: 1, error }], 5)))).toMatchObject({
    servers: [{ server: 'zk1:2281', error: 'refused' }],
  })
  const keeperError = new KeeperError('NoNode', { sessionId: 5n, path: '/a' })
  expect(keeperError.sessionId).toBe(5n)
  // The json reporter of Mocha copies what is not enumerable, too.
  const copy = Object.fromEntries(
    Object.entries(Object.getOwnPropertyDescriptors(keeperError)).map(([key, { value }]) => [key, value as unknown]),
  )
  expect(parsed(copy)).toMatchObject({ code: 'NoNode', path: '/a' })
})

describe('DetachedSession', () => {
  const passwd = Uint8Array.from({ length: 16 }, (_, index) => index * 17)
  const session = new DetachedSession({ id: -5n, passwd, lastZxid: 77n, shortestTimeout: 4_000, lastXid: 12 })

  test('in JSON has no password', () => {
    const text = JSON.stringify(session)
    expect(JSON.parse(text)).toEqual({
      id: '0xfffffffffffffffb',
      lastZxid: '0x4d',
      shortestTimeout: 4_000,
      lastXid: 12,
    })
  })

  test('as text is read by another process', () => {
    const text = formatDetachedSession(session)
    const read = parseDetachedSession(JSON.parse(JSON.stringify(text)) as string)
    expect(read).toEqual(session)
    expect(read.passwd).toEqual(passwd)
    expect(text).toMatch(/^zk-session:1:/)
  })

  test('with the largest numbers there are is read by another process', () => {
    const largest = { id: 2n ** 63n - 1n, lastZxid: 2n ** 63n - 1n, shortestTimeout: 2 ** 31 - 1, lastXid: 2 ** 31 - 1 }
    const read = parseDetachedSession(
      formatDetachedSession(new DetachedSession({ ...largest, passwd: new Uint8Array() })),
    )
    expect(read).toMatchObject(largest)
    expect(read.passwd).toHaveLength(0)
  })

  test.each([
    '',
    'zk-session:2:0x1:0x1:0:0:00',
    'zk-session:1:0x1:0x1:0:0:secret',
    'zk-session:1:1:0x1:0:0:00',
    null,
    5,
  ])('is not read from %o, and the error does not show it', (text) => {
    const parse = () => parseDetachedSession(text as string)
    expect(parse).toThrow(
      new TypeError('the text of a session must be what formatDetachedSession gave: it begins with zk-session:1:'),
    )
  })
})
