// TLS over real TCP on this machine: what is checked, and how a failure is reported.
import { once } from 'node:events'
import { createServer as createPlainServer, type AddressInfo, type Server, Socket } from 'node:net'
import { createServer, type TlsOptions as ServerOptions, type TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  connect,
  ConnectError,
  type ConnectOptions,
  type Runtime,
  systemRuntime,
  type TlsOptions,
} from '../src/index.ts'
import { dial } from '../src/runtime/transport.ts'
import { checkTls } from '../src/runtime/tls.ts'
import { Authority } from './support/certificates.ts'
import { handshakeFrame, replyFrame } from './support/index.ts'
import { thrownBy } from './support/thrown.ts'

const authority = new Authority()
const ca = authority.cert
const own = authority.forHosts('localhost', '127.0.0.1')
const secret = 'MIIC-do-not-print-me'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listening(server: Server): Promise<string> {
  servers.push(server)
  server.on('connection', (socket) => socket.on('error', () => {}).unref())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers every handshake, and whatever comes next as the end of the session. */
async function secure(options: ServerOptions = own, seen: (socket: TLSSocket) => void = () => {}): Promise<string> {
  const server = createServer(options, (socket) => {
    seen(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(handshakeFrame({ timeOut: 30_000, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false }))
      socket.once('data', () => socket.end(replyFrame({ xid: 1 })))
    })
  })
  server.on('tlsClientError', () => {})
  return listening(server)
}

const CONNECT_TIMEOUT = 500

/** Time stands still until the first connection is lost: a busy machine cannot make an attempt too late. Then it is over. */
function untilFirstLoss(): Runtime {
  let now = 0
  const timers = new Set<() => void>()
  return {
    ...systemRuntime,
    now: () => now,
    setTimer: (_, callback) => {
      timers.add(callback)
      return () => timers.delete(callback)
    },
    dial: (target, handler) =>
      systemRuntime.dial(target, {
        opened: () => handler.opened(),
        received: (bytes) => handler.received(bytes),
        drained: () => handler.drained(),
        lost: (error) => {
          handler.lost(error)
          now += CONNECT_TIMEOUT
          for (const timer of timers) timer()
        },
      }),
  }
}

/** What `connect` says of the one server. */
async function failure(server: string, tls: ConnectOptions['tls'], runtime = untilFirstLoss()): Promise<string> {
  const options = tls === undefined ? {} : { tls }
  const connecting = connect(server, { ...options, runtime, connectTimeout: CONNECT_TIMEOUT })
  const error = await connecting.catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ConnectError)
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(own.key.slice(30, 90))
  return (error as ConnectError).message
}

describe('connect with tls', () => {
  test('connect trusts the authority it is given, and finds the address in the certificate', async () => {
    const zk = await connect(await secure(), { tls: { ca } })
    expect(zk.session.id).toBe(5n)
    await zk.close()
  })

  test('connect sends each segment at once, and lets the system look for a dead peer', async () => {
    const noDelay = vi.spyOn(Socket.prototype, 'setNoDelay')
    const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => void vi.restoreAllMocks())
    await (await connect(await secure(), { tls: { ca } })).close()
    expect([noDelay.mock.calls, keepAlive.mock.calls]).toEqual([[[true]], [[true]]])
  })

  test('connect names the host it wants (SNI), and no address', async () => {
    const names: (string | false | null)[] = []
    const server = await secure(own, (socket) => names.push(socket.servername))
    const port = server.split(':')[1]
    for (const host of ['127.0.0.1', 'localhost']) await (await connect(`${host}:${port}`, { tls: { ca } })).close()
    const tls = { ca, servername: 'localhost' }
    await (await connect(server, { tls })).close()
    expect(names).toEqual([false, 'localhost', 'localhost'])
  })

  test('connect asks for tls.servername, and looks for it in the certificate, whatever the host', async () => {
    const asked: unknown[] = []
    const server = await secure(authority.forHosts('zk1.example'), (socket) => asked.push(socket.servername))
    const port = Number(server.split(':')[1])
    const checked: string[] = []
    const checkServerIdentity = (host: string) => void checked.push(host)
    const runtime: Runtime = {
      ...systemRuntime,
      resolve: (_, handler) => setImmediate(() => handler.found(['127.0.0.1'])),
    }
    for (const host of ['127.0.0.1', 'localhost', 'localhost.', 'zk2.example', 'zk1.example']) {
      for (const check of [{}, { checkServerIdentity }]) {
        const tls = { ca, servername: 'zk1.example', ...check }
        await (await connect(`${host}:${port}`, { tls, runtime })).close()
      }
    }
    expect(new Set(asked)).toEqual(new Set(['zk1.example']))
    expect(new Set(checked)).toEqual(new Set(['zk1.example']))
    expect([asked.length, checked.length]).toEqual([10, 5])
  })

  test('connect asks for no tls.servername that is undefined, but for the host', async () => {
    const asked: unknown[] = []
    const server = await secure(own, (socket) => asked.push(socket.servername))
    const tls = { ca, servername: undefined } as unknown as TlsOptions
    await (await connect(`localhost:${server.split(':')[1]}`, { tls })).close()
    expect(asked).toEqual(['localhost'])
  })

  test('connect sends no SNI for a name with an underscore, and looks for it in the certificate', async () => {
    const asked: unknown[] = []
    const server = await secure(authority.forHosts('my_zk_1'), (socket) => asked.push(socket.servername))
    const resolve: Runtime['resolve'] = (_, handler) => queueMicrotask(() => handler.found(['127.0.0.1']))
    const port = server.split(':')[1]
    await (await connect(`my_zk_1:${port}`, { tls: { ca }, runtime: { ...systemRuntime, resolve } })).close()
    expect(asked).toEqual([false])
    const runtime = { ...untilFirstLoss(), resolve }
    expect(await failure(`my_zk_2:${port}`, { ca }, runtime)).toMatch('another host name')
  })

  test('connect asks for a name with an umlaut, and looks for it in the certificate, in its ASCII form', async () => {
    const asked: unknown[] = []
    const server = await secure(authority.forHosts('xn--zk-wia.example'), (socket) => asked.push(socket.servername))
    const resolve: Runtime['resolve'] = (_, handler) => queueMicrotask(() => handler.found(['127.0.0.1']))
    const options = { tls: { ca }, runtime: { ...systemRuntime, resolve } }
    await (await connect(`zkä.example:${server.split(':')[1]}`, options)).close()
    expect(asked).toEqual(['xn--zk-wia.example'])
  })

  test('connect asks for the host of a fully qualified name without the dot at its end', async () => {
    const asked: unknown[] = []
    const server = await secure(own, (socket) => asked.push(socket.servername))
    const resolve: Runtime['resolve'] = (_, handler) => queueMicrotask(() => handler.found(['127.0.0.1']))
    const runtime = { ...systemRuntime, resolve }
    await (await connect(`localhost.:${server.split(':')[1]}`, { tls: { ca }, runtime })).close()
    expect(asked).toEqual(['localhost'])
  })

  test('connect gives a server that asks for it a certificate of its own', async () => {
    const client = authority.forClient('alice')
    const subjects: unknown[] = []
    const server = await secure({ ...own, ca, requestCert: true }, (socket) =>
      subjects.push(socket.getPeerCertificate().subject.CN),
    )
    await (await connect(server, { tls: { ca, ...client } })).close()
    expect(subjects).toEqual(['alice'])
  })

  test('connect accepts any certificate when configured so, or when its own check does', async () => {
    const other = new Authority('nobody').forHosts('elsewhere')
    const server = await secure(other)
    await (await connect(server, { tls: { rejectUnauthorized: false } })).close()
    const hosts: string[] = []
    const checkServerIdentity = (host: string) => void hosts.push(host)
    const elsewhere = await secure(authority.forHosts('elsewhere'))
    await (await connect(elsewhere, { tls: { ca, checkServerIdentity } })).close()
    expect(hosts).toEqual(['127.0.0.1'])
  })

  test('connect asks a function for certificates at each connection, and waits for its promise', async () => {
    let asked = 0
    const server = await secure()
    const tls = () => (++asked % 2 === 1 ? { ca } : Promise.resolve({ ca }))
    for (const times of [1, 2]) {
      await (await connect(server, { tls })).close()
      expect(asked).toBe(times)
    }
  })

  test('connect goes on to the next attempt when the function throws, rejects, hangs or gives nonsense', async () => {
    let asked = 0
    const server = await secure()
    const answers: (() => TlsOptions | Promise<TlsOptions>)[] = [
      () => {
        throw new Error('the vault is sealed')
      },
      () => Promise.reject(new Error('the vault is sealed')),
      () => ({ certificate: ca }) as TlsOptions,
      () => new Promise<TlsOptions>(() => {}),
      () => ({ ca }),
    ]
    const zk = await connect(server, { sessionTimeout: 1_000, connectTimeout: 30_000, tls: () => answers[asked++]!() })
    expect(asked).toBe(5)
    await zk.close()
  })

  test('connect reports the error of the function that never returned anything', async () => {
    const tls = () => Promise.reject(new Error('the vault is sealed'))
    expect(await failure(await secure(), tls, systemRuntime)).toMatch(
      /: the tls function of connect failed: the vault is sealed$/,
    )
  })
})

describe('ConnectError', () => {
  test('ConnectError reports a certificate without a trusted signature', async () => {
    expect(await failure(await secure(), true)).toMatch(/certificate of the server is not trusted: .* in tls\.ca \(/)
    expect(await failure(await secure(), { ca: new Authority('another').cert })).toMatch(/is not trusted: .*tls\.ca/)
  })

  test('ConnectError reports a certificate for another host or address', async () => {
    const server = await secure(authority.forHosts('zk1.example'))
    expect(await failure(server, { ca })).toMatch(/is for another host name: .*127\.0\.0\.1.*give tls\.servername/)
    const tls = { ca, servername: 'zk2.example' }
    expect(await failure(server, tls)).toMatch(/is for another host name: .*zk2\.example/)
  })

  test('ConnectError reports a certificate for another host than the name, whatever its address', async () => {
    const port = Number((await secure(authority.forHosts('zk1.example', '127.0.0.1'))).split(':')[1])
    const resolve: Runtime['resolve'] = (_, handler) => setImmediate(() => handler.found(['127.0.0.1']))
    await (await connect(`zk1.example:${port}`, { tls: { ca }, runtime: { ...systemRuntime, resolve } })).close()
    const runtime = { ...untilFirstLoss(), resolve }
    expect(await failure(`zk2.example:${port}`, { ca }, runtime)).toMatch(/is for another host name: .*zk2\.example/)
  })

  test('ConnectError reports a certificate whose time is over, or has not come', async () => {
    for (const days of [[-9, -1] as const, [1, 9] as const]) {
      const server = await secure(authority.issue({ subject: [['CN', 'zk']], hosts: ['127.0.0.1'], days }))
      expect(await failure(server, { ca })).toMatch(/is not valid at this time \(CERT_/)
    }
  })

  test('ConnectError reports a server that wants a certificate of the client', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const server = await secure({ ...own, ca, requestCert: true, maxVersion })
      expect(await failure(server, { ca })).toMatch(/client certificate.*tls\.cert/)
    }
  })

  test('ConnectError reports a server that does not accept the certificate of the client', async () => {
    const server = await secure({ ...own, ca, requestCert: true })
    const stranger = new Authority('strange').forClient('mallory')
    expect(await failure(server, { ca, ...stranger })).toMatch(
      /does not accept the certificate of this client|client certificate/,
    )
  })

  test('ConnectError reports versions that do not meet', async () => {
    const server = await secure({ ...own, maxVersion: 'TLSv1.2' })
    expect(await failure(server, { ca, minVersion: 'TLSv1.3' })).toMatch(/no version of TLS in common/)
  })

  test('ConnectError reports a server that speaks no TLS: it closes, says something else, or nothing', async () => {
    const closing = await listening(createPlainServer((socket) => socket.once('data', () => socket.end())))
    expect(await failure(closing, { ca })).toMatch(
      /closed the connection during the TLS handshake; it may not speak TLS/,
    )
    const talking = await listening(createPlainServer((socket) => socket.end('This ZooKeeper instance is not …')))
    expect(await failure(talking, { ca })).toMatch(/does not speak TLS on this port/)
    const silent = await listening(createPlainServer(() => {}))
    expect(await failure(silent, { ca }, systemRuntime)).toMatch(/no TLS handshake in time|no TCP connection in time/)
  })

  test('ConnectError of a plain client reports that the server speaks TLS', async () => {
    expect(await failure(await secure(), undefined)).toMatch(/speaks? TLS/)
  })

  test('ConnectError reports keys that cannot be read, and never what they were', async () => {
    const server = await secure()
    const broken = { cert: own.cert, key: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----` }
    const said = await failure(server, broken, systemRuntime)
    expect(said).toMatch(/TLS could not be set up: .*look at the tls options/)
    expect(said).not.toContain(secret)
    const others = { cert: own.cert, key: authority.forClient('x').key }
    expect(await failure(server, others, systemRuntime)).toMatch(/TLS could not be set up: .*key values mismatch/)
  })

  test('ConnectError reports what a check of the user threw, or that it returned an invalid value', async () => {
    const server = await secure()
    const throwing = () => {
      throw new Error('not pinned')
    }
    expect(await failure(server, { ca, checkServerIdentity: throwing })).toContain('not pinned')
    const refusing = () => new Error('pinned to another')
    expect(await failure(server, { ca, checkServerIdentity: refusing })).toContain('pinned to another')
    const late = (async () => undefined) as unknown as () => undefined
    expect(await failure(server, { ca, checkServerIdentity: late })).toContain('must return an Error or undefined')
  })
})

describe('options.tls', () => {
  test.each([
    [{ tls: false }, 'tls must be true, an object such as { ca, cert, key }, or a function that returns one'],
    [{ tls: 'yes' }, 'tls must be true, an object'],
    [{ tls: [] }, 'tls must be true, an object'],
    [{ tls: { caFile: secret } }, 'tls: unknown option caFile (did you mean ca?); known are ca, cert'],
    [{ tls: { host: 'x' } }, 'tls: unknown option host'],
    [{ tls: { ca: 5 } }, 'tls.ca must be a string, a Uint8Array or a list of these'],
    [{ tls: { ca: ['', null] } }, 'tls.ca must be'],
    [{ tls: { key: [{ pem: secret, passphrase: 1 }], cert: '' } }, 'tls.key must be'],
    [{ tls: { passphrase: 1234 } }, 'tls.passphrase must be a string'],
    [{ tls: { servername: '10.0.0.1' } }, 'tls.servername must be a host name'],
    [{ tls: { rejectUnauthorized: 0 } }, 'tls.rejectUnauthorized must be true or false'],
    [{ tls: { checkServerIdentity: true } }, 'tls.checkServerIdentity must be a function'],
    [{ tls: { minVersion: 'TLS1.2' } }, 'tls.minVersion must be TLSv1, TLSv1.1, TLSv1.2, TLSv1.3'],
    [{ tls: { cert: secret } }, 'tls.cert and tls.key belong together: tls.key is missing'],
    [{ tls: { key: secret } }, 'tls.cert and tls.key belong together: tls.cert is missing'],
  ])('connect refuses %o', async (options, message) => {
    const error = await connect('zk1', options as unknown as ConnectOptions).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(TypeError)
    expect((error as TypeError).message).toContain(message)
    expect(inspect(error)).not.toMatch(/do-not-print-me|1234/)
  })

  test('checkTls takes undefined for what is not given, in an entry of a list too', () => {
    const key = [{ pem: 'a key', passphrase: undefined }]
    expect(checkTls({ cert: 'its certificate', key, ca: undefined, minVersion: undefined })).toEqual({
      cert: 'its certificate',
      key,
    })
  })

  test('dial throws what it cannot use, without the value', () => {
    const tls = { ciphers: 5 } as unknown as TlsOptions
    const error = thrownBy(() => dial({ host: '127.0.0.1', port: 1, tls }, undefined!))
    expect(inspect(error)).toMatch(/TLS could not be set up: The "options\.ciphers" property must be of type string;/)
  })
})
