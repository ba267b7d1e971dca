// Promise 7: an expired session is never hidden.
import { ConnectRequest, encodeFrame, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, KeeperError, type Logger, type ZooKeeper } from '../../src/index.ts'
import {
  expired,
  connected,
  type FakeConnection,
  FakeServer,
  nodeData,
  outcome,
  replyFrame,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000

async function watching(
  world: VirtualWorld,
  { zk, connection }: { zk: ZooKeeper; connection: FakeConnection },
  path: string,
) {
  const read = outcome(zk.getDataAndWatch(path))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await world.settle()
  return outcome(read.value.changed)
}

describe('All of the session ends with it', () => {
  test('ZooKeeper rejects every request of the session with SessionExpired, sent or not (S05)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const id = zk.session.id
    const sentRead = outcome(zk.getData('/sent'))
    await connection.expect(OpCode.getData)
    connection.rst()
    await world.settle()
    const unsentRead = outcome(zk.getData('/unsent'))
    const unsentWrite = outcome(zk.create('/unsent'))
    const credential = outcome(zk.addAuth('digest', 'user:password'))
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.settle()
    for (const { error } of [sentRead, unsentRead, unsentWrite, credential]) {
      expect(error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false, sessionId: id })
    }
  })

  test('Session.signal aborts with SessionExpired, exactly once, and its connection is gone (S05)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { session } = zk
    let aborts = 0
    session.signal.addEventListener('abort', () => aborts++)
    await expired(world, { server, connection })
    await world.advance(10 * T)
    expect(aborts).toBe(1)
    expect(KeeperError.is(session.signal.reason, 'SessionExpired')).toBe(true)
    expect(session.connection).toBeUndefined()
  })

  test('Watched.changed resolves with SessionEnded for each one-shot watch, and is not notified twice (V14)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const watches = []
    for (const path of ['/a', '/b', '/a']) watches.push(await watching(world, { zk, connection }, path))
    await expired(world, { server, connection })
    await world.settle()
    expect(watches.map(({ value }) => value)).toEqual(
      ['/a', '/b', '/a'].map((path) => ({ type: 'SessionEnded', path })),
    )
    await world.advance(1_000)
    const next = await server.accept()
    await next.expectNothing()
  })

  test('ZooKeeper learns of the end from a reply as well', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { session } = zk
    const calls = [outcome(zk.getData('/a')), outcome(zk.getData('/b'))]
    connection.fail(await connection.expect(OpCode.getData), 'SessionExpired')
    await world.settle()
    for (const { error } of calls) expect(error).toMatchObject({ code: 'SessionExpired' })
    expect(session.signal.aborted).toBe(true)
    expect(connection.isClosed).toBe(true)
  })

  test('Watched.unwatch after the end does nothing', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await expired(world, { server, connection })
    await world.advance(1_000)
    const next = await server.accept()
    const done = outcome(read.value.unwatch())
    await next.expectNothing()
    expect(done.status).toBe('fulfilled')
  })
})

describe('The next session', () => {
  test('ZooKeeper dials for a new session after all notifications, within T/30 and at random', async () => {
    const pauses: number[] = []
    for (let seed = 1; seed <= 40; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, connection } = await connected(world, { sessionTimeout: T })
      const read = outcome(zk.getData('/a'))
      await connection.expect(OpCode.getData)
      outcome(zk.exists('/b'))
      connection.raw(replyFrame({ xid: 1, err: 'SessionExpired' }))
      await world.settle()
      expect(read.error).toMatchObject({ code: 'SessionExpired' })
      const from = world.now()
      await world.advance(T / 30 + 1)
      expect(world.dials.length).toBe(2)
      pauses.push(world.dials[1]!.at - from)
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(T / 30)
    expect(Math.max(...pauses)).toBeGreaterThan(T / 60)
    expect(Math.min(...pauses)).toBeLessThan(T / 60)
  })

  test.each([
    [T, 4_000],
    [4_000, T],
  ])(
    'ZooKeeper that asked for %i ms, and was granted %i ms, dials for a new session within 1/30 of what was granted',
    async (sessionTimeout, timeOut) => {
      const pauses: number[] = []
      for (let seed = 1; seed <= 20; seed++) {
        const world = new VirtualWorld(seed)
        const { zk, connection } = await connected(world, { sessionTimeout, handshake: { timeOut } })
        void outcome(zk.getData('/a'))
        connection.fail(await connection.expect(OpCode.getData), 'SessionExpired')
        await world.settle()
        const from = world.now()
        await world.advance(timeOut / 30 + 1)
        expect(world.dials.length).toBe(2)
        pauses.push(world.dials[1]!.at - from)
      }
      expect(Math.max(...pauses)).toBeGreaterThan(timeOut / 60)
    },
  )

  test('ZooKeeper.session is new for callbacks of the end, with an id after its handshake (S05)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { session } = zk
    const seen: unknown[] = []
    session.signal.addEventListener('abort', () => seen.push(zk.session === session))
    void zk.getData('/a').catch(() => seen.push(zk.session === session))
    await expired(world, { server, connection })
    await world.settle()
    expect(seen).toEqual([false, false])
    expect(zk.session.id).toBe(0n)
    expect(zk.session.signal.aborted).toBe(false)
    await world.advance(1_000)
    const next = await server.connection()
    expect(await next.expectConnect()).toEqual({
      protocolVersion: 0,
      lastZxidSeen: 0n,
      timeOut: T,
      sessionId: 0n,
      passwd: new Uint8Array(16),
      readOnly: false,
    })
    next.accept({ sessionId: 0xabcn })
    await world.settle()
    expect(zk.session.id).toBe(0xabcn)
    expect(session.id).not.toBe(0xabcn)
  })

  test('ZooKeeper runs later calls in the new session, in call order, behind the credentials', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { auth: [{ scheme: 'digest', auth: 'user:password' }] })
    await expired(world, { server, connection })
    await world.settle()
    const read = outcome(zk.getData('/a'))
    outcome(zk.create('/b'))
    await world.advance(1_000)
    const next = await server.accept()
    expect(next.segments).toEqual([['connect'], ['auth', 'getData', 'create2']])
    next.reply(await next.expect(OpCode.auth))
    next.reply(await next.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })

  test('ZooKeeper sends nothing of the old session in the new one', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    outcome(zk.create('/sent'))
    await connection.expect(OpCode.create2)
    connection.rst()
    await world.settle()
    outcome(zk.create('/unsent'))
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.advance(1_000)
    const next = await server.accept()
    await next.expectNothing()
  })

  test('ZooKeeper renews as often as sessions expire', async () => {
    const world = new VirtualWorld()
    const first = await connected(world)
    const { zk, server } = first
    let { connection } = first
    const sessions = new Set([zk.session])
    for (let count = 0; count < 5; count++) {
      await expired(world, { server, connection })
      await world.advance(1_000)
      connection = await server.accept()
      sessions.add(zk.session)
    }
    expect(sessions.size).toBe(6)
    expect([...sessions].filter(({ signal }) => signal.aborted).length).toBe(5)
  })

  test('ZooKeeper goes on looking for a server for the new session, as long as it takes', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { connectTimeout: 1_000 })
    await expired(world, { server, connection })
    server.refuse()
    await world.advance(100 * T)
    expect(zk.session.signal.aborted).toBe(false)
    server.listen()
    await world.advance(10_000)
    await server.accept()
    expect(zk.session.connection?.server).toBe(server.address)
  })

  test('ZooKeeper ends with the session where renewSession is false', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { renewSession: false })
    const { session } = zk
    await expired(world, { server, connection })
    await world.advance(10 * T)
    expect(zk.session).toBe(session)
    await server.expectNoConnection()
    expect(world.timers).toBe(0)
  })

  test.each([
    [true, 'calls go to the next session'],
    [false, 'no other follows, since renewSession is false'],
  ])('ZooKeeper says in its errors what follows, with renewSession: %s', async (renewSession, what) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { renewSession })
    const { session } = zk
    const waiting = outcome(zk.setData('/a', 'x'))
    await world.settle()
    const queued = outcome(zk.exists('/a', { session }))
    await expired(world, { server, connection })
    const late = outcome(zk.exists('/a', { session }))
    await world.settle()
    expect(waiting.status).toBe('rejected')
    for (const error of [queued.error, late.error, session.signal.reason]) {
      expect(error).toMatchObject({ code: 'SessionExpired', message: expect.stringContaining(what) as string })
    }
  })
})

describe('A call of several requests', () => {
  test('ZooKeeper.create with parents ends with the session in which it began', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const creating = outcome(zk.create('/a/b', '', { parents: true }))
    connection.fail(await connection.expect(OpCode.create2), 'NoNode')
    connection.fail(await connection.expect(OpCode.createContainer), 'SessionExpired')
    await world.advance(2_000)
    const next = await server.accept()
    await next.expectNothing()
    expect(creating.error).toMatchObject({ code: 'SessionExpired', path: '/a/b' })
  })

  test('ZooKeeper.ensureContainer ends with the session in which it began, also where servers know no containers', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const ensuring = outcome(zk.ensureContainer('/a/b'))
    const [above, below] = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
    connection.together(() => {
      connection.fail(above, 'Unimplemented')
      connection.fail(below, 'SessionExpired')
    })
    await world.advance(2_000)
    const next = await server.accept()
    await next.expectNothing()
    expect(ensuring.error).toMatchObject({ code: 'SessionExpired' })
  })
})

describe('A call pinned to a session', () => {
  test('ZooKeeper runs it in that session, as long as it lives', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const { session } = zk
    const read = outcome(zk.getData('/a', { session }))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })

  type Pinned = { readonly session: ZooKeeper['session'] }
  type Method = Exclude<Extract<keyof ZooKeeper, string>, NotPinned>
  type NotPinned =
    | (
        | 'session'
        | 'runtime'
        | 'chroot'
        | 'name'
        | 'stats'
        | 'state'
        | 'watchState'
        | 'closed'
        | 'toJSON'
        | 'close'
        | 'detach'
        | 'withChroot'
        | 'updateServers'
      )
    | 'followServers'

  const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
  const calls: Record<Method, (zk: ZooKeeper, pinned: Pinned) => Promise<unknown>> = {
    create: (zk, pinned) => zk.create('/a', '', { ...pinned, parents: true }),
    delete: (zk, pinned) => zk.delete('/a', pinned),
    exists: (zk, pinned) => zk.exists('/a', pinned),
    existsAndWatch: (zk, pinned) => zk.existsAndWatch('/a', pinned),
    getData: (zk, pinned) => zk.getData('/a', pinned),
    getDataAndWatch: (zk, pinned) => zk.getDataAndWatch('/a', pinned),
    setData: (zk, pinned) => zk.setData('/a', '', pinned),
    getChildren: (zk, pinned) => zk.getChildren('/a', pinned),
    getChildrenAndWatch: (zk, pinned) => zk.getChildrenAndWatch('/a', pinned),
    getACL: (zk, pinned) => zk.getACL('/a', pinned),
    setACL: (zk, pinned) => zk.setACL('/a', acl, pinned),
    sync: (zk, pinned) => zk.sync('/a', pinned),
    multi: (zk, pinned) => zk.multi([], pinned),
    multiRead: (zk, pinned) => zk.multiRead([], pinned),
    getEphemerals: (zk, pinned) => zk.getEphemerals('/', pinned),
    getAllChildrenNumber: (zk, pinned) => zk.getAllChildrenNumber('/a', pinned),
    whoAmI: (zk, pinned) => zk.whoAmI(pinned),
    getConfig: (zk, pinned) => zk.getConfig(pinned),
    getConfigAndWatch: (zk, pinned) => zk.getConfigAndWatch(pinned),
    reconfig: (zk, pinned) => zk.reconfig({ leaving: [4] }, pinned),
    checkWatches: (zk, pinned) => zk.checkWatches('/a', 'Any', pinned),
    watch: (zk, pinned) => zk.watch('/a', pinned),
    removeWatches: (zk, pinned) => zk.removeWatches('/a', 'Any', pinned),
    addAuth: (zk, pinned) => zk.addAuth('digest', 'user:password', pinned),
    ensureContainer: (zk, pinned) => zk.ensureContainer('/a', pinned),
    ensurePath: (zk, pinned) => zk.ensurePath('/a', pinned),
  }

  test.each(Object.entries(calls))(
    'ZooKeeper rejects a pinned %s after the end, and runs it in no later session',
    async (_, call) => {
      const world = new VirtualWorld()
      const { zk, server, connection } = await connected(world)
      const { session } = zk
      await expired(world, { server, connection })
      await world.advance(1_000)
      const next = await server.accept()
      const watched = await watching(world, { zk, connection: next }, '/a')
      const pinned = outcome(call(zk, { session }))
      await world.settle()
      expect(pinned.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
      await next.expectNothing()
      expect(watched.status).toBe('pending')
      // Nor does it count for the calls behind it.
      void outcome(zk.getChildren('/b'))
      await next.expect(OpCode.getChildren2)
    },
  )
})

describe('Ends that are final', () => {
  test('ZooKeeper ends with AuthFailed when a credential is refused: every call, and no more dials (S13)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const watched = await watching(world, { zk, connection }, '/w')
    const pending = outcome(zk.getData('/a'))
    const refused = outcome(zk.addAuth('digest', 'wrong'))
    const auth = await connection.expect(OpCode.auth)
    connection.fail(auth, 'AuthFailed')
    connection.fin()
    await world.settle()
    const later = outcome(zk.getData('/b'))
    await world.advance(10 * T)
    for (const { error } of [pending, refused, later]) expect(error).toMatchObject({ code: 'AuthFailed' })
    expect(watched.value).toEqual({ type: 'SessionEnded', path: '/w' })
    expect(zk.session.signal.reason).toMatchObject({ code: 'AuthFailed' })
    await server.expectNoConnection()
    expect(world.timers).toBe(0)
  })

  test('connect rejects with AuthFailed when a credential is refused (S13)', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, auth: [{ scheme: 'digest', auth: 'wrong' }] }))
    const connection = await server.accept()
    connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    await world.settle()
    expect(connecting.error).toMatchObject({ code: 'AuthFailed' })
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper ignores the acceptance of a credential that was not sent, and accepts a refusal (W14)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    connection.raw(replyFrame({ xid: -4, zxid: 0n }))
    await world.settle()
    expect(zk.session.connection).toBeDefined()
    connection.raw(replyFrame({ xid: -4, zxid: 0n, err: 'AuthFailed' }))
    await world.settle()
    expect(zk.session.signal.reason).toMatchObject({ code: 'AuthFailed' })
  })

  test('connect goes on to the next server if one answers as if the new session had expired (S25)', async () => {
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world }))
    const connection = await server.connection()
    await connection.expectConnect()
    connection.expire()
    await world.advance(1_000)
    expect(connection.isClosed).toBe(true)
    await server.accept()
    expect(connecting.status).toBe('fulfilled')
  })

  test('ZooKeeper does not take its own request, which comes back, for the end of the session', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const { session } = zk
    connection.rst()
    await world.advance(1_000)
    const echo = await server.connection()
    const request = await echo.expectConnect()
    echo.raw(encodeFrame((writer) => ConnectRequest.write(writer, request)))
    await world.advance(1_000)
    expect([echo.isClosed, session.signal.aborted]).toEqual([true, false])
    await server.accept()
    expect(zk.session).toBe(session)
  })

  test('ZooKeeper pauses no longer before a next session for what the first handshakes of earlier ones said', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = new VirtualWorld(seed)
      const { zk, server, connection } = await connected(world)
      await expired(world, { server, connection })
      for (let round = 0; round < 6; round++) {
        await world.advance(T / 5)
        const next = await server.connection()
        await next.expectConnect()
        next.expire()
      }
      await world.advance(T / 5)
      const last = await server.accept({ sessionId: 0x77n, timeOut: T })
      void outcome(zk.getData('/a'))
      last.fail(await last.expect(OpCode.getData), 'SessionExpired')
      await world.settle()
      const { length } = world.dials
      await world.advance(T / 30 + 1)
      expect(world.dials.length).toBe(length + 1)
    }
  })

  test('ZooKeeper goes on where the first handshakes of next sessions say expired too, with pauses', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    await expired(world, { server, connection })
    const pauses: number[] = []
    let from = world.now()
    for (let round = 0; round < 10; round++) {
      await world.advance(T / 5)
      pauses.push(world.dials.at(-1)!.at - from)
      const next = await server.connection()
      await next.expectConnect()
      next.expire()
      from = world.now()
    }
    // They grow: a random part of more and more.
    expect(pauses[0]).toBeLessThanOrEqual(T / 30)
    expect(Math.max(...pauses)).toBeGreaterThan(T / 30)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(T / 10)
    // At most one attempt a pause: their sum is far above ten times the first.
    expect(world.dials.length).toBeLessThan(2 + 10 + 1)
    await world.advance(T / 5)
    const last = await server.connection()
    await last.expectConnect()
    last.accept({ sessionId: 0x77n, timeOut: T })
    await world.settle()
    expect(zk.session.id).toBe(0x77n)
    expect(zk.session.signal.aborted).toBe(false)
  })
})

test('connect goes on when the session expires before its credentials are answered', async () => {
  const world = new VirtualWorld()
  const server = FakeServer.listen(world, 'zk1:2181')
  const auth = [{ scheme: 'digest', auth: 'a:b' }]
  const connecting = outcome(connect('zk1:2181', { runtime: world, auth, connectTimeout: T }))
  const first = await server.accept({ timeOut: 4_000 })
  await first.expect(OpCode.auth)
  server.refuse()
  first.rst()
  await world.advance(6_000)
  expect(connecting.status).toBe('pending')
  server.listen()
  await world.advance(2_000)
  const second = await server.connection()
  expect((await second.expectConnect()).sessionId).toBe(0n)
  second.accept({ timeOut: 4_000 })
  // What was sent once belongs to the client; the same, asked for anew, is kept once.
  second.reply(await second.expect(OpCode.auth))
  await world.settle()
  expect(connecting.value.session.signal.aborted).toBe(false)
})

describe('A server that answers with another session', () => {
  /** The client's session is 5; the server answers the resume with session 6. */
  async function replaced(world: VirtualWorld) {
    const lines: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] = []
    const logger: Logger = (_, message, fields) => void lines.push({ message, fields })
    const { zk, server, connection } = await connected(world, { handshake: { sessionId: 5n }, logger })
    const { session } = zk
    connection.rst()
    await world.advance(1_000)
    const other = await server.accept({ sessionId: 6n })
    return { zk, server, session, other, lines }
  }

  test('ZooKeeper ends its session at once, says why, closes the other one, and opens the next', async () => {
    const world = new VirtualWorld()
    const { zk, server, session, other, lines } = await replaced(world)
    expect(session.signal.reason).toMatchObject({ code: 'SessionExpired', sessionId: 5n })
    const { err } = lines.find(({ message }) => message === 'zk: session expired')!.fields
    expect(err).toMatchObject({ message: 'zk1:2181 answered with another session: it does not know this one' })
    const close = await other.expect(OpCode.closeSession)
    expect([close.xid, other.isClosed]).toEqual([1, false])
    other.reply(close)
    await world.settle()
    expect(other.isClosed).toBe(true)
    await world.advance(1_000)
    const next = await server.connection()
    expect((await next.expectConnect()).sessionId).toBe(0n)
    next.accept()
    await world.settle()
    expect(zk.state.name).toBe('connected')
  })

  test.each([
    ['after a second, at a server that does not answer', 'stays', 1_000],
    ['as soon as the server closes it', 'fin', 0],
  ] as const)('ZooKeeper closes the connection of the other session %s', async (_, how, after) => {
    const world = new VirtualWorld()
    const { zk, other } = await replaced(world)
    await other.expect(OpCode.closeSession)
    if (how === 'fin') other.fin()
    else expect(other.isClosed).toBe(false)
    await zk.close()
    await world.advance(after)
    if (how === 'stays') expect(other.isClosed).toBe(true)
    expect(world.timers).toBe(0)
  })
})
