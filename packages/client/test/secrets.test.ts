// Secrets that must not be readable by accident (S26): passwords, keys, the passwd of a session. In no object that a user holds.
import { ErrorCode, OpCode, SetSASLResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import {
  connect,
  type ConnectOptions,
  digestMd5,
  formatACL,
  formatDetachedSession,
  generateDigest,
  parseACL,
  parseDetachedSession,
} from '../src/index.ts'
import { connected, FakeServer, outcome, VirtualWorld } from './support/index.ts'
import { errorTexts, Seen, textsOf } from './support/seen.ts'
import { thrownBy } from './support/thrown.ts'

const passwd = new TextEncoder().encode('SECRET-of-session')
const pem = 'SECRET-key'
const bytes = (text: string) => new TextEncoder().encode(text)

/** Also as bytes, in either way that these are shown. */
const forms = ['SECRET', '53 45 43 52 45 54', '83, 69, 67, 82, 69, 84', btoa('SECRET')]

function expectNoSecret(shown: unknown): void {
  const all = [...textsOf(shown), ...errorTexts(shown)].join('\n')
  for (const form of forms) expect(all).not.toContain(form)
}

const secrets = {
  auth: [{ scheme: 'digest', auth: 'ann:SECRET' }],
  tls: { key: pem, cert: pem, passphrase: 'SECRET' },
  sasl: digestMd5({ username: 'bob', password: 'SECRET' }),
} satisfies ConnectOptions

const challenge = bytes('realm="zk-sasl-md5",nonce="n",charset=utf-8,algorithm=md5-sess')

const acl = [{ perms: 31, id: { scheme: 'digest', id: 'ann:SECRET' } }]

test('ZooKeeper shows no secret in an object, an error, a log line or a channel, whatever happens (S26)', async () => {
  using seen = new Seen()
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  // A server's proof is not what this is about: any will do.
  const sasl = { name: 'ANY', start: () => ({ first: bytes('SECRET'), step: () => undefined }) }
  const session = { id: 0x2an, passwd: bytes('SECRET-of-before') }
  const options = { runtime: world, ...secrets, sasl, session, logger: seen.logger, advanced: { traceFrames: true } }
  const connecting = outcome(connect('zk1:2181', options))
  const first = await server.accept({ passwd })
  first.reply(await first.expect(OpCode.sasl), SetSASLResponse, { token: null })
  first.reply(await first.expect(OpCode.auth))
  await world.settle()
  const zk = connecting.value
  expectNoSecret([zk, zk.session, zk.session.connection, zk.state, zk.stats()])
  const refused = outcome(zk.create('/a', 'x', { acl }))
  first.fail(await first.expect(OpCode.create2), 'InvalidACL')
  const failing = outcome(zk.setACL('/a', acl))
  await first.expect(OpCode.setACL)
  first.event(99, '/a')
  first.rst()
  await world.advance(1_000)
  expectNoSecret([zk, zk.state])
  const second = await server.accept({ passwd })
  const more = outcome(zk.addAuth('digest', 'eve:SECRET'))
  const wrong = outcome((async () => zk.addAuth('digest', { SECRET: 1 } as never))())
  second.reply(await second.expect(OpCode.sasl), SetSASLResponse, { token: null }, { err: ErrorCode.AuthFailed })
  await world.settle()
  expectNoSecret([zk, zk.session, zk.state, zk.stats()])
  for (const { error } of [refused, failing, more, wrong]) {
    expect(error).toBeInstanceOf(Error)
    expectNoSecret(error)
  }
  expectNoSecret(zk.session.signal.reason)
  expect(seen.lines.length).toBeGreaterThan(10)
  expect(new Set(seen.values.map((value) => typeof value))).toEqual(new Set(['object']))
  expectNoSecret(seen.lines)
  expectNoSecret(seen.values)
})

test('ZooKeeper.detach gives a session that shows no secret, until it is formatted (S26)', async () => {
  using seen = new Seen()
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world, {
    handshake: { passwd },
    logger: seen.logger,
    advanced: { traceFrames: true },
  })
  const detaching = outcome(zk.detach())
  connection.fail(await connection.expect(OpCode.sync), 'Ok')
  await world.settle()
  expectNoSecret([detaching.value, new Error('x', { cause: detaching.value }), zk, zk.state])
  expectNoSecret(seen.lines)
  expectNoSecret(seen.values)
  const text = formatDetachedSession(detaching.value)
  const secret = Buffer.from(passwd).toString('hex')
  expect(text).toContain(secret)
  for (const spoiled of [`${text}SECRET`, text.slice(1), `SECRET${text}`, text.replaceAll(':', ';')]) {
    const error = thrownBy(() => parseDetachedSession(spoiled))
    expectNoSecret(error)
    for (const shown of [...textsOf(error), ...errorTexts(error)]) expect(shown).not.toContain(secret)
  }
})

test.each([
  ['refused', { token: null }, ErrorCode.AuthFailed],
  ['let in all the same', { token: null }, ErrorCode.Ok],
  ['deceived', { token: bytes('rspauth=00') }, ErrorCode.Ok],
])('connect shows no secret when it is %s (S26)', async (_, last, err) => {
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  const connecting = outcome(connect('zk1:2181', { runtime: world, ...secrets, connectTimeout: 1 }))
  const connection = await server.accept({ passwd })
  connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: challenge })
  const { body, xid } = await connection.expect(OpCode.sasl)
  expect(body.token).not.toBeNull()
  expectNoSecret(Buffer.from(body.token ?? []).toString())
  connection.reply({ xid }, SetSASLResponse, last, { err })
  await world.advance(1)
  expect(connecting.status).toBe('rejected')
  expectNoSecret(connecting.error)
})

test.each<[string, unknown]>([
  ['auth', [{ scheme: 'digest', auth: { SECRET: 1 } }]],
  ['auth', [{ scheme: '', auth: 'SECRET' }]],
  ['auth', 'SECRET'],
  ['tls', 'SECRET'],
  ['tls', { key: 'SECRET' }],
  ['tls', { passphrase: ['SECRET'] }],
  ['sasl', 'SECRET'],
])('connect shows no secret when %s cannot be right (S26)', async (name, value) => {
  const error = await connect('zk1', { [name]: value }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(TypeError)
  expectNoSecret(error)
})

test.each([
  'zk://joe:SECRET@zk1:2181/app',
  'joe:SECRET@zk1:2181/app',
  'SECRET@zk1',
  'digest:joe:SECRET',
  'digest:joe:SECRET@zk1:2181',
  'digest!joe:SECRET!zk1:2181',
  'digest!joe!SECRET!zk1:2181',
  'zk1:2181;password=SECRET',
  'zk1:2181,joe:SECRET',
  'zk1:2181,zk2:2181,joe:SECRET@zk3:2181',
  'zk1:2181|SECRET',
  'zk1:2181 SECRET',
  '"SECRET"',
  'zk1:SECRET',
  'zk1/SECRET/',
  'zk1//SECRET',
  'zk1/app,joe:SECRET@zk2:2181/app,zk2:2181',
  '[SECRET',
  'zk1?password=SECRET',
  'jdbc:zk1:2181?user=joe&password=SECRET',
])('connect and updateServers show no secret when the connect string is %s', async (text) => {
  const error = await connect(text).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(TypeError)
  expectNoSecret(error)
  const { zk } = await connected(new VirtualWorld())
  expectNoSecret(thrownBy(() => zk.updateServers(text)))
})

test.each<[string, () => unknown]>([
  ['parseACL', () => parseACL('digest:joe:SECRET:x')],
  ['parseACL', () => parseACL('world:anyone:r,SECRET')],
  ['parseACL', () => parseACL('digest:joe:SECRET')],
  ['formatACL', () => formatACL([{ perms: 99, id: { scheme: 'digest', id: 'joe:SECRET' } }])],
  ['formatACL', () => formatACL([{ perms: 1, id: { scheme: 'digest', id: 'joe,SECRET' } }])],
  ['digestMd5', () => digestMd5({ username: '', password: 'SECRET' })],
  ['digestMd5', () => digestMd5({ username: 'joe', password: ['SECRET'] as never })],
  ['digestMd5', () => digestMd5('SECRET' as never)],
  ['generateDigest', () => generateDigest('joe:SECRET', () => 'SECRET' as never)],
])('%s shows no secret in its error', (_, call) => {
  const error = thrownBy(call)
  expect(error).toBeInstanceOf(Error)
  expectNoSecret(error)
})

test.each<[string, unknown]>([
  ['of a wrong type', { id: 1n, passwd: 'SECRET' }],
  ['without an id', { passwd: bytes('SECRET') }],
  ['as text', 'SECRET'],
  ['with a wrong zxid', { id: 1n, passwd: bytes('SECRET'), lastZxid: -1n }],
])('connect shows no secret of a session %s', async (_, session) => {
  const error = await connect('zk1', { session: session as never }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  expectNoSecret(error)
})
