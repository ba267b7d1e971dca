// TLS, certificates, SASL and ACLs of real servers: one port for both plain and TLS (client.portUnification).
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { connect, ConnectError, digestMd5, KeeperError, Perms } from '@zk/client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Ensemble } from '../src/ensemble/index.ts'
import { Authority } from '../../packages/client/test/support/certificates.ts'
import { runOn, runtimes } from './support/runtimes.ts'
import { shared } from './support/shared-ensemble.ts'
import { startZk } from './support/zk-command.ts'

const authority = new Authority()
const ca = authority.cert
const server = authority.forHosts('127.0.0.1', 'localhost')
const alice = authority.forClient('alice')
const users = { bob: 'secret', root: 'almighty', jürgen: 'Paßwort', 密: '码' }
const bob = { username: 'bob', password: users.bob }
const wrong = { username: 'bob', password: 'wrong-secret' }

const jaas = [
  'Server {',
  '  org.apache.zookeeper.server.auth.DigestLoginModule required',
  ...Object.entries(users).map(([name, password]) => `  user_${name}="${password}"`),
  '  ;',
  '};',
].join('\n')

const files = {
  '/secrets/server.pem': server.key + server.cert,
  '/secrets/ca.pem': ca,
  '/secrets/jaas.conf': jaas,
}

const auth = 'org.apache.zookeeper.server.auth'
/** Settings of zoo.cfg. */
const settings = {
  serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
  'client.portUnification': 'true',
  'ssl.keyStore.location': '/secrets/server.pem',
  'ssl.keyStore.type': 'PEM',
  'ssl.trustStore.location': '/secrets/ca.pem',
  'ssl.trustStore.type': 'PEM',
  'authProvider.x509': `${auth}.X509AuthenticationProvider`,
  'authProvider.sasl': `${auth}.SASLAuthenticationProvider`,
}
const flags = ['-Djava.security.auth.login.config=/secrets/jaas.conf', '-Dzookeeper.superUser=root']

function start(nodes: number, own: Readonly<Record<string, string>>): Promise<Ensemble> {
  const lines = Object.entries({ ...settings, ...own }).map(([name, value]) => `${name}=${value}`)
  return Ensemble.start({
    nodes,
    files,
    environment: { ZOO_CFG_EXTRA: lines.join(' '), SERVER_JVMFLAGS: flags.join(' ') },
  })
}

/** DigestAuthenticationProvider.generateDigest */
const digestOf = (user: string, password: string) =>
  `${user}:${createHash('sha1').update(`${user}:${password}`).digest('base64')}`

const only = (scheme: string, id: string) => [{ perms: Perms.ALL, id: { scheme, id } }]

async function failure(connectString: string, options: Parameters<typeof connect>[1]): Promise<Error> {
  const error = await connect(connectString, { connectTimeout: 4_000, ...options }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/secret|almighty|PRIVATE KEY/)
  return error as Error
}

const worker = fileURLToPath(new URL('../dist/workers/secure.js', import.meta.url))

describe.skipIf(shared === undefined)('real servers', () => {
  let ensemble: Ensemble
  /** One server that requires certificates on TLS connections, and SASL from every client. */
  let strict: Ensemble

  beforeAll(async () => {
    ensemble = await start(3, { 'ssl.clientAuth': 'want' })
    strict = await start(1, { 'ssl.clientAuth': 'need', sessionRequireClientSASLAuth: 'true' })
  }, 240_000)

  afterAll(async () => {
    await Promise.all([ensemble?.stop(), strict?.stop()])
  })

  test('connect speaks TLS with a server, and goes on with another when that is killed', async () => {
    await using zk = await connect(ensemble.connectString, { tls: async () => ({ ca }), sasl: digestMd5(bob) })
    const { id, connection } = zk.session
    await zk.create('/tls', 'x', { mode: 'EPHEMERAL' })
    const node = ensemble.nodes.find(({ address }) => address === connection!.server)!
    await node.kill()
    expect((await zk.getData('/tls')).stat.ephemeralOwner).toBe(id)
    await node.start()
    await ensemble.healed()
  })

  test('ZooKeeper has the identity of its certificate in ACLs of the scheme x509', async () => {
    await using zk = await connect(ensemble.connectString, { tls: { ca, ...alice } })
    await zk.create('/x509', 'x', { acl: only('x509', 'CN=alice,O=tests') })
    expect((await zk.getData('/x509')).stat.version).toBe(0)
    await using other = await connect(ensemble.connectString, { tls: { ca } })
    await expect(other.getData('/x509')).rejects.toMatchObject({ code: 'NoAuth' })
  })

  test.each(Object.entries(users))(
    'ZooKeeper authenticates as %s by DIGEST-MD5, for ACLs of the scheme sasl',
    async (username, password) => {
      const path = `/sasl-${username}`
      await using zk = await connect(ensemble.connectString, { sasl: digestMd5({ username, password }) })
      await zk.create(path, 'x', { acl: only('auth', '') })
      expect((await zk.getACL(path)).acl).toContainEqual(only('sasl', username)[0])
      expect((await zk.getData(path)).stat.version).toBe(0)
      await using plain = await connect(ensemble.connectString)
      await expect(plain.getData(path)).rejects.toMatchObject({ code: 'NoAuth' })
    },
  )

  test('ZooKeeper has all its identities at once, and the superUser has all permissions', async () => {
    const options = { tls: { ca, ...alice }, sasl: digestMd5(bob), auth: [{ scheme: 'digest', auth: 'ann:pass' }] }
    await using zk = await connect(ensemble.connectString, options)
    await zk.create('/all', '', { acl: only('auth', '') })
    const { acl } = await zk.getACL('/all')
    expect(acl.map(({ id }) => id.scheme).sort()).toEqual(['digest', 'sasl', 'x509'])
    const root = digestMd5({ username: 'root', password: users.root })
    await using superUser = await connect(ensemble.connectString, { sasl: root })
    await superUser.create('/closed', '', { acl: only('digest', 'no:body') })
    expect((await superUser.getData('/closed')).stat.version).toBe(0)
  })

  test('ZooKeeper has its identities and its watches again, over TLS, when its server is killed (S12)', async () => {
    const options = { tls: { ca, ...alice }, sasl: digestMd5(bob), auth: [{ scheme: 'digest', auth: 'ann:pass' }] }
    await using zk = await connect(ensemble.connectString, { ...options, sessionTimeout: 10_000 })
    const { id, connection } = zk.session
    const paths = await Promise.all(
      [only('x509', 'CN=alice,O=tests'), only('sasl', 'bob'), only('digest', digestOf('ann', 'pass'))].map(
        async (acl, index) => (await zk.create(`/mine-${index}`, '', { acl, mode: 'EPHEMERAL' })).path,
      ),
    )
    const watched = await Promise.all(paths.map((path) => zk.getDataAndWatch(path)))
    const events = await zk.watch(paths[0]!)
    const node = ensemble.nodes.find(({ address }) => address === connection!.server)!
    const lost = once(connection!.signal, 'abort')
    await node.kill()
    // A request sent before the client notices would have an unknown outcome.
    await lost
    const stats = await Promise.all(paths.map((path) => zk.setData(path, 'after')))
    expect(stats.map(({ version, ephemeralOwner }) => [version, ephemeralOwner])).toEqual(paths.map(() => [1, id]))
    expect(await Promise.all(watched.map(({ changed }) => changed))).toEqual(
      paths.map((path) => ({ type: 'NodeDataChanged', path })),
    )
    expect((await events.next()).value).toMatchObject({ type: 'Gap', cause: 'reconnected' })
    expect((await events.next()).value).toMatchObject({ type: 'NodeDataChanged', path: paths[0] })
    await node.start()
    await ensemble.healed()
  })

  test('ZooKeeper writes and reads data of maximal length over TLS, many at once', async () => {
    await using zk = await connect(ensemble.connectString, { tls: { ca } })
    const data = new Uint8Array(1_048_000).map((_, index) => index % 251)
    const paths = Array.from({ length: 8 }, (_, index) => `/large-${index}`)
    await Promise.all(paths.map((path) => zk.create(path, data, { mode: 'EPHEMERAL' })))
    const read = await Promise.all(paths.map((path) => zk.getData(path)))
    for (const each of read) expect(Buffer.compare(each.data, data)).toBe(0)
  })

  test('digestMd5 with another authorizationId is still the user to a server', async () => {
    await using zk = await connect(ensemble.connectString, { sasl: digestMd5({ ...bob, authorizationId: 'root' }) })
    await zk.create('/authorized', '', { acl: only('auth', '') })
    expect((await zk.getACL('/authorized')).acl).toEqual(only('sasl', 'bob'))
  })

  test.each([
    ['the password is wrong', wrong],
    ['the user is unknown', { ...wrong, username: 'eve' }],
    ['the realm is another', { ...wrong, password: users.bob, realm: 'elsewhere' }],
  ])('connect rejects with AuthFailed when %s', async (_, credentials) => {
    const error = await failure(ensemble.connectString, { sasl: digestMd5(credentials) })
    expect(KeeperError.is(error, 'AuthFailed')).toBe(true)
  })

  test('connect reports that the servers do not support SASL, or TLS', async () => {
    const { connectString } = Ensemble.attach(shared!.description)
    const withSasl = await failure(connectString, { sasl: digestMd5(bob) })
    expect(withSasl).toBeInstanceOf(ConnectError)
    expect(withSasl.message).toContain('the server does not know SASL')
    const withTls = await failure(connectString, { tls: { ca } })
    expect(withTls.message).toContain('may not speak TLS on this port')
  })

  test('connect reports untrusted certificates, and a server that requires one', async () => {
    const stranger = new Authority('another')
    expect((await failure(ensemble.connectString, { tls: { ca: stranger.cert } })).message).toContain('is not trusted')
    const tls = { ca, servername: 'zk.example' }
    expect((await failure(ensemble.connectString, { tls })).message).toContain('is for another')
    expect((await failure(strict.connectString, { tls: { ca } })).message).toMatch(/certificate/)
    const unknown = { ca, ...stranger.forClient('alice') }
    expect((await failure(strict.connectString, { tls: unknown })).message).toMatch(/certificate/)
  })

  test('ZooKeeper without SASL rejects every call with the reason at a server that requires SASL; with SASL it works', async () => {
    const zk = await connect(strict.connectString)
    await expect(zk.getData('/')).rejects.toMatchObject({ code: 'SessionClosedRequireSaslAuth', outcomeUnknown: false })
    await expect(zk.getData('/')).rejects.toMatchObject({ code: 'SessionClosedRequireSaslAuth' })
    await zk.close()
    const error = await failure(strict.connectString, { sasl: digestMd5(wrong) })
    expect(KeeperError.is(error, 'AuthFailed')).toBe(true)
    await using other = await connect(strict.connectString, { sasl: digestMd5(bob), tls: { ca, ...alice } })
    expect((await other.getData('/')).stat.ephemeralOwner).toBe(0n)
  })

  test('zk takes certificates and passwords from files, the environment and a profile, and says what is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'zk-security-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const expired = authority.issue({ subject: [['CN', 'alice']], days: [-9, -2] })
    const secrets = {
      ca,
      cert: alice.cert,
      key: alice.key,
      'old-cert': expired.cert,
      'old-key': expired.key,
      'other-ca': new Authority('another').cert,
      sasl: `bob:${users.bob}\n`,
      'wrong-sasl': 'bob:wrong-secret',
      ann: 'ann:pass',
      ben: 'ben:pass',
    }
    await Promise.all(Object.entries(secrets).map(([name, text]) => writeFile(join(folder, name), text)))
    const at = (name: keyof typeof secrets | 'nothing') => join(folder, name)
    await using root = await connect(ensemble.connectString)
    const acls = {
      '/of-alice': only('x509', 'CN=alice,O=tests'),
      '/of-bob': only('sasl', 'bob'),
      '/of-ann': only('digest', digestOf('ann', 'pass')),
      '/of-ben': only('digest', digestOf('ben', 'pass')),
    }
    for (const [path, acl] of Object.entries(acls)) await root.create(path, path, { acl })
    const { nodes } = Ensemble.attach(shared!.description)

    const tls = ['--tls-ca', at('ca'), '--tls-cert', at('cert'), '--tls-key', at('key')]
    const zk = async (
      words: string[],
      code: number,
      said: string | RegExp,
      variables = {},
      input = '',
      servers = ensemble.nodes,
    ) => {
      const run = startZk(servers, '', [...words, '--timeout', '3s'], input, {
        environment: { XDG_CONFIG_HOME: folder, ...variables },
      })
      expect([words, await run.ended], run.output()).toEqual([words, code])
      expect(run.output()).toMatch(said)
      expect(run.output()).not.toMatch(/secret|almighty|PRIVATE KEY/)
    }
    const get = ['get', '/of-bob']
    const variables = { ZK_SASL: `bob:${users.bob}`, ZK_TLS_CA: at('ca') }
    await Promise.all([
      zk(['get', '/of-alice', ...tls], 0, '/of-alice'),
      zk(['words', 'srvr', ...tls], 0, 'Mode: '),
      zk(['get', '/of-alice', '--tls-ca', at('ca')], 77, 'NoAuth'),
      zk([...get, '--sasl-file', at('sasl')], 0, '/of-bob'),
      zk(get, 0, '/of-bob', variables),
      zk([...get, '--sasl-file', at('wrong-sasl')], 77, 'AuthFailed', variables),
      zk(
        ['shell', '--auth-file', at('ann'), '--auth-file', at('ben')],
        0,
        '/of-ann/of-ben',
        {},
        'get /of-ann\nget /of-ben',
      ),
      zk([...get, '--tls-ca', at('other-ca')], 77, /is not trusted.*--tls-ca/),
      zk([...get, '--tls-ca', at('ca'), '--tls-server-name', 'zk.example'], 77, /another host name.*--tls-server-name/),
      zk([...get, '--tls-ca', at('ca'), '--tls-cert', at('old-cert'), '--tls-key', at('old-key')], 77, /certificate/),
      zk([...get, ...tls], 69, 'may not speak TLS on this port', {}, '', nodes),
    ])
    await Promise.all([
      zk([...get, '--tls-ca', at('nothing')], 64, /nothing cannot be read: ENOENT/),
      zk([...get, '--tls-ca', at('sasl')], 64, 'sasl has no certificate in PEM'),
      zk([...get, '--tls-cert', at('cert')], 64, '--tls-cert needs --tls-key, too'),
      zk(
        [...get, '--tls-cert', at('cert'), '--tls-key', at('old-key')],
        64,
        'old-key is not the key of the certificate',
      ),
      zk([...get, '--sasl-file', at('ca')], 64, 'ca must be USER:PASSWORD'),
    ])
    await zk(
      ['profile', 'add', 'bob', '-c', ensemble.connectString, '--sasl-file', at('sasl'), '--tls-ca', at('ca')],
      0,
      '',
    )
    await zk([...get, '--profile', 'bob'], 0, '/of-bob', { ZK_CONNECT: '127.0.0.1:1' })
    await zk(['profile', 'use', 'bob'], 0, '')
    await zk(get, 0, '/of-bob', { ZK_CONNECT: '' })
    expect(await readFile(join(folder, 'zk/profiles.json'), 'utf8')).not.toContain('secret')
  })

  test.each(runtimes.map((runtime) => [runtime.name, runtime] as const))(
    'connect speaks TLS and SASL on %s, and reports errors',
    async (_, runtime) => {
      const said = async (notified: object) =>
        (await runOn(runtime, worker, JSON.stringify({ connectString: ensemble.connectString, ...notified }))).trim()
      const connectTimeout = 1_500
      expect(await said({ tls: { ca } })).toBe('connected')
      expect(await said({ tls: { ca, ...alice }, sasl: bob })).toBe('connected')
      expect(await said({ sasl: wrong })).toBe('AuthFailed')
      expect(await said({ tls: { ca: new Authority('another').cert }, connectTimeout })).toContain('is not trusted')
      expect(await said({ tls: { ca, servername: 'zk.example' }, connectTimeout })).toContain('is for another')
      const { connectString } = Ensemble.attach(shared!.description)
      expect(await said({ connectString, tls: { ca }, connectTimeout })).toMatch(/may not speak TLS/)
    },
  )
})
