// SASL from the viewpoint of a user of connect, with the user's own mechanism.
import { ErrorCode, GetDataResponse, OpCode, SetSASLResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { connect, ConnectError, KeeperError, type SaslExchange, type SaslMechanism } from '../../src/index.ts'
import { type FakeConnection, FakeServer, nodeData, outcome, VirtualWorld } from '../support/index.ts'
import { internalsOf } from '../../src/session/session-internals.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (token: unknown) => new TextDecoder().decode(token as Uint8Array)

/** Sends a token, then another, then accepts any answer. */
const twoWords: SaslMechanism = {
  name: 'TWO-WORDS',
  start: () => {
    const words = ['me', undefined]
    return { first: bytes('let'), step: async () => (words[0] === undefined ? undefined : bytes(words.shift()!)) }
  },
}

async function expectToken(connection: FakeConnection): Promise<{ xid: number; token: string }> {
  const { xid, body } = await connection.expect(OpCode.sasl)
  return { xid, token: text(body.token) }
}

async function letIn(connection: FakeConnection): Promise<void> {
  for (const word of ['let', 'me']) {
    const asked = await expectToken(connection)
    expect(asked.token).toBe(word)
    connection.reply(asked, SetSASLResponse, { token: word === 'let' ? bytes('go on') : null })
  }
}

function world(options: Parameters<typeof connect>[1] = {}) {
  const runtime = new VirtualWorld()
  const server = FakeServer.listen(runtime, 'zk1:2181')
  const connecting = outcome(connect('zk1:2181', { runtime, sasl: twoWords, ...options }))
  return { runtime, server, connecting }
}

test('connect resolves when SASL is through and the credentials behind it are accepted', async () => {
  const { runtime, server, connecting } = world({ auth: [{ scheme: 'digest', auth: 'a:b' }] })
  const connection = await server.accept()
  await letIn(connection)
  const auth = await connection.expect(OpCode.auth)
  expect(connecting.status).toBe('pending')
  connection.reply(auth)
  await runtime.settle()
  expect(connecting.value.session.connection?.server).toBe('zk1:2181')
})

test('ZooKeeper asks the exchange of its own connection, though that of one before is ready later', async () => {
  const starts: ((exchange: SaslExchange) => void)[] = []
  const tokens: string[] = []
  const exchange = (name: string): SaslExchange => ({
    first: bytes(name),
    step: (token) => {
      tokens.push(`${name} gets ${text(token)}`)
      return undefined
    },
  })
  const slow: SaslMechanism = { name: 'SLOW', start: () => new Promise((resolve) => starts.push(resolve)) }
  const { runtime, server, connecting } = world({ sasl: slow })
  const first = await server.accept()
  first.rst()
  await runtime.advance(2_000)
  const second = await server.accept()
  starts[1]!(exchange('the second'))
  const asked = await expectToken(second)
  starts[0]!(exchange('the first'))
  await runtime.settle()
  second.reply(asked, SetSASLResponse, { token: bytes('go on') })
  await runtime.settle()
  expect(tokens).toEqual(['the second gets go on'])
  expect(connecting.status).toBe('fulfilled')
})

test('ZooKeeper proves again on every connection, before watches and what waits', async () => {
  const { runtime, server, connecting } = world()
  const first = await server.accept()
  await letIn(first)
  await runtime.settle()
  const zk = connecting.value
  const watched = outcome(zk.getDataAndWatch('/a'))
  first.reply(await first.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await runtime.settle()
  expect(watched.status).toBe('fulfilled')
  first.rst()
  await runtime.settle()
  const written = outcome(zk.setData('/a', 'y'))
  await runtime.advance(1_000)
  const second = await server.accept()
  await letIn(second)
  await second.expectAll(OpCode.setWatches, OpCode.setData)
  expect(written.status).toBe('pending')
  expect(internalsOf(zk.session).connection?.handshakeAt.now).toBeGreaterThan(0)
})

test('Connection.handshakeAt is when the handshake was sent, not a word of SASL behind it', async () => {
  const { runtime, server, connecting } = world({ sessionTimeout: 30_000 })
  const connection = await server.accept()
  await runtime.advance(3_000)
  await letIn(connection)
  await runtime.settle()
  expect(internalsOf(connecting.value.session).connection?.handshakeAt.now).toBe(0)
})

test('connect rejects with AuthFailed when SASL is refused, and the client tries no more', async () => {
  const { runtime, server, connecting } = world()
  const connection = await server.accept()
  const asked = await expectToken(connection)
  connection.reply(asked, SetSASLResponse, { token: null }, { err: ErrorCode.AuthFailed })
  await runtime.advance(60_000)
  expect(KeeperError.is(connecting.error, 'AuthFailed')).toBe(true)
  expect(runtime.dials).toHaveLength(1)
  expect(runtime.timers).toBe(0)
})

test('ZooKeeper rejects every call with AuthFailed once SASL was refused on a later connection', async () => {
  const { runtime, server, connecting } = world()
  const first = await server.accept()
  await letIn(first)
  await runtime.settle()
  const zk = connecting.value
  first.rst()
  const waiting = outcome(zk.getData('/a'))
  await runtime.advance(1_000)
  const second = await server.accept()
  second.reply(await expectToken(second), SetSASLResponse, { token: null }, { err: ErrorCode.AuthFailed })
  await runtime.settle()
  const later = outcome(zk.getData('/a'))
  await runtime.settle()
  for (const { error } of [waiting, later]) expect(KeeperError.is(error, 'AuthFailed')).toBe(true)
  expect(zk.session.signal.reason).toMatchObject({ code: 'AuthFailed' })
})

test.each<[string, SaslMechanism['start'], string]>([
  [
    'throws',
    () => {
      throw new Error('no ticket')
    },
    'no ticket',
  ],
  ['rejects', () => Promise.reject(new Error('no ticket')), 'no ticket'],
  ['throws what is no Error', () => Promise.reject('no ticket'), 'SASL ODD failed'],
  ['gives text', () => ({ first: 'x' as unknown as Uint8Array, step: () => undefined }), 'SASL ODD: a token must be'],
  ['never answers', () => new Promise(() => {}), 'SASL was not complete in time'],
])('connect tells why there is no connection when a mechanism %s', async (_, start, message) => {
  const { runtime, server, connecting } = world({ sasl: { name: 'ODD', start }, connectTimeout: 1 })
  await server.accept()
  await runtime.advance(1)
  expect(connecting.error).toBeInstanceOf(ConnectError)
  expect((connecting.error as ConnectError).servers[0]!.error.message).toContain(message)
})

test('connect does not mistake a late token for one of the next connection', async () => {
  const late: ((token: Uint8Array) => void)[] = []
  const slow: SaslMechanism = {
    name: 'SLOW',
    start: () => ({ step: () => new Promise<Uint8Array>((resolve) => late.push(resolve)) }),
  }
  const { runtime, server } = world({ sasl: slow })
  const first = await server.accept()
  first.reply(await expectToken(first), SetSASLResponse, { token: bytes('?') })
  await runtime.settle()
  first.rst()
  await runtime.advance(1_000)
  const second = await server.accept()
  const { token } = await expectToken(second)
  expect(token).toBe('')
  late[0]!(bytes('too late'))
  await second.expectNothing()
})

test.each([
  [{}, 'sasl must be a mechanism, such as digestMd5({ username, password })'],
  [{ username: 'a', password: 'secret' }, 'sasl must be a mechanism'],
  [{ start: () => ({}) }, 'sasl: the mechanism must have a name'],
])('connect refuses %o for a mechanism', async (sasl, message) => {
  const error = await connect('zk1', { sasl: sasl as SaslMechanism }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(TypeError)
  expect((error as Error).message).toContain(message)
  expect((error as Error).message).not.toContain('secret')
})

test('connect stays at a server though the last word of the mechanism took long: the silence was its own', async () => {
  const T = 3_000
  const runtime = new VirtualWorld()
  const late = () => new Promise<undefined>((resolve) => runtime.setTimer(2_100, () => resolve(undefined)))
  const sasl: SaslMechanism = { name: 'LATE', start: () => ({ first: bytes('let'), step: late }) }
  const server = FakeServer.listen(runtime, 'zk1:2181')
  const connecting = outcome(connect('zk1:2181', { runtime, sessionTimeout: T, connectTimeout: 10 * T, sasl }))
  // After two attempts that were too slow an attempt has all of T.
  for (const time of [T / 3, (2 * T) / 3]) {
    await server.connection()
    await runtime.advance(time + T / 10)
  }
  const connection = await server.accept()
  connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: bytes('go on') })
  await runtime.advance(2_200)
  expect(connecting.value.session.connection?.server).toBe('zk1:2181')
})

const noTicket: SaslMechanism = {
  name: 'NO-TICKET',
  start: () => {
    throw new Error('no ticket yet')
  },
}

test('connect goes on looking when a session is gone in which SASL was never through', async () => {
  const { runtime, server, connecting } = world({ sasl: noTicket, auth: [{ scheme: 'digest', auth: 'a:b' }] })
  await server.accept({ sessionId: 7n })
  await runtime.advance(3_000)
  const second = await server.connection()
  expect((await second.expectConnect()).sessionId).toBe(7n)
  second.expire()
  second.fin()
  await runtime.advance(3_000)
  const third = await server.connection()
  expect((await third.expectConnect()).sessionId).toBe(0n)
  expect(connecting.status).toBe('pending')
})

test('connect reports what happened at each server when its time is up, though a session was given', async () => {
  const { runtime, server, connecting } = world({ sasl: noTicket, connectTimeout: 30_000 })
  await server.accept({ timeOut: 4_000 })
  server.refuse()
  await runtime.advance(29_999)
  expect(connecting.status).toBe('pending')
  await runtime.advance(1)
  expect(connecting.error).toBeInstanceOf(ConnectError)
  expect((connecting.error as ConnectError).servers[0]!.attempts).toBeGreaterThan(3)
})
