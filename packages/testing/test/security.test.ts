// TLS, certificates and SASL of the ensemble for tests, by the real client over TCP.
import { inspect } from 'node:util'
import { connect, ConnectError, digestMd5, KeeperError, type LogFunction, Perms } from '@zk/client'
import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { TestEnsemble, TestServer, type TestEnsembleOptions } from '../src/index.ts'
import { Authority } from '../../client/test/support/certificates.ts'
import { Bench, node } from './support/bench.ts'

const authority = new Authority()
const ca = authority.cert
const own = authority.forHosts('127.0.0.1', 'localhost')
const users = { bob: 'secret', jürgen: 'Paßwort', 密: '码' }
const only = (scheme: string, id: string) => [{ perms: Perms.ALL, id: { scheme, id } }]

describe('TestEnsemble with tls', () => {
  test('TestEnsemble speaks TLS at every port, and faults and controls work as ever', async () => {
    await using ensemble = await TestEnsemble.start({ tls: own })
    await using zk = await connect(ensemble.connectString, { tls: { ca } })
    await zk.create('/a', 'x')
    const lost = ensemble.faults.loseReply({ op: 'create', path: '/b' })
    await expect(zk.create('/b')).rejects.toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(lost.count).toBe(1)
    const reset = ensemble.faults.loseReply({ op: 'create', path: '/c', connection: 'reset' })
    await expect(zk.create('/c')).rejects.toMatchObject({ code: 'ConnectionLoss' })
    expect(reset.count).toBe(1)
    const { server } = zk.session.connection ?? (await zk.getData('/a'), zk.session.connection!)
    ensemble.members.find(({ address }) => address === server)!.kill()
    await ensemble.serving()
    expect((await zk.getChildren('/')).children.sort()).toEqual(['a', 'b', 'c', 'zookeeper'])
  })

  test('TestEnsemble.close ends connections that are still in the handshake', async () => {
    const server = await TestServer.start({ tls: own })
    const net = await import('node:net')
    const { port } = server
    const socket = net.connect({ port, host: '127.0.0.1' }).on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    await server.close()
    await new Promise((resolve) => socket.once('close', resolve))
  })

  test('TestServer knows a client by its certificate, for ACLs of the scheme x509', async () => {
    await using server = await TestServer.start({ tls: { ...own, ca, requestCert: true } })
    await using alice = await connect(server.connectString, { tls: { ca, ...authority.forClient('alice') } })
    await using mallory = await connect(server.connectString, { tls: { ca, ...authority.forClient('mallory') } })
    await alice.create('/hers', 'x', { acl: only('x509', 'CN=alice,O=tests') })
    expect((await alice.getData('/hers')).stat.version).toBe(0)
    await expect(mallory.getData('/hers')).rejects.toMatchObject({ code: 'NoAuth' })
    // One attempt must be told. On a busy machine others may run out of time before.
    const told = new AbortController()
    const logger: LogFunction = (_level, _message, { err }) => {
      if (/client certificate/.test(String(err))) told.abort()
    }
    const nobody = connect(server.connectString, { tls: { ca }, logger, signal: told.signal })
    await expect(nobody).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('TestServer refuses options of TLS that it does not know', async () => {
    const options = { tls: { ...own, pem: 'x' } } as TestEnsembleOptions
    await expect(TestServer.start(options)).rejects.toThrow('tls: unknown option pem; known are cert, key')
  })
})

describe('TestServer with sasl', () => {
  test.each(Object.entries(users))(
    'TestServer lets in %s by SASL, for ACLs of the scheme sasl',
    async (username, password) => {
      await using server = await TestServer.start({ sasl: { users } })
      await using zk = await connect(server.connectString, { sasl: digestMd5({ username, password }) })
      await zk.create('/his', 'x', { acl: only('sasl', username) })
      await zk.create('/too', 'x', { acl: only('auth', '') })
      expect((await zk.getACL('/too')).acl).toEqual(only('sasl', username))
      await using other = await connect(server.connectString)
      await expect(other.getData('/his')).rejects.toMatchObject({ code: 'NoAuth' })
      expect((await zk.getData('/his')).stat.version).toBe(0)
    },
  )

  test.each([
    ['another password', { username: 'bob', password: 'wrong-secret' }],
    ['another name', { username: 'eve', password: 'wrong-secret' }],
    ['another realm', { username: 'bob', password: 'secret', realm: 'wrong-secret' }],
    ['another service', { username: 'bob', password: 'secret', digestUri: 'imap/zk' }],
  ])('TestServer refuses %s, which ends the client', async (_, credentials) => {
    await using server = await TestServer.start({ sasl: { users } })
    const error = await connect(server.connectString, { sasl: digestMd5(credentials) }).catch((error: unknown) => error)
    expect(KeeperError.is(error, 'AuthFailed')).toBe(true)
    expect(inspect(error, { depth: Infinity })).not.toContain('secret')
    expect(server.history.requests({ op: 'sasl' })).toHaveLength(2)
  })

  test('TestServer lets the superUser do everything', async () => {
    await using server = await TestServer.start({ sasl: { users, superUser: 'bob' } })
    server.nodes.create('/closed', { acl: only('digest', 'no:body') })
    await using zk = await connect(server.connectString, { sasl: digestMd5({ username: 'bob', password: 'secret' }) })
    expect((await zk.getData('/closed')).stat.version).toBe(0)
  })

  test('ZooKeeper authenticates before it sends its credentials, its watches and what waits, on every connection (S12)', async () => {
    await using server = await TestServer.start({ sasl: { users, required: true } })
    await using zk = await connect(server.connectString, {
      sasl: digestMd5({ username: 'bob', password: 'secret' }),
      auth: [{ scheme: 'digest', auth: 'ann:pass' }],
    })
    await zk.create('/a')
    await zk.getDataAndWatch('/a')
    server.faults.drop({ op: 'exists' })
    await zk.exists('/a')
    await zk.getData('/a')
    const second = server.history.requests().filter(({ connection }) => connection === 2)
    expect(second.map(({ message }) => message.op)).toEqual(['sasl', 'sasl', 'auth', 'setWatches', 'getData'])
  })

  test('TestServer that requires SASL does nothing for others, and says so', async () => {
    await using server = await TestServer.start({ sasl: { users, required: true } })
    const zk = await connect(server.connectString)
    await expect(zk.getData('/')).rejects.toMatchObject({ code: 'SessionClosedRequireSaslAuth', outcomeUnknown: false })
    await expect(zk.getData('/')).rejects.toMatchObject({ code: 'SessionClosedRequireSaslAuth' })
    await zk.close()
  })

  test('connect reports that a server does not support SASL', async () => {
    await using server = await TestServer.start()
    const sasl = digestMd5({ username: 'bob', password: 'secret' })
    const error = await connect(server.connectString, { sasl, connectTimeout: 3_000 }).catch((error: unknown) => error)
    expect(ConnectError.is(error)).toBe(true)
    expect(String(error)).toContain('the server does not know SASL')
  })

  test('ACLs of the schemes sasl and x509 are invalid where these are not set up', async () => {
    await using server = await TestServer.start()
    await using zk = await connect(server.connectString)
    for (const acl of [only('sasl', 'bob'), only('x509', 'CN=alice')]) {
      await expect(zk.create('/a', '', { acl })).rejects.toMatchObject({ code: 'InvalidACL' })
    }
  })

  test('ServerConnection takes any first token, and refuses a client that goes on when the exchange is over', () => {
    const bench = new Bench({ members: 1, sasl: { users } })
    const eager = bench.connect()
    eager.ask('sasl', { token: new TextEncoder().encode('username="bob"') })
    expect(eager.replies).toMatchObject([{ err: ErrorCode.Ok }])
    const late = bench.connect()
    late.ask('sasl', { token: new Uint8Array(0) })
    late.ask('sasl', { token: new Uint8Array(0) })
    expect(late.replies.map(({ err }) => err)).toEqual([0, ErrorCode.AuthFailed])
  })

  test('ServerConnection answers whatever is asked too early that it wants SASL, a ping too', () => {
    for (const [op, request, xid] of [
      ['create', node('/a'), 1],
      ['ping', {}, -2],
    ] as const) {
      const client = new Bench({ members: 1, sasl: { users, required: true } }).connect()
      client.ask(op as 'create', request as ReturnType<typeof node>, xid)
      expect(client.replies).toMatchObject([{ xid, zxid: 0n, err: ErrorCode.SessionClosedRequireSaslAuth }])
      expect(client.closed).toBe('end')
    }
  })

  test.each([
    [{}, /sasl\.users must be passwords by the names/],
    [{ users: { 'bob@x': 'secret' } }, /sasl\.users: "bob@x" must be a name without/],
    [{ users: { bob: 5 } }, /the password of "bob" must be a string/],
    [{ users, superUser: 'eve' }, /sasl\.superUser must be one of sasl\.users, not "eve"/],
    [{ users, required: 1 }, /sasl\.required must be true or false/],
    [{ users, mechanism: 'PLAIN' }, /sasl: unknown option mechanism/],
  ])('TestServer refuses %o', async (sasl, message) => {
    const options = { sasl } as unknown as TestEnsembleOptions
    await expect(TestServer.start(options)).rejects.toThrow(message)
  })
})
