// Read-only mode: a server without a quorum will do for reads, until one that takes writes is found.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type ConnectionHandler, type ConnectOptions, type DialTarget } from '../../src/index.ts'
import { FakeServer, NamedWorld, nodeData, outcome, replyFrame, VirtualWorld } from '../support/index.ts'

const T = 30_000
const readOnly = { readOnly: true, timeOut: T, sessionId: 0x5n }

/** A client in read-only mode at `ro:2181`; `rw:2181` serves, and the client has not found it yet. */
async function connectedReadOnly(options: ConnectOptions = {}, world = new VirtualWorld()) {
  const [ro, rw] = [FakeServer.listen(world, 'ro:2181'), FakeServer.listen(world, 'rw:2181')]
  rw.refuse()
  const connecting = outcome(
    connect('ro:2181,rw:2181', { runtime: world, sessionTimeout: T, readOnly: true, ...options }),
  )
  const connection = await ro.accept(readOnly)
  return { world, ro, rw, connection, zk: connecting.value }
}

/** Until the client asks the server whether it accepts writes; the server answers that it does. */
async function answerIsro(world: VirtualWorld, server: FakeServer, answer: string): Promise<void> {
  server.listen()
  server.isro = answer
  await world.advance(3_000)
}

describe('Without the option readOnly', () => {
  test('ZooKeeper takes a read-only server for unusable, and goes to the next (S21)', async () => {
    const world = new VirtualWorld(3)
    const [ro, rw] = [FakeServer.listen(world, 'ro:2181'), FakeServer.listen(world, 'rw:2181')]
    const connecting = outcome(connect('ro:2181,rw:2181', { runtime: world }))
    await world.settle()
    if (world.dials[0]!.server === 'ro:2181') {
      const connection = await ro.connection()
      expect((await connection.expectConnect()).readOnly).toBe(false)
      // A real one closes the connection; this one answers all the same.
      connection.accept(readOnly)
    }
    await rw.accept()
    expect(connecting.value.session.connection).toMatchObject({ server: 'rw:2181', readOnly: false })
  })

  test('connect reports that a server is read-only where there is no other (S21)', async () => {
    const world = new VirtualWorld()
    const ro = FakeServer.listen(world, 'ro:2181')
    const connecting = outcome(connect('ro:2181', { runtime: world, connectTimeout: 50 }))
    await ro.accept(readOnly)
    ro.refuse()
    await world.advance(50)
    expect(connecting.error).toHaveProperty('message', expect.stringMatching(/read-only|REFUSED/))
  })
})

describe('With the option readOnly', () => {
  test('ZooKeeper says that it may be read-only, reads, and has its writes refused (S21)', async () => {
    const { world, zk, connection } = await connectedReadOnly()
    expect((await connection.expectConnect()).readOnly).toBe(true)
    expect(zk.session.connection).toMatchObject({ server: 'ro:2181', readOnly: true })
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    const write = outcome(zk.setData('/a', 'y'))
    connection.fail(await connection.expect(OpCode.setData), 'NotReadOnly')
    await world.settle()
    expect(read.status).toBe('fulfilled')
    expect(write.error).toMatchObject({ code: 'NotReadOnly', outcomeUnknown: false })
  })

  test('ZooKeeper asks the servers with growing pauses whether they take writes (S21)', async () => {
    const { world } = await connectedReadOnly()
    const from = world.dials.length
    await world.advance(T)
    const moments = world.dials.slice(from).map(({ at }) => at)
    const pauses = moments.slice(1).map((at, index) => at - moments[index]!)
    expect(moments.length).toBeGreaterThan(8)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(T / 10 + 1_000)
    expect(pauses.at(-1)).toBeGreaterThan(1_000)
  })

  test('ZooKeeper goes to a server that takes writes, with id 0: its real session (S21)', async () => {
    const { world, ro, rw, zk, connection } = await connectedReadOnly()
    const { session } = zk
    expect(session.id).toBe(5n)
    await answerIsro(world, rw, 'rw')
    expect(connection.isClosed).toBe(true)
    const next = await rw.connection()
    expect(await next.expectConnect()).toMatchObject({ sessionId: 0n, passwd: new Uint8Array(16), readOnly: true })
    next.accept({ sessionId: 0x77n, timeOut: T })
    await world.settle()
    expect(zk.session).toBe(session)
    expect(session.id).toBe(0x77n)
    expect(session.connection).toMatchObject({ server: 'rw:2181', readOnly: false })
    // From now on it is asked for by its id.
    ro.refuse()
    next.rst()
    await world.advance(2_000)
    await rw.connection().then(async (again) => expect((await again.expectConnect()).sessionId).toBe(0x77n))
  })

  test('ZooKeeper stays where the others are read-only too, or say nothing of use (S21)', async () => {
    for (const answer of ['ro', 'null', 'This ZooKeeper instance is not currently serving requests\n']) {
      const { world, rw, zk, connection } = await connectedReadOnly()
      await answerIsro(world, rw, answer)
      expect(connection.isClosed).toBe(false)
      expect(zk.session.connection?.server).toBe('ro:2181')
    }
  })

  test('ZooKeeper asks in the way it connects: with TLS where that is spoken', async () => {
    const spoken: unknown[] = []
    class Recorded extends VirtualWorld {
      override dial(target: DialTarget, handler: ConnectionHandler) {
        spoken.push(target.tls)
        return super.dial(target, handler)
      }
    }
    const tls = { servername: 'zk.example' }
    const { world, rw } = await connectedReadOnly({ tls }, new Recorded())
    await answerIsro(world, rw, 'ro')
    expect(spoken.length).toBeGreaterThan(3)
    expect(spoken.every((each) => each !== undefined)).toBe(true)
    expect(spoken.at(-1)).toEqual(tls)
  })

  test('ZooKeeper asks every address of a name, and goes to the one that takes writes (S21)', async () => {
    const world = new NamedWorld()
    world.names.set('zk', ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
    const addresses = ['10.0.0.1:2181', '10.0.0.2:2181', '10.0.0.3:2181']
    const servers = addresses.map((address) => FakeServer.listen(world, address))
    const connecting = outcome(connect('zk:2181', { runtime: world, sessionTimeout: T, readOnly: true }))
    await world.settle()
    const [first, ...others] = [...servers].sort(
      (one, other) => Number(other.address === world.dials[0]!.server) - Number(one.address === world.dials[0]!.server),
    )
    await first!.accept(readOnly)
    await world.advance(5_000)
    expect(new Set(world.dials.slice(1).map(({ server }) => server))).toEqual(new Set(addresses))
    others[1]!.isro = 'rw'
    await world.advance(10_000)
    await others[1]!.accept({ timeOut: T })
    expect(connecting.value.session.connection).toMatchObject({ server: 'zk:2181', readOnly: false })
  })

  test('ZooKeeper looks the name up for every question: servers may have gone elsewhere (S21)', async () => {
    const world = new NamedWorld()
    const server = FakeServer.listen(world, '10.0.0.1:2181')
    const moved = FakeServer.listen(world, '10.0.0.3:2181')
    moved.isro = 'rw'
    world.names.set('zk', ['10.0.0.1'])
    const connecting = outcome(connect('zk:2181', { runtime: world, readOnly: true }))
    await server.accept(readOnly)
    const isConnected = () => connecting.value.session.connection !== undefined
    world.names.set('zk', ['10.0.0.1', '10.0.0.3'])
    while (isConnected()) await world.advance(100)
    await moved.accept()
    await world.settle()
    expect(connecting.value.session.connection?.readOnly).toBe(false)
  })

  test('ZooKeeper is not held up by a server that takes the question and never answers (S21)', async () => {
    const { world, rw, zk, connection } = await connectedReadOnly()
    rw.listen()
    rw.isro = undefined
    await world.advance(10_000)
    expect(connection.isClosed).toBe(false)
    const asked = world.dials.filter(({ server }) => server === 'rw:2181').length
    expect(asked).toBeGreaterThan(2)
    expect(zk.session.connection?.server).toBe('ro:2181')
    expect(world.timers).toBeLessThanOrEqual(2)
  })

  test('ZooKeeper asks no server any more when it is closed, or at a server that takes writes', async () => {
    const { world, rw, zk, connection } = await connectedReadOnly()
    await answerIsro(world, rw, 'rw')
    await rw.accept({ timeOut: T })
    const { length } = world.dials
    await world.advance(T / 2)
    expect(world.dials.length).toBe(length)
    expect(connection.isClosed).toBe(true)
    const closing = outcome(zk.close())
    await world.advance(T)
    expect(closing.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
  })

  test('ZooKeeper waits with the move for what was asked: no outcome is left unknown', async () => {
    const { world, rw, zk, connection } = await connectedReadOnly()
    const write = outcome(zk.setData('/a', 'y'))
    const request = await connection.expect(OpCode.setData)
    await answerIsro(world, rw, 'rw')
    expect(connection.isClosed).toBe(false)
    connection.fail(request, 'NotReadOnly')
    await world.settle()
    expect(write.error).toMatchObject({ code: 'NotReadOnly', outcomeUnknown: false })
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper asks no server while it waits with the move, and then goes to the one that it has found', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { world, rw, zk, connection } = await connectedReadOnly({}, new VirtualWorld(seed))
      void outcome(zk.getData('/a'))
      const request = await connection.expect(OpCode.getData)
      await answerIsro(world, rw, 'rw')
      const { length } = world.dials
      rw.isro = undefined
      await world.advance(T / 2)
      expect(world.dials.length).toBe(length)
      connection.reply(request, GetDataResponse, nodeData('x'))
      await world.settle()
      expect(connection.isClosed).toBe(true)
      expect(world.dials.slice(length).map(({ server }) => server)).toEqual(['rw:2181'])
    }
  })

  test('ZooKeeper goes less and less often to a server that says it takes writes, and does not take the client', async () => {
    const { world, ro, rw } = await connectedReadOnly()
    rw.isro = 'rw'
    rw.refuse()
    let dials = world.dials.length
    let sessions = 0
    // It answers the question, and no handshake.
    rw.listen()
    for (const end = world.now() + T; world.now() < end; await world.advance(10)) {
      if (world.dials.length === dials) continue
      dials = world.dials.length
      await world.settle()
      for (const server of [ro, rw]) {
        const connection = await server.connection().catch(() => undefined)
        if (connection === undefined) continue
        await connection.expectConnect()
        if (server === rw) connection.fin()
        else connection.accept(readOnly)
        if (server === ro) sessions++
      }
    }
    expect(sessions).toBeGreaterThan(5)
    expect(sessions).toBeLessThan(40)
  })

  test('ZooKeeper.updateServers while a server is asked: what it says no longer counts', async () => {
    const { world, rw, zk, connection } = await connectedReadOnly()
    rw.listen({ delay: 500 })
    rw.isro = 'rw'
    while (world.dials.at(-1)!.server !== 'rw:2181') await world.advance(20)
    const { length } = world.dials
    zk.updateServers('ro:2181')
    await world.advance(5_000)
    expect(world.dials.slice(length).map(({ server }) => server)).not.toContain('rw:2181')
    expect(world.dials.length).toBeGreaterThan(length)
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper.updateServers by a function that is asked for TLS, for a question, leaves no connection', async () => {
    const world = new NamedWorld()
    world.names.set('ro', ['10.0.0.1']).set('rw', ['10.0.0.2'])
    const server = FakeServer.listen(world, '10.0.0.1:2181')
    const open = new Set<object>()
    world.listen('10.0.0.2:2181', {
      dialed: (link) => {
        open.add(link)
        link.open({ received: () => {}, closed: () => void open.delete(link) })
      },
    })
    let change = () => {}
    const tls = () => {
      change()
      return true as const
    }
    const hostProvider = () => {
      let asked = 0
      const next = () => ({ host: asked++ === 0 ? 'ro' : 'rw', port: 2181 })
      return { size: 2, next, connected: () => {}, update: () => false }
    }
    const options = { runtime: world, readOnly: true, tls, advanced: { hostProvider } }
    const connecting = outcome(connect('ro:2181,rw:2181', options))
    await server.accept(readOnly)
    const zk = connecting.value
    let changes = 0
    change = () => {
      if (changes++ === 0) zk.updateServers('ro:2181')
    }
    await world.advance(20_000)
    outcome(zk.close())
    await world.advance(60_000)
    expect({ wasAsked: changes > 0, open: open.size }).toEqual({ wasAsked: true, open: 0 })
  })

  test('ZooKeeper keeps owing a sync that a read-only server refuses, and stays there', async () => {
    const { world, ro, rw, zk, connection } = await connectedReadOnly()
    const write = outcome(zk.setData('/a', 'y'))
    await connection.expect(OpCode.setData)
    connection.rst()
    await world.advance(2_000)
    expect(write.error).toMatchObject({ outcomeUnknown: true })
    const again = await ro.accept(readOnly)
    again.fail(await again.expect(OpCode.sync), 'NotReadOnly')
    await world.settle()
    expect(again.isClosed).toBe(false)
    await answerIsro(world, rw, 'rw')
    const real = await rw.accept({ timeOut: T })
    await real.expect(OpCode.sync)
    expect(zk.session.connection?.readOnly).toBe(false)
  })

  test('connect goes on to the next server where one gives no sessions: a header in place of the answer', async () => {
    const world = new VirtualWorld()
    const ro = FakeServer.listen(world, 'ro:2181')
    const connecting = outcome(connect('ro:2181', { runtime: world, readOnly: true, connectTimeout: 50 }))
    const connection = await ro.connection()
    await connection.expectConnect()
    connection.raw(replyFrame({ xid: 0, zxid: 7n, err: 'NotReadOnly' }))
    ro.refuse()
    await world.advance(50)
    expect(connection.isClosed).toBe(true)
    expect(connecting.status).toBe('rejected')
  })

  test('ZooKeeper.detach has nothing to give of a session that only a read-only server knows', async () => {
    const { world, zk } = await connectedReadOnly()
    const detaching = outcome(zk.detach())
    await world.settle()
    expect(detaching.error).toMatchObject({ code: 'NotReadOnly', op: 'detach' })
    expect(zk.session.signal.aborted).toBe(false)
  })
})
