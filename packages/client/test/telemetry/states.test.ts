import { inspect } from 'node:util'
import { OpCode, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type ClientState, type WatchIterator, formatSessionId, KeeperError } from '../../src/index.ts'
import { StateFeed } from '../../src/telemetry/client-state.ts'
import { connected, expired, FakeServer, NamedWorld, outcome, VirtualWorld } from '../support/index.ts'

/** Takes every state at once, into the list. */
async function collect(states: WatchIterator<ClientState>, into: ClientState[]): Promise<void> {
  for await (const state of states) into.push(state)
}

describe('ZooKeeper.watchState', () => {
  test('ZooKeeper.watchState begins with what is, tells of every change, and ends when the client is closed', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const seen: ClientState[] = []
    const following = outcome(collect(zk.watchState(), seen))
    await world.settle()
    const [first, since] = [zk.state.since, world.wallNow()]
    const session = { sessionId: zk.session.id, timeout: 30_000 }
    connection.rst()
    await world.advance(1_000)
    const second = await server.connection()
    await second.expectConnect()
    second.expire()
    await world.advance(1_000)
    const third = await server.accept()
    void outcome(zk.close())
    third.reply(await third.expect(OpCode.closeSession))
    await world.settle()
    expect(seen).toEqual([
      { name: 'connected', since: first, ...session, server: 'zk1:2181', readOnly: false },
      { name: 'disconnected', since, ...session, error: new Error('read ECONNRESET'), ensembleBehind: false },
      { name: 'expired', since: expect.any(Number) as number, ...session },
      { name: 'connecting', since: expect.any(Number) as number, error: new Error('read ECONNRESET') },
      { ...(seen[4] as Extract<ClientState, { name: 'connected' }>), sessionId: zk.session.id, name: 'connected' },
      { name: 'closed', since: world.wallNow() },
    ])
    const times = seen.map((state) => state.since)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(following.status).toBe('fulfilled')
  })

  test.each([
    ['expired', (connection) => connection.expire(), false],
    ['authFailed', undefined, true],
  ] satisfies [string, ((connection: { expire(): void }) => void) | undefined, boolean][])(
    'ZooKeeper.watchState ends with %s when the client does',
    async (name, _, isAuth) => {
      const world = new VirtualWorld()
      const { zk, server, connection } = await connected(world, { renewSession: false })
      const seen: ClientState[] = []
      const following = outcome(collect(zk.watchState(), seen))
      if (isAuth) {
        void outcome(zk.addAuth('digest', 'a:b'))
        connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
        await world.settle()
      } else {
        await expired(world, { server, connection })
      }
      expect(seen.at(-1)!.name).toBe(name)
      expect(following.status).toBe('fulfilled')
      expect(outcome(collect(zk.watchState(), [])).status).toBe('pending')
    },
  )

  test.each(['another list', 'other addresses'])(
    'ZooKeeper.watchState does not count what servers did that are gone: %s',
    async (change) => {
      const world = new NamedWorld()
      world.names.set('zk1', ['10.0.0.1', '10.0.0.2'])
      world.names.set('zk2', ['10.0.0.3'])
      const [one, two] = ['10.0.0.1:2181', '10.0.0.2:2181'].map((address) => FakeServer.listen(world, address))
      FakeServer.listen(world, '10.0.0.3:2181').refuse()
      const connecting = outcome(connect('zk1:2181', { runtime: world }))
      await world.settle()
      const [first, other] = world.dials[0]!.server === one!.address ? [one!, two!] : [two!, one!]
      const connection = await first.accept()
      const zk = connecting.value
      void outcome(zk.sync('/'))
      connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
      await world.settle()
      const seen: ClientState[] = []
      void outcome(collect(zk.watchState(), seen))
      first.refuse()
      connection.fin()
      // One of the two closes the connection at the handshake.
      while (world.dials.at(-1)!.server !== other.address) await world.advance(1)
      const handshaking = await other.connection()
      await handshaking.expectConnect()
      world.names.set('zk1', ['10.0.0.3'])
      handshaking.fin()
      await world.settle()
      if (change === 'another list') zk.updateServers('zk2:2181')
      await world.advance(5_000)
      expect(world.dials.at(-1)!.server).toBe('10.0.0.3:2181')
      expect(seen.filter((state) => state.name === 'disconnected' && state.ensembleBehind)).toEqual([])
    },
  )

  test('ZooKeeper.watchState shows when every server closes the connection at the handshake (S07)', async () => {
    const world = new VirtualWorld()
    const addresses = ['zk1:2181', 'zk2:2181', 'zk3:2181']
    const servers = addresses.map((address) => FakeServer.listen(world, address))
    const connecting = outcome(connect(addresses.join(','), { runtime: world }))
    await world.settle()
    const at = (index: number) => servers.find(({ address }) => address === world.dials[index]!.server)!
    const connection = await at(0).accept()
    const zk = connecting.value
    void outcome(zk.sync('/'))
    connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
    await world.settle()
    const seen: ClientState[] = []
    void outcome(collect(zk.watchState(), seen))
    connection.fin()
    const behind: boolean[] = []
    for (let index = 1; index <= 3; index++) {
      while (world.dials.length <= index) await world.advance(1)
      const handshaking = await at(index).connection()
      await handshaking.expectConnect()
      handshaking.fin()
      await world.settle()
      const state = seen.at(-1)!
      behind.push(state.name === 'disconnected' && state.ensembleBehind)
    }
    expect(behind).toEqual([false, false, true])
    // The error is that of the last attempt, not that of the connection that was lost.
    const [, lost, last] = seen.map((state) => (state.name === 'disconnected' ? state.error : undefined))
    expect([lost, last]).not.toContain(undefined)
    expect(last).not.toBe(lost)
    while (world.dials.length <= 4) await world.advance(1)
    await at(4).accept()
    expect(seen.at(-1)!.name).toBe('connected')
    expect(seen.map(({ name }) => name)).toEqual(['connected', 'disconnected', 'disconnected', 'connected'])
  })

  test('ZooKeeper.watchState waits for every address of a name before it blames the ensemble (S07)', async () => {
    const world = new NamedWorld()
    world.names.set('zk', ['10.0.0.1', '10.0.0.2'])
    const [first, second] = ['10.0.0.1:2181', '10.0.0.2:2181'].map((address) => FakeServer.listen(world, address))
    const connecting = outcome(connect('zk:2181', { runtime: world }))
    await world.settle()
    const at = (index: number) => (world.dials[index]!.server === first!.address ? first! : second!)
    const connection = await at(0).accept()
    void outcome(connecting.value.sync('/'))
    connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
    const seen: ClientState[] = []
    void outcome(collect(connecting.value.watchState(), seen))
    connection.fin()
    const silent = new Set<FakeServer>()
    for (let index = 1; silent.size < 2; index++) {
      while (world.dials.length <= index) await world.advance(1)
      const handshaking = await at(index).connection()
      await handshaking.expectConnect()
      handshaking.fin()
      silent.add(at(index))
      await world.settle()
      expect(seen.at(-1)).toMatchObject({ name: 'disconnected', ensembleBehind: silent.size === 2 })
    }
  })

  test('ZooKeeper.watchState blames no new servers for what the old ones did', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    void outcome(zk.sync('/'))
    connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
    const seen: ClientState[] = []
    void outcome(collect(zk.watchState(), seen))
    await world.settle()
    connection.fin()
    while (world.dials.length < 2) await world.advance(1)
    const handshaking = await server.connection()
    await handshaking.expectConnect()
    handshaking.fin()
    await world.settle()
    expect(seen.at(-1)).toMatchObject({ name: 'disconnected', ensembleBehind: true })
    FakeServer.listen(world, 'zk2:2181').refuse()
    zk.updateServers('zk2:2181')
    await world.advance(5_000)
    expect(world.dials.map(({ server }) => server)).toContain('zk2:2181')
    expect(seen.at(-1)).toMatchObject({ name: 'disconnected', ensembleBehind: false })
  })

  test('ZooKeeper.watchState waits for every new server before it blames them, whatever the old ones did', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    void outcome(zk.sync('/'))
    connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
    connection.fin()
    const closing = async (at: FakeServer) => {
      const handshaking = await at.connection()
      await handshaking.expectConnect()
      handshaking.fin()
      await world.settle()
      return zk.state
    }
    while (world.dials.length < 2) await world.advance(1)
    expect(await closing(server)).toMatchObject({ ensembleBehind: true })
    const others = ['zk2:2181', 'zk3:2181'].map((address) => FakeServer.listen(world, address))
    zk.updateServers('zk2:2181,zk3:2181')
    // The old one is tried again after the new ones.
    for (const [index, behind] of [false, false, true].entries()) {
      while (world.dials.length < 3 + index) await world.advance(1)
      const dialed = [...others, server].find(({ address }) => address === world.dials[2 + index]!.server)!
      expect(await closing(dialed)).toMatchObject({ ensembleBehind: behind })
    }
  })

  test('ZooKeeper.watchState counts anew after a connection which servers close the connection at the handshake', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const world = new VirtualWorld(seed)
      const addresses = ['zk1:2181', 'zk2:2181']
      const servers = addresses.map((address) => FakeServer.listen(world, address))
      const connecting = outcome(connect(addresses.join(','), { runtime: world }))
      await world.settle()
      let count = 0
      const dialed = async () => {
        const index = count++
        while (world.dials.length <= index) await world.advance(1)
        return servers.find(({ address }) => address === world.dials[index]!.server)!
      }
      let connection = await (await dialed()).accept()
      const zk = connecting.value
      void outcome(zk.sync('/'))
      connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
      await world.settle()
      for (let time = 0; time < 3; time++) {
        connection.fin()
        const silent = new Set<FakeServer>()
        // Once one of them, then both.
        while (silent.size < Math.min(time + 1, 2)) {
          const at = await dialed()
          const handshaking = await at.connection()
          await handshaking.expectConnect()
          handshaking.fin()
          silent.add(at)
          await world.settle()
          expect(zk.state, `seed ${seed}`).toMatchObject({ name: 'disconnected', ensembleBehind: silent.size === 2 })
        }
        connection = await (await dialed()).accept()
      }
    }
  })

  test('ZooKeeper.watchState shows that the server is read-only, and when one is found that is not (S21)', async () => {
    const world = new VirtualWorld()
    const [ro, rw] = [FakeServer.listen(world, 'ro:2181'), FakeServer.listen(world, 'rw:2181')]
    rw.refuse()
    const connecting = outcome(connect('ro:2181,rw:2181', { runtime: world, readOnly: true }))
    await ro.accept({ readOnly: true, sessionId: 5n })
    const seen: ClientState[] = []
    void outcome(collect(connecting.value.watchState(), seen))
    rw.listen()
    rw.isro = 'rw'
    await world.advance(3_000)
    await rw.accept({ sessionId: 6n })
    expect(seen).toMatchObject([
      { name: 'connected', readOnly: true, sessionId: 5n },
      { name: 'disconnected' },
      { name: 'connected', readOnly: false, sessionId: 6n },
    ])
  })

  test('ZooKeeper.watchState blames no server that cannot be reached, or that does not answer', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const seen: ClientState[] = []
    void outcome(collect(zk.watchState(), seen))
    void outcome(zk.sync('/'))
    connection.fail(await connection.expect(OpCode.sync), 'NoNode', 77n)
    await world.settle()
    server.refuse()
    connection.rst()
    await world.advance(10_000)
    expect(seen.at(-1)).toMatchObject({ name: 'disconnected', ensembleBehind: false })
  })
})

describe('the error of a state', () => {
  test('ZooKeeper.state has the error of the last attempt, and wakes no reader of states for it', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const seen: ClientState[] = []
    void outcome(collect(zk.watchState(), seen))
    server.refuse()
    connection.rst()
    await world.settle()
    const { since } = zk.state
    expect(zk.state).toMatchObject({ error: new Error('read ECONNRESET') })
    await world.advance(5_000)
    expect(zk.state).toMatchObject({ since, error: new Error('connect ECONNREFUSED zk1:2181') })
    expect(seen.map(({ name }) => name)).toEqual(['connected', 'disconnected'])
  })

  test('ZooKeeper.state says while it is connecting why the last attempt failed, also in JSON', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { handshake: { timeOut: 3_000 } })
    server.refuse()
    connection.rst()
    await world.advance(10_000)
    const state = zk.state
    expect(state).toMatchObject({ name: 'connecting', error: new Error('connect ECONNREFUSED zk1:2181') })
    expect(JSON.parse(JSON.stringify(state))).toMatchObject({ error: 'connect ECONNREFUSED zk1:2181' })
  })

  test('the error of a state is text in JSON of a copy, too, whatever it is', async () => {
    const copied = (error: Error) => {
      const feed = new StateFeed({ name: 'connecting', since: 0 })
      feed.enter({ name: 'connecting', since: 0, error })
      return JSON.parse(JSON.stringify({ ...feed.current, leads: true })) as unknown
    }
    const several = new AggregateError([new Error('one'), new Error('two')])
    const frozen = Object.freeze(new Error('frozen'))
    const refused = new KeeperError('AuthFailed')
    expect(copied(new Error('read ECONNRESET'))).toEqual({
      name: 'connecting',
      since: 0,
      error: 'read ECONNRESET',
      leads: true,
    })
    expect(copied(several)).toMatchObject({ error: 'one, two' })
    expect(copied(frozen)).toMatchObject({ error: {} })
    expect(copied(refused)).toMatchObject({ error: { code: 'AuthFailed' } })
  })

  test('ZooKeeper.state of refused credentials says which server has refused them', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    void outcome(zk.addAuth('digest', 'a:b'))
    connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    await world.settle()
    expect(zk.state).toMatchObject({ name: 'authFailed', error: { code: 'AuthFailed', server: 'zk1:2181' } })
    expect(zk.session.signal.reason).toMatchObject({ code: 'AuthFailed', server: 'zk1:2181' })
    const { error } = zk.state as Extract<ClientState, { name: 'closed' }>
    expect((error as KeeperError).sessionId).toBe(zk.session.id)
  })
})

describe('StateFeed', () => {
  const begun = { name: 'connecting', since: 0 } as const
  const closed = { name: 'closed', since: 1 } as const
  const server = (name: string) =>
    ({ name: 'connected', since: 0, server: name, sessionId: 1n, timeout: 4_000, readOnly: false }) as const

  test('StateFeed keeps one state for a slow reader, the last', async () => {
    const feed = new StateFeed(begun)
    const states = feed.watch()
    for (let count = 0; count < 1_000; count++) feed.enter(server(`zk${count}`))
    expect(await states.next()).toEqual({ value: server('zk999'), done: false })
    const next = outcome(states.next())
    feed.enter(server('zk1'))
    feed.enter(server('zk2'))
    await Promise.resolve()
    expect(await states.next()).toEqual({ value: server('zk2'), done: false })
    expect(next.value).toEqual({ value: server('zk1'), done: false })
  })

  test('StateFeed serves pending reads in their order, and ends them all', async () => {
    const feed = new StateFeed(begun)
    const states = feed.watch()
    await states.next()
    const asked = [states.next(), states.next(), states.next()]
    feed.enter(closed)
    feed.end()
    expect(await Promise.all(asked)).toEqual([
      { value: closed, done: false },
      { value: undefined, done: true },
      { value: undefined, done: true },
    ])
    expect(await states.next()).toEqual({ value: undefined, done: true })
  })

  test('StateFeed gives the last state to a read after the end', async () => {
    const feed = new StateFeed(begun)
    feed.enter(closed)
    feed.end()
    const seen: ClientState[] = []
    await collect(feed.watch(), seen)
    expect(seen).toEqual([closed])
  })

  test('StateFeed forgets readers that leave', async () => {
    const feed = new StateFeed(begun)
    const states = feed.watch()
    for await (const state of states) {
      expect(state.name).toBe('connecting')
      break
    }
    feed.enter(closed)
    expect(await states.next()).toEqual({ value: undefined, done: true })
    const waiting = feed.watch()
    await waiting.next()
    const next = waiting.next()
    await waiting.return()
    expect(await next).toEqual({ value: undefined, done: true })
  })
})

describe('ZooKeeper.closed', () => {
  test('ZooKeeper.closed resolves with the last state when the client is closed, and is one promise', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const before = outcome(zk.closed)
    expect(zk.closed).toBe(zk.closed)
    expect(zk.withChroot('/app').closed).toBe(zk.closed)
    const closing = outcome(zk.close())
    await world.settle()
    expect([before.status, closing.status]).toEqual(['pending', 'pending'])
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(before.value).toEqual(zk.state)
    expect(before.value).toMatchObject({ name: 'closed' })
    expect(closing.status).toBe('fulfilled')
  })

  test('ZooKeeper.closed that is first read after the end resolves, too', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    void outcome(zk.detach())
    connection.reply(await connection.expect(OpCode.sync), SyncResponse, { path: '/' })
    await world.settle()
    await world.advance(15_000)
    expect(await zk.closed).toMatchObject({ name: 'closed' })
  })

  test('ZooKeeper.closed resolves, and does not reject, when a server has refused the credentials', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const over = outcome(zk.closed)
    void outcome(zk.addAuth('digest', 'a:b'))
    connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    await world.settle()
    expect(over.value).toMatchObject({ name: 'authFailed', error: { code: 'AuthFailed', server: 'zk1:2181' } })
  })

  test.each([
    [true, 'pending', undefined],
    [false, 'fulfilled', 'expired'],
  ])('ZooKeeper.closed after an expiry with renewSession %s is %s', async (renewSession, status, name) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { renewSession })
    const over = outcome(zk.closed)
    await expired(world, { server, connection })
    expect(over.status).toBe(status)
    if (name !== undefined) expect(over.value).toMatchObject({ name })
  })
})

describe('ZooKeeper.state', () => {
  test('ZooKeeper.state is that of now, in JSON too', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const session = { sessionId: zk.session.id, timeout: 30_000 }
    const inJson = { sessionId: formatSessionId(zk.session.id) }
    const state = { name: 'connected', since: world.wallNow(), ...session, server: 'zk1:2181', readOnly: false }
    expect(zk.state).toEqual(state)
    expect(JSON.parse(JSON.stringify(zk.state))).toEqual({ ...state, ...inJson })
    await world.advance(1_000)
    expect(zk.state).toEqual(state)
    connection.rst()
    await world.settle()
    const lost = { name: 'disconnected', since: world.wallNow(), ...session, ensembleBehind: false }
    expect(zk.state).toEqual({ ...lost, error: new Error('read ECONNRESET') })
    expect(JSON.parse(JSON.stringify(zk.state))).toEqual({ ...lost, ...inJson, error: 'read ECONNRESET' })
    void outcome(zk.close())
    await world.advance(30_000)
    expect(zk.state.name).toBe('closed')
  })

  test('util.inspect shows how the client stands, and no secret', async () => {
    const world = new VirtualWorld()
    const auth = [{ scheme: 'digest', auth: 'alice:secret' }]
    const { zk } = await connected(world, { auth })
    const shown = inspect(zk.withChroot('/app'))
    expect(shown).toMatch(/^ZooKeeper \{/)
    for (const part of ["name: 'connected'", "server: 'zk1:2181'", formatSessionId(zk.session.id), "chroot: '/app'"]) {
      expect(shown).toContain(part)
    }
    expect(inspect(zk.session)).toMatch(/^Session \{ id: '0x[0-9a-f]+', timeout: 30000, server: 'zk1:2181' \}$/)
    expect(shown + inspect(zk.session, { depth: 20, showHidden: true })).not.toMatch(/secret|alice|passw/)
  })
})
