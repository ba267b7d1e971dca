// Secrets that must not be readable by accident (S26): passwords, keys, the passwd of a session. In no object that a user holds.
import diagnostics from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { ErrorCode, OpCode, SetSASLResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { connect, type ConnectOptions, digestMd5 } from '../src/index.ts'
import { FakeServer, outcome, VirtualWorld } from './support/index.ts'

const passwd = new TextEncoder().encode('SECRET-of-session')
const pem = 'SECRET-key'
const bytes = (text: string) => new TextEncoder().encode(text)

/** Also as bytes, in either way that these are shown. */
const forms = ['SECRET', '53 45 43 52 45 54', '83, 69, 67, 82, 69, 84', btoa('SECRET')]

function expectNoSecret(shown: unknown): void {
  const all = inspect(shown, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null })
  const json = JSON.stringify(shown, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? ''
  for (const form of forms) expect(all + json + String(shown)).not.toContain(form)
}

const secrets = {
  auth: [{ scheme: 'digest', auth: 'ann:SECRET' }],
  tls: { key: pem, cert: pem, passphrase: 'SECRET' },
  sasl: digestMd5({ username: 'bob', password: 'SECRET' }),
} satisfies ConnectOptions

const challenge = bytes('realm="zk-sasl-md5",nonce="n",charset=utf-8,algorithm=md5-sess')

test('ZooKeeper, Session and their errors show no secret, before, during and after authentication (S26)', async () => {
  const anomalies: unknown[] = []
  const note = (anomaly: unknown) => anomalies.push(anomaly)
  diagnostics.subscribe('zk:anomaly', note)
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  // A server's proof is not what this is about: any will do.
  const sasl = { name: 'ANY', start: () => ({ first: bytes('SECRET'), step: () => undefined }) }
  const connecting = outcome(connect('zk1:2181', { runtime: world, ...secrets, sasl }))
  const first = await server.accept({ passwd })
  first.reply(await first.expect(OpCode.sasl), SetSASLResponse, { token: null })
  first.reply(await first.expect(OpCode.auth))
  await world.settle()
  const zk = connecting.value
  expectNoSecret([zk, zk.session, zk.session.connection])
  const failing = outcome(zk.create('/a', 'x'))
  await first.expect(OpCode.create2)
  first.event(99, '/a')
  first.rst()
  await world.advance(1_000)
  expectNoSecret(failing.error)
  const second = await server.accept({ passwd })
  const more = outcome(zk.addAuth('digest', 'eve:SECRET'))
  second.reply(await second.expect(OpCode.sasl), SetSASLResponse, { token: null }, { err: ErrorCode.AuthFailed })
  await world.settle()
  expectNoSecret([more.error, zk, zk.session, zk.session.signal.reason])
  expect(anomalies).not.toEqual([])
  expectNoSecret(anomalies)
  diagnostics.unsubscribe('zk:anomaly', note)
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
