// One session and several clients, one after the other; one session and several chroots.
import { inspect } from 'node:util'
import { Create2Response, GetDataResponse, OpCode, SetSASLResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type SessionCredentials } from '../../src/index.ts'
import { connected, created, expired, FakeServer, nodeData, outcome, VirtualWorld } from '../support/index.ts'
import { internalsOf } from '../../src/session/session-internals.ts'

const T = 30_000
const secret = 'sixteen secrets!'
const passwd = new TextEncoder().encode(secret)

describe('connect with a session', () => {
  test('connect goes on with the session that it is given', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, session: { id: 0x2an, passwd } }))
    const connection = await server.connection()
    expect(await connection.expectConnect()).toMatchObject({ sessionId: 0x2an, passwd })
    connection.accept({ passwd })
    await world.settle()
    expect(connecting.value.session.id).toBe(0x2an)
  })

  test('connect goes on with a session at no server that is behind what it has seen', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const session = { id: 0x2an, passwd, lastZxid: 0x1_0000_0007n }
    outcome(connect('zk1:2181', { runtime: world, session }))
    const connection = await server.connection()
    expect((await connection.expectConnect()).lastZxidSeen).toBe(0x1_0000_0007n)
    // No event is later.
    connection.accept({ passwd })
    await world.settle()
    connection.rst()
    await world.advance(2_000)
    const next = await server.connection()
    expect((await next.expectConnect()).lastZxidSeen).toBe(0x1_0000_0007n)
  })

  test('connect takes the password as it is at the call: what the caller does with it later changes nothing', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const mine = passwd.slice()
    outcome(connect('zk1:2181', { runtime: world, session: { id: 0x2an, passwd: mine } }))
    mine.fill(0)
    const connection = await server.connection()
    expect((await connection.expectConnect()).passwd).toEqual(passwd)
  })

  test('connect rejects with SessionExpired where the session is gone, and opens no other', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, session: { id: 0x2an, passwd } }))
    const connection = await server.connection()
    await connection.expectConnect()
    connection.expire()
    await world.advance(T)
    expect(connecting.error).toMatchObject({ code: 'SessionExpired', op: 'connect' })
    expect(world.dials.length).toBe(1)
  })

  test('connect leaves the session as it is where no server is found, or it is aborted', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    server.refuse()
    const abort = new AbortController()
    const options = { runtime: world, session: { id: 0x2an, passwd }, connectTimeout: 2_000 }
    const unreachable = outcome(connect('zk1:2181', options))
    const aborted = outcome(connect('zk1:2181', { ...options, signal: abort.signal }))
    await world.advance(1_000)
    server.listen()
    abort.abort(new Error('enough'))
    server.swallow()
    await world.advance(T)
    expect(unreachable.error).toMatchObject({ name: 'ConnectError' })
    expect(aborted.error).toMatchObject({ message: 'enough' })
    await server.expectNoConnection()
    expect(world.timers).toBe(0)
  })

  const sasl = { name: 'NONE', start: () => ({ step: () => undefined }) }
  const auth = [{ scheme: 'digest', auth: 'a:b' }]
  test.each([
    ['its SASL is through', { sasl }, OpCode.sasl],
    ['its credentials are accepted', { auth }, OpCode.auth],
  ])('connect leaves the session as it is where it is aborted before %s', async (_, options, proof) => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const abort = new AbortController()
    const session = { id: 0x2an, passwd }
    const connecting = outcome(connect('zk1:2181', { runtime: world, session, signal: abort.signal, ...options }))
    const connection = await server.accept({ passwd })
    const asked = await connection.expect(proof)
    abort.abort(new Error('enough'))
    if (proof === OpCode.sasl) connection.reply(asked, SetSASLResponse, { token: null })
    connection.fail(await connection.expect(OpCode.sync), 'Ok')
    await world.settle()
    expect(connecting.error).toMatchObject({ message: 'enough' })
    await connection.expectNothing()
    expect(connection.isClosed).toBe(true)
    expect(world.timers).toBe(0)
  })

  test('connect goes on with a session, and the next one after it is a new one', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, session: { id: 0x2an, passwd } }))
    const connection = await server.accept({ passwd })
    connection.rst()
    await world.advance(2_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.advance(2_000)
    const third = await server.connection()
    expect((await third.expectConnect()).sessionId).toBe(0n)
    expect(connecting.status).toBe('fulfilled')
  })
})

describe('The xids of a session that is handed on', () => {
  /** The xid of the first request after the handshake. */
  async function firstXid(credentials: Partial<SessionCredentials>, seed = 1): Promise<number> {
    const world = new VirtualWorld(seed)
    const server = FakeServer.listen(world, 'zk1:2181')
    const session = { id: 0x2an, passwd, ...credentials }
    const connecting = outcome(connect('zk1:2181', { runtime: world, session }))
    const connection = await server.accept({ passwd })
    await world.settle()
    outcome(connecting.value.exists('/'))
    return (await connection.expect(OpCode.exists)).xid
  }

  test('connect goes on behind the last xid, which ZooKeeper.detach gives: a late answer of before is of no request now', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    outcome(zk.exists('/'))
    connection.fail(await connection.expect(OpCode.exists), 'NoNode')
    const detaching = outcome(zk.detach())
    const last = await connection.expect(OpCode.sync)
    connection.fail(last, 'Ok')
    await world.settle()
    expect(detaching.value.lastXid).toBe(last.xid)
    expect(last.xid).toBeGreaterThan(1)
    expect(await firstXid(detaching.value)).toBe(last.xid + 1)
  })

  test('connect begins anew behind the largest xid', async () => {
    expect(await firstXid({ lastXid: 2 ** 31 - 3 })).toBe(2 ** 31 - 2)
    for (const lastXid of [2 ** 31 - 2, 2 ** 31 - 1]) expect(await firstXid({ lastXid })).toBe(1)
  })

  test('connect begins at a random xid where the last one is not known', async () => {
    const xids = await Promise.all([1, 2, 3, 4].map((seed) => firstXid({ lastXid: 0 }, seed)))
    expect(new Set(xids).size).toBe(4)
    for (const xid of xids) expect(xid).toBeGreaterThan(1_000)
    expect(await firstXid({}, 1)).toBe(xids[0])
  })
})

describe('Session.shortestTimeout', () => {
  /** The client of a session that is handed on, after handshakes that gave it these timeouts. */
  async function handedOn(timeouts: readonly number[]) {
    const world = new VirtualWorld()
    const [first, ...others] = timeouts
    const { zk, server, connection } = await connected(world, { sessionTimeout: T, handshake: { timeOut: first! } })
    let last = connection
    for (const timeOut of others) {
      last.rst()
      await world.advance(1_000)
      last = await server.accept({ timeOut })
    }
    const { shortestTimeout } = internalsOf(zk.session)
    const detaching = outcome(zk.detach())
    last.fail(await last.expect(OpCode.sync), 'Ok')
    await world.settle()
    return { world, server, shortestTimeout, session: detaching.value }
  }

  test.each([[[10_000]], [[4_000, 10_000]], [[10_000, 4_000]], [[10_000, 4_000, 20_000]]])(
    'Session.shortestTimeout of handshakes that gave %j is the least, and goes with ZooKeeper.detach',
    async (timeouts) => {
      const least = Math.min(...timeouts)
      const { world, server, shortestTimeout, session } = await handedOn(timeouts)
      expect([shortestTimeout, session.shortestTimeout]).toEqual([least, least])
      const connecting = outcome(connect('zk1:2181', { runtime: world, session, sessionTimeout: 60_000 }))
      const connection = await server.accept({ timeOut: 60_000 })
      expect([connecting.value.session.timeout, internalsOf(connecting.value.session).shortestTimeout]).toEqual([
        60_000,
        least,
      ])
      const again = outcome(connecting.value.detach())
      connection.fail(await connection.expect(OpCode.sync), 'Ok')
      await world.settle()
      expect(again.value.shortestTimeout).toBe(least)
    },
  )

  test.each([
    [10_000, 1_000, 10_000],
    [10_000, 30_000, 30_000],
    [0, 1_000, 1_000],
  ])(
    'connect with a session whose shortest timeout is %i, and sessionTimeout %i, asks for %i: no handshake makes it shorter',
    async (shortestTimeout, sessionTimeout, asked) => {
      const world = new VirtualWorld()
      const server = FakeServer.listen(world, 'zk1:2181')
      const session = { id: 0x2an, passwd, shortestTimeout }
      outcome(connect('zk1:2181', { runtime: world, session, sessionTimeout }))
      const connection = await server.connection()
      expect((await connection.expectConnect()).timeOut).toBe(asked)
      connection.accept({ passwd, timeOut: asked })
      await world.settle()
      connection.rst()
      await world.advance(1_000)
      expect((await (await server.connection()).expectConnect()).timeOut).toBe(asked)
    },
  )

  test('ZooKeeper pings by the shortest timeout of a session that was resumed with a longer one: a late touch may bring it back', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const session = { id: 0x2an, passwd, shortestTimeout: 3_000 }
    outcome(connect('zk1:2181', { runtime: world, session, sessionTimeout: T }))
    const connection = await server.accept({ passwd, timeOut: T })
    await world.advance(4_000)
    expect(connection.heartbeats).toEqual([1_000, 2_000, 3_000, 4_000])
  })

  test('Session.shortestTimeout is 0 where the credentials do not say it, whatever servers give', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, session: { id: 0x2an, passwd } }))
    const connection = await server.accept({ timeOut: T })
    expect(internalsOf(connecting.value.session).shortestTimeout).toBe(0)
    connection.rst()
    await world.advance(1_000)
    await server.accept({ timeOut: 6_000 })
    expect(internalsOf(connecting.value.session).shortestTimeout).toBe(0)
  })

  test('Session.shortestTimeout counts a handshake whose connection is lost before SASL is through', async () => {
    const world = new VirtualWorld()
    const sasl = { name: 'NONE', start: () => ({ step: () => undefined }) }
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, sasl, sessionTimeout: T }))
    const through = async (timeOut: number) => {
      const connection = await server.accept({ timeOut })
      connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: null })
      await world.settle()
      return connection
    }
    const first = await through(20_000)
    first.rst()
    await world.advance(1_000)
    const second = await server.accept({ timeOut: 4_000 })
    second.rst()
    await world.advance(1_000)
    await through(20_000)
    expect(connecting.value.session.timeout).toBe(20_000)
    expect(internalsOf(connecting.value.session).shortestTimeout).toBe(4_000)
  })

  test('Session.shortestTimeout of a new session is what the server grants, be it more than was asked for', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { sessionTimeout: 1_000, handshake: { timeOut: 4_000 } })
    expect(internalsOf(zk.session).shortestTimeout).toBe(4_000)
  })

  test('Session.shortestTimeout of the session after an expired one is its own', async () => {
    const world = new VirtualWorld()
    const connection = await connected(world, { sessionTimeout: T, handshake: { timeOut: 4_000 } })
    await expired(world, connection)
    await world.advance(1_000)
    await connection.server.accept({ timeOut: 20_000 })
    expect(internalsOf(connection.zk.session).shortestTimeout).toBe(20_000)
  })
})

describe('ZooKeeper.detach', () => {
  test('ZooKeeper.detach gives id, password and what was seen last, and closes the connection but not the session', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { handshake: { passwd, sessionId: 0x2an, timeOut: T } })
    const write = outcome(zk.create('/a', '', { mode: 'EPHEMERAL' }))
    const detaching = outcome(zk.detach())
    const after = outcome(zk.getData('/a'))
    const [request, last] = await connection.expectAll(OpCode.create2, OpCode.sync)
    connection.reply(request, Create2Response, created('/a'), { zxid: 0x1_0000_0007n })
    connection.fail(last, 'Ok')
    await world.settle()
    expect(write.status).toBe('fulfilled')
    expect(detaching.value.id).toBe(0x2an)
    expect(detaching.value.passwd).toEqual(passwd)
    expect(detaching.value.lastZxid).toBe(0x1_0000_0007n)
    expect(after.error).toMatchObject({ code: 'Closed' })
    await connection.expectNothing()
    expect(connection.isClosed).toBe(true)
    expect(zk.session.signal.reason).toMatchObject({ code: 'Closed' })
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.detach resolves after half a session timeout at the latest', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.freeze()
    const detaching = outcome(zk.detach())
    await world.advance(T / 2)
    expect(detaching.status).toBe('fulfilled')
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper.detach resolves after half a session timeout at the latest, also where work in the session took a part of it', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world)
    internalsOf(zk.session).waitUntil(
      new Promise((resolve) => world.setTimer(0.4 * zk.session.timeout, () => resolve(undefined))),
    )
    const detaching = outcome(zk.detach())
    await world.advance(zk.session.timeout / 2 - 1)
    expect(detaching.status).toBe('pending')
    await world.advance(1)
    expect(detaching.status).toBe('fulfilled')
  })

  test('ZooKeeper.detach waits for work in the session, however it ends, and for what comes meanwhile', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const ends: { resolve: () => void; reject: (why: Error) => void }[] = []
    const begin = () =>
      internalsOf(zk.session).waitUntil(new Promise<void>((resolve, reject) => ends.push({ resolve, reject })))
    begin()
    begin()
    const detaching = outcome(zk.detach())
    await connection.expectNothing()
    begin()
    ends[0]!.resolve()
    await connection.expectNothing()
    ends[1]!.reject(new Error('it went wrong'))
    await connection.expectNothing()
    ends[2]!.resolve()
    connection.fail(await connection.expect(OpCode.sync), 'Ok')
    await world.settle()
    expect(detaching.status).toBe('fulfilled')
  })

  test('ZooKeeper.detach leaves no timer behind where it waited for work in the session', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    let finish = () => {}
    internalsOf(zk.session).waitUntil(new Promise<void>((resolve) => (finish = resolve)))
    const detaching = outcome(zk.detach())
    await world.advance(10)
    finish()
    connection.fail(await connection.expect(OpCode.sync), 'Ok')
    await world.settle()
    expect(detaching.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.detach rejects where the servers say that the session is over', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const detaching = outcome(zk.detach())
    connection.fail(await connection.expect(OpCode.sync), 'SessionExpired')
    await world.settle()
    expect(detaching.error).toMatchObject({ code: 'SessionExpired', op: 'detach' })
  })

  test('ZooKeeper.detach rejects where the time of the session is up meanwhile', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    server.refuse()
    connection.rst()
    await world.advance(T)
    const detaching = outcome(zk.detach())
    await world.advance(T / 2)
    expect(detaching.error).toMatchObject({ code: 'SessionExpired', op: 'detach' })
  })

  test('ZooKeeper.detach rejects once the client is closed', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const closing = outcome(zk.close())
    connection.fail(await connection.expect(OpCode.closeSession), 'Ok')
    await world.settle()
    const detaching = outcome(zk.detach())
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(detaching.error).toMatchObject({ code: 'Closed' })
  })

  test('ZooKeeper.detach rejects where the session turns out to have expired', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const detaching = outcome(zk.detach())
    await world.settle()
    const next = await server.connection()
    await next.expectConnect()
    next.expire()
    await world.advance(T)
    expect(detaching.error).toMatchObject({ code: 'SessionExpired', op: 'detach' })
    await server.expectNoConnection()
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.detach ends the client where the session expires while it waits for work in it', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    let finish = () => {}
    internalsOf(zk.session).waitUntil(new Promise<void>((resolve) => (finish = resolve)))
    const detaching = outcome(zk.detach())
    await expired(world, { server, connection })
    finish()
    await world.advance(T)
    expect(detaching.error).toMatchObject({ code: 'SessionExpired' })
    await server.expectNoConnection()
    expect(zk.session.signal.aborted).toBe(true)
    expect(zk.state.name).toBe('expired')
    expect(world.timers).toBe(0)
  })

  test('connect that gives up leaves the session that it was to resume, also when the caller has overwritten its id', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const stopping = new AbortController()
    const session = { id: 0x77n, passwd: new Uint8Array(16).fill(7) }
    const { signal } = stopping
    const auth = [{ scheme: 'digest', auth: 'user:secret' }]
    const connecting = outcome(connect('zk1:2181', { runtime: world, session, auth, signal }))
    session.id = 0x78n
    const connection = await server.accept()
    await connection.expect(OpCode.auth)
    stopping.abort()
    await connection.expect(OpCode.sync)
    await world.advance(T)
    expect(connecting.status).toBe('rejected')
  })

  test('ZooKeeper.detach has nothing to give while the next session is not there yet, and ends nothing', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    await expired(world, { server, connection })
    const detaching = outcome(zk.detach())
    await world.settle()
    expect(detaching.error).toMatchObject({ code: 'ConnectionLoss', op: 'detach' })
    expect(zk.session.signal.aborted).toBe(false)
  })

  test('ZooKeeper.detach sees a throttled last request through, over a lost connection', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxInFlight: 1 } })
    const write = outcome(zk.create('/a', ''))
    const detaching = outcome(zk.detach())
    const [again, closing] = [outcome(zk.detach()), outcome(zk.close())]
    connection.reply(await connection.expect(OpCode.create2), Create2Response, created('/a'))
    connection.fail(await connection.expect(OpCode.sync), 'ThrottledOp')
    await world.advance(500)
    await connection.expect(OpCode.sync)
    connection.rst()
    await world.advance(2_000)
    const next = await server.accept({ passwd })
    next.fail(await next.expect(OpCode.sync), 'Ok')
    await world.settle()
    expect(write.status).toBe('fulfilled')
    expect(detaching.value.passwd).toEqual(passwd)
    expect(again.error).toMatchObject({ code: 'Closed' })
    expect(closing.status).toBe('fulfilled')
    await next.expectNothing()
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper.detach gives what shows no password, however it is looked at (S26)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { handshake: { passwd, timeOut: T, sessionId: 5n } })
    const detaching = outcome(zk.detach())
    connection.fail(await connection.expect(OpCode.sync), 'Ok')
    await world.settle()
    const looks = [
      inspect(detaching.value, { depth: 9, showHidden: true }),
      inspect(zk, { depth: 9, showHidden: true }),
      JSON.stringify(Object.entries(detaching.value).map(String)),
    ].join('\n')
    expect(looks).not.toContain(secret)
    expect(looks).not.toMatch(/passwd: \S/)
    expect(looks).not.toContain([...passwd].slice(0, 4).join(', '))
  })
})

describe('ZooKeeper.withChroot', () => {
  test('ZooKeeper.withChroot is below the chroot of its client, on the same session and in the same order', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { chroot: '/top' })
    const [app, other] = [zk.withChroot('/app'), zk.withChroot('/')]
    expect([app.chroot, other.chroot, app.withChroot('/x').chroot]).toEqual(['/top/app', '/top', '/top/app/x'])
    expect(app.session).toBe(zk.session)
    const reads = [app.getDataAndWatch('/a'), zk.getDataAndWatch('/app/a')].map((read) => outcome(read))
    const requests = await connection.expectAll(OpCode.getData, OpCode.getData)
    expect(requests.map(({ body }) => body)).toMatchObject([{ path: '/top/app/a' }, { path: '/top/app/a' }])
    for (const request of requests) connection.reply(request, GetDataResponse, nodeData('x'))
    connection.event('NodeDeleted', '/top/app/a')
    await world.settle()
    const events = reads.map(({ value }) => outcome(value.changed))
    await world.settle()
    expect(events.map(({ value }) => value.path)).toEqual(['/a', '/app/a'])
  })

  test('ZooKeeper.close of a view does nothing; that of its client ends both', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const app = zk.withChroot('/app')
    await app.close()
    await app[Symbol.asyncDispose]()
    await connection.expectNothing()
    const read = outcome(app.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    const closing = outcome(zk.close())
    connection.fail(await connection.expect(OpCode.closeSession), 'Ok')
    const late = outcome(app.getData('/a'))
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(late.error).toMatchObject({ code: 'Closed' })
  })

  test('ZooKeeper.withChroot gives what cannot be detached: the session is of another client', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const detaching = outcome(zk.withChroot('/app').detach())
    await connection.expectNothing()
    expect(detaching.error).toBeInstanceOf(TypeError)
    expect(zk.session.signal.aborted).toBe(false)
  })

  test('ZooKeeper.withChroot refuses what cannot be a path', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world)
    expect(() => zk.withChroot('app')).toThrow(TypeError)
    expect(() => zk.withChroot('/app/')).toThrow(TypeError)
  })
})
