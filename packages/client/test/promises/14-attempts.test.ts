// Every attempt, connection and list of servers begins anew: nothing that one before it has found, drawn or been promised
// counts for it.
import { ErrorResponse, GetDataResponse, OpCode, SetSASLResponse, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, digestMd5, type SaslMechanism } from '../../src/index.ts'
import { challengeOf, user } from '../support/digest-server.ts'
import type { Listener } from '../support/link.ts'
import {
  connected,
  type FakeConnection,
  FakeServer,
  handshakeFrame,
  NamedWorld,
  nodeData,
  outcome,
  reconnected,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000
const PORT = ':2181'

const dialed = (world: VirtualWorld, from: number) => world.dials.slice(from).map(({ server }) => server)
const bytes = (text: string) => new TextEncoder().encode(text)

interface Named {
  readonly world: NamedWorld
  readonly zk: Awaited<ReturnType<typeof connect>>
  readonly connection: FakeConnection
  /** How many have been dialed. */
  readonly from: number
}

/** A client at one of three addresses of `zk`, all of which take it. Two of them have not been tried. */
async function atOneOfThree(seed: number): Promise<Named> {
  const world = new NamedWorld(seed)
  const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
  world.names.set('zk', addresses)
  const servers = new Map(addresses.map((address) => [address + PORT, FakeServer.listen(world, address + PORT)]))
  const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T }))
  await world.settle()
  const connection = await servers.get(world.dials[0]!.server)!.accept()
  return { world, zk: connecting.value, connection, from: world.dials.length }
}

describe('A name is looked up anew', () => {
  const endings: readonly (readonly [string, (at: Named) => void])[] = [
    ['was reset', ({ connection }) => connection.rst()],
    ['was closed', ({ connection }) => connection.fin()],
    ['fell silent', ({ connection }) => connection.freeze()],
    ['broke the protocol', ({ connection }) => connection.reply({ xid: 99 })],
    ['was left for another list', ({ zk }) => zk.updateServers('zk:2181,zk:2182')],
  ]

  test.each(endings)('behind a connection that held and %s: nothing else is dialed', async (_, end) => {
    for (let seed = 1; seed <= 10; seed++) {
      const at = await atOneOfThree(seed)
      const { world, from } = at
      await world.advance(T / 2)
      world.names.set('zk', ['10.0.0.9'])
      FakeServer.listen(world, '10.0.0.9:2181')
      FakeServer.listen(world, '10.0.0.9:2182')
      end(at)
      await world.advance(T)
      const { session } = at.zk
      // Whoever need not move has not moved.
      const where = dialed(world, from).map((server) => server.split(':')[0])
      if (where.length === 0) expect(session.connection).toBeDefined()
      else expect(new Set(where)).toEqual(new Set(['10.0.0.9']))
    }
  })

  test('ZooKeeper goes on with the other addresses where a connection did not hold', async () => {
    const { world, connection, from } = await atOneOfThree(1)
    await world.advance(1_000)
    world.names.set('zk', ['10.0.0.9'])
    connection.rst()
    await world.advance(2_000)
    expect(dialed(world, from)[0]).toMatch(/^10\.0\.0\.[123]:/)
    expect(world.lookups).toEqual(['zk'])
  })

  test('ZooKeeper.updateServers forgets the addresses that have not been tried', async () => {
    const { world, zk, connection, from } = await atOneOfThree(1)
    world.names.set('zk2', ['10.0.2.2'])
    await world.advance(1_000)
    // The two that are left swallow what comes.
    for (const host of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) FakeServer.listen(world, host + PORT).swallow()
    connection.rst()
    while (world.dials.length === from) await world.advance(10)
    zk.updateServers('zk2:2181')
    const to = world.dials.length
    await world.advance(100)
    expect(dialed(world, to)[0]).toBe('10.0.2.2:2181')
  })

  test('ZooKeeper.updateServers forgets the server that was found to take writes', async () => {
    const world = new VirtualWorld()
    const ro = FakeServer.listen(world, 'ro:2181')
    const rw = FakeServer.listen(world, 'rw:2181')
    rw.refuse()
    const connecting = outcome(connect('ro:2181,rw:2181', { runtime: world, sessionTimeout: T, readOnly: true }))
    const connection = await ro.accept({ readOnly: true, timeOut: T, sessionId: 5n })
    const zk = connecting.value
    void outcome(zk.getData('/a'))
    const read = await connection.expect(OpCode.getData)
    rw.listen()
    rw.isro = 'rw'
    // What it was asked before is answered first.
    await world.advance(5_000)
    expect(connection.isClosed).toBe(false)
    const next = FakeServer.listen(world, 'next:2181')
    zk.updateServers('next:2181')
    next.isro = 'rw'
    await world.advance(1_000)
    const from = world.dials.length
    connection.reply(read, GetDataResponse, nodeData('x'))
    await world.settle()
    expect(connection.isClosed).toBe(true)
    await world.advance(1_000)
    expect(dialed(world, from)).toEqual(['next:2181'])
    await next.accept()
  })

  test('ZooKeeper counts a name for as many addresses as it has now, not as it had', async () => {
    for (const [before, now] of [
      [6, 3],
      [3, 6],
    ] as const) {
      const world = new NamedWorld()
      const addresses = Array.from({ length: 6 }, (_, index) => `10.0.0.${index + 1}`)
      world.names.set('zk', addresses.slice(0, before))
      for (const address of addresses) FakeServer.listen(world, address + PORT).swallow()
      outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, connectTimeout: 100 * T }))
      // One whole round.
      await world.advance(T + 1_000)
      world.names.set('zk', addresses.slice(0, now))
      const { length } = world.lookups
      while (world.lookups.length < length + 2) await world.advance(100)
      const from = world.dials.length
      await world.advance(6 * T)
      const moments = world.dials.slice(from).map(({ at }) => at)
      const waits = moments.slice(1).map((at, index) => at - moments[index]!)
      // Each address has its part of a session timeout.
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(T / now)
    }
  })

  test('ZooKeeper.updateServers counts no more the addresses of names that are gone', async () => {
    const { world, zk, connection } = await atOneOfThree(1)
    world.names.set('zk2', ['10.0.2.2'])
    const server = FakeServer.listen(world, '10.0.2.2:2181')
    zk.updateServers('zk2:2181')
    await world.settle()
    expect(connection.isClosed).toBe(true)
    const from = world.dials.length - 1
    expect(dialed(world, from)).toEqual(['10.0.2.2:2181'])
    // The one address and the name before, of which no address is known to count, are two servers: each has T/3.
    await world.advance(T / 3 - 1)
    expect(world.dials.length).toBe(from + 1)
    await server.connection()
  })
})

describe('Each attempt has the time that its link needs', () => {
  const granted = { timeOut: 4_000, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false }

  /** Servers that are all well, so far away that TCP, TLS and handshake take `delay` ms. Returns their list. */
  function farServers(world: VirtualWorld, count: number, delay: number): string {
    const addresses = Array.from({ length: count }, (_, index) => `10.0.0.${index + 1}${PORT}`)
    for (const address of addresses) {
      const dialed: Listener['dialed'] = (link) => {
        const received = () => link.deliver(handshakeFrame(granted))
        world.setTimer(delay, () => link.open({ received, closed: () => {} }))
      }
      world.listen(address, { dialed })
    }
    return addresses.join(',')
  }

  test.each([
    [4_000, 750, 750],
    [10_000, 750, 750],
    // Some rounds are in vain.
    [4_000, 1_250, 20_000],
    [4_000, 3_900, 60_000],
  ])('connect with T = %i ms reaches one of 14 servers that need %i ms', async (sessionTimeout, delay, within) => {
    const world = new VirtualWorld()
    const list = farServers(world, 14, delay)
    const connecting = outcome(connect(list, { runtime: world, sessionTimeout, connectTimeout: 100_000 }))
    await world.advance(within)
    expect(connecting.status).toBe('fulfilled')
  })

  test('ZooKeeper gives a dead server no more than its share of T however often the others refused', async () => {
    const world = new VirtualWorld()
    const servers = ['zk1', 'zk2', 'zk3'].map((name) => FakeServer.listen(world, name + PORT))
    for (const server of servers.slice(1)) server.refuse()
    const list = servers.map(({ address }) => address).join(',')
    const connecting = outcome(connect(list, { runtime: world, sessionTimeout: T }))
    await world.advance(100)
    const connection = await servers[0]!.accept()
    servers[0]!.refuse()
    connection.rst()
    await world.advance(T / 3)
    servers[0]!.swallow()
    while (world.dials.at(-1)!.server !== servers[0]!.address) await world.advance(10)
    const from = world.dials.length
    await world.advance(T / 3)
    expect(world.dials.length).toBeGreaterThan(from)
    expect(connecting.value.session.signal.aborted).toBe(false)
  })
})

describe('What a connection was promised ends with it', () => {
  test('ZooKeeper writes at once to a server though the one before did not read', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    connection.stopReading()
    void outcome(zk.getData('/a'))
    // A ping waits, too.
    await world.advance(T / 3)
    const next = await reconnected(world, { server, connection })
    await next.expect(OpCode.getData)
    expect(next.segments).toEqual([['connect'], ['getData']])
    void outcome(zk.setData('/a', 'x'))
    await next.expect(OpCode.setData)
  })

  test('ZooKeeper asks another server at once for what the one before was too busy for', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const read = outcome(zk.getData('/a'))
    for (let times = 0; times < 8; times++) {
      connection.fail(await connection.expect(OpCode.getData), 'ThrottledOp')
      await world.advance(times < 7 ? 1_000 : 0)
    }
    const next = await reconnected(world, { server, connection })
    const reads = Array.from({ length: 9 }, () => outcome(zk.getData('/b')))
    await world.settle()
    expect(next.segments.flat().filter((name) => name === 'getData')).toHaveLength(10)
    expect(reads.length + Number(read.status === 'pending')).toBe(10)
  })

  test('ZooKeeper sends no ping of the connection before, and waits for none of its answers', async () => {
    const world = new VirtualWorld()
    const { server, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    await world.advance(T / 3)
    expect(connection.heartbeats).toHaveLength(1)
    const next = await reconnected(world, { server, connection })
    expect(next.segments).toEqual([['connect']])
    const since = world.now()
    await world.advance(T)
    expect(next.isClosed).toBe(false)
    expect(next.heartbeats.map((at) => Math.round(at - since))).toEqual([T / 3, (2 * T) / 3, T])
  })

  test('ZooKeeper sends the sync that it owes again where the connection is lost before it is answered', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const write = outcome(zk.setData('/a', 'x'))
    await connection.expect(OpCode.setData)
    const second = await reconnected(world, { server, connection })
    expect(write.error).toMatchObject({ outcomeUnknown: true })
    await second.expect(OpCode.sync)
    const third = await reconnected(world, { server, connection: second })
    const sync = await third.expect(OpCode.sync)
    third.reply(sync, SyncResponse, sync.body)
    await world.settle()
    const fourth = await reconnected(world, { server, connection: third })
    await fourth.expectNothing()
  })

  test('ZooKeeper sends a credential on every connection though its caller has given up meanwhile', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const adding = outcome(zk.addAuth('digest', 'a:b', { timeout: 2_000 }))
    await connection.expect(OpCode.auth)
    server.refuse()
    connection.rst()
    await world.advance(3_000)
    expect(adding.error).toMatchObject({ code: 'RequestTimeout' })
    server.listen()
    await world.advance(5_000)
    const next = await server.accept()
    expect((await next.expect(OpCode.auth)).body.scheme).toBe('digest')
  })

  test('ZooKeeper sends a credential never that no connection was sent while its caller waited', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    server.refuse()
    connection.rst()
    await world.settle()
    const adding = outcome(zk.addAuth('digest', 'a:b', { timeout: 2_000 }))
    await world.advance(3_000)
    expect(adding.error).toMatchObject({ code: 'RequestTimeout' })
    server.listen()
    await world.advance(5_000)
    const next = await server.accept()
    await next.expectNothing()
  })

  test('ZooKeeper forgets what another server was to take off: the next has never had it', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const watch = outcome(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    void outcome(zk.getDataAndWatch('/a'))
    const read = await connection.expect(OpCode.getData)
    void watch.value.return()
    await connection.expectNothing()
    const next = await reconnected(world, { server, connection })
    const again = await next.expect(OpCode.getData)
    expect([read.body.watch, again.body.watch]).toEqual([false, true])
    next.reply(again, GetDataResponse, nodeData(''))
    await next.expectNothing()
  })

  test('ZooKeeper removes no watch from a server if an earlier server kept it without a caller', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    const watch = outcome(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    // A watch for it stays as long as the persistent one.
    void outcome(read.value.unwatch())
    await connection.expectNothing()
    connection.rst()
    await world.settle()
    void watch.value.return()
    await world.advance(1_000)
    const next = await server.accept()
    await next.expectNothing()
  })
})

describe('Each exchange of SASL is one of its own', () => {
  /** A server that accepts every client with the password; the messages of clients to it. */
  async function letIn(connection: FakeConnection): Promise<string> {
    const first = await connection.expect(OpCode.sasl)
    connection.reply(first, SetSASLResponse, { token: challengeOf(first.body.token) })
    const proof = await connection.expect(OpCode.sasl)
    connection.reply(proof, SetSASLResponse, { token: challengeOf(proof.body.token) })
    await connection.expectNothing()
    return new TextDecoder().decode(proof.body.token ?? undefined)
  }

  const valueOf = (said: string, name: string) => new RegExp(`${name}="?([^",]*)`).exec(said)?.[1]

  test('digestMd5 draws a nonce for every connection, and proves itself with that', async () => {
    const drawn: string[] = []
    class Drawing extends VirtualWorld {
      override uuid(): string {
        drawn.push(super.uuid())
        return drawn.at(-1)!
      }
    }
    const world = new Drawing()
    const sasl = digestMd5({ ...user })
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world, sasl }))
    let connection = await server.accept()
    const said = [await letIn(connection)]
    expect(connecting.value.session.connection).toBeDefined()
    // Another client by the same mechanism, too.
    const others = FakeServer.listen(world, 'zk2:2181')
    outcome(connect('zk2:2181', { runtime: world, sasl }))
    said.push(await letIn(await others.accept()))
    for (let times = 0; times < 3; times++) {
      connection = await reconnected(world, { server, connection })
      said.push(await letIn(connection))
    }
    const nonces = said.map((each) => valueOf(each, 'cnonce'))
    expect(nonces).toEqual(drawn.map((uuid) => uuid.replaceAll('-', '')))
    expect(new Set(nonces).size).toBe(5)
    expect(new Set(said.map((each) => valueOf(each, 'response'))).size).toBe(5)
    expect(new Set(said.map((each) => valueOf(each, 'nc')))).toEqual(new Set(['00000001']))
  })

  test('digestMd5 answers each challenge by its own nonce and realm, not by those of one before', () => {
    const mechanism = digestMd5({ username: 'a', password: 'b' })
    const start = () => mechanism.start({ server: 'zk1:2181', nonce: () => 'c' })
    const answer = (challenge: string) => {
      const exchange = start() as { step(token: Uint8Array): Uint8Array }
      return new TextDecoder().decode(exchange.step(bytes(`${challenge},algorithm=md5-sess`)))
    }
    const one = answer('nonce="n",realm="r"')
    const other = answer('nonce="m",realm="s"')
    expect([one, other].map((said) => [valueOf(said, 'nonce'), valueOf(said, 'realm')])).toEqual([
      ['n', 'r'],
      ['m', 's'],
    ])
    expect(valueOf(one, 'response')).not.toBe(valueOf(other, 'response'))
    expect(answer('nonce="n",realm="r"')).toBe(one)
  })

  test('SaslMechanism.start gets the server each time, and a new nonce at each call', async () => {
    const world = new VirtualWorld()
    const servers = ['zk1:2181', 'zk2:2181'].map((address) => FakeServer.listen(world, address))
    const notified: string[] = []
    const nonces: string[] = []
    const sasl: SaslMechanism = {
      name: 'TOLD',
      start: ({ server, nonce }) => {
        notified.push(server)
        nonces.push(nonce(), nonce())
        return { first: bytes('let me in'), step: () => undefined }
      },
    }
    const connecting = outcome(connect('zk1:2181,zk2:2181', { runtime: world, sasl }))
    const visited: string[] = []
    for (let times = 0; times < 4; times++) {
      await world.advance(2_000)
      const server = servers.find(({ address }) => address === world.dials.at(-1)!.server)!
      const connection = await server.accept()
      connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: null })
      await world.settle()
      visited.push(server.address)
      expect(connecting.value.session.connection?.server).toBe(server.address)
      connection.rst()
    }
    expect(notified).toEqual(visited)
    expect(new Set(visited).size).toBe(2)
    expect(new Set(nonces).size).toBe(8)
  })
})
