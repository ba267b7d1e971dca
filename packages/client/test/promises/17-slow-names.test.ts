// Look-ups that take long, fail or never end cost no session while addresses are known, and delay a connection by no more
// than their own time and a second.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type LookupHandler } from '../../src/index.ts'
import { FakeServer, NamedWorld, nodeData, outcome } from '../support/index.ts'

const T = 12_000
const HOSTS = ['zk1', 'zk2', 'zk3']
const LIST = HOSTS.map((host) => `${host}:2181`).join(',')

/** Name servers that answer late, or never. */
class SlowNames extends NamedWorld {
  delay = 0
  /** How many look-ups of each name are under way. */
  readonly open = new Map<string, number>()
  most = 0

  override resolve(host: string, handler: LookupHandler): void {
    this.lookups.push(host)
    const count = (this.open.get(host) ?? 0) + 1
    this.open.set(host, count)
    this.most = Math.max(this.most, count)
    if (this.delay === Infinity) return
    this.setTimer(this.delay, () => {
      this.open.set(host, this.open.get(host)! - 1)
      const found = this.names.get(host) ?? new Error(`getaddrinfo EAI_AGAIN ${host}`)
      if (found instanceof Error) handler.failed(found)
      else handler.found(found)
    })
  }
}

function worldOf(seed: number, delay: number): { world: SlowNames; servers: FakeServer[] } {
  const world = new SlowNames(seed)
  world.delay = delay
  const servers = HOSTS.map((host, index) => {
    world.names.set(host, [`10.0.0.${index + 1}`])
    return FakeServer.listen(world, `10.0.0.${index + 1}:2181`)
  })
  return { world, servers }
}

/** Waits for the next attempt and accepts it; returns the time until then. */
async function acceptNext(world: SlowNames, servers: readonly FakeServer[]): Promise<number> {
  const { length } = world.dials
  const began = world.now()
  while (world.dials.length === length) await world.advance(50)
  const at = world.dials.at(-1)!
  await servers.find(({ address }) => address === at.server)!.accept()
  return at.at - began
}

/** A client that is connected to one of its servers, and was never at the others. */
async function connectedByName(seed: number) {
  const { world, servers } = worldOf(seed, 1)
  const connecting = outcome(connect(LIST, { runtime: world, sessionTimeout: T }))
  await world.advance(100)
  const server = servers.find(({ address }) => address === world.dials.at(-1)!.server)!
  const connection = await server.accept()
  await world.advance(T)
  return { world, servers, server, connection, zk: connecting.value }
}

describe('A look-up that takes long', () => {
  test.each([1_500, 5_000, 11_000])(
    'connect has a connection within one look-up of %i ms and a second, with one look-up of each name at a time',
    async (delay) => {
      for (let seed = 1; seed <= 5; seed++) {
        const { world, servers } = worldOf(seed, delay)
        const connecting = outcome(connect(LIST, { runtime: world, sessionTimeout: T, connectTimeout: 30_000 }))
        expect(await acceptNext(world, servers)).toBeLessThanOrEqual(delay + 1_000)
        expect([connecting.status, world.most]).toEqual(['fulfilled', 1])
      }
    },
  )

  test('ZooKeeper forgets the address of a name that does not exist any more, and dials its next one', async () => {
    const { world, servers } = worldOf(1, 1)
    const connecting = outcome(connect('zk1:2181', { runtime: world, sessionTimeout: T }))
    await world.advance(100)
    const connection = await servers[0]!.accept()
    world.names.set('zk1', Object.assign(new Error('getaddrinfo ENOTFOUND zk1'), { code: 'ENOTFOUND' }))
    connection.rst()
    await world.advance(T / 2)
    expect(world.dials.map(({ server }) => server)).toEqual(['10.0.0.1:2181'])
    world.names.set('zk1', ['10.0.0.2'])
    await world.advance(T / 10)
    expect(world.dials.at(-1)!.server).toBe('10.0.0.2:2181')
    expect(connecting.value.session.signal.aborted).toBe(false)
  })

  test('ZooKeeper dials the last known address after a second, in the same session', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { world, servers, connection, zk } = await connectedByName(seed)
      const { id } = zk.session
      world.delay = 5_000
      connection.rst()
      // A random pause of up to T/30, and the second.
      expect(await acceptNext(world, servers)).toBeLessThanOrEqual(1_000 + T / 30 + 50)
      expect(zk.session.id).toBe(id)
    }
  })

  test('ZooKeeper connects to a name that was looked up meanwhile when the attempt at another server fails', async () => {
    const { world, servers } = worldOf(3, 0)
    world.names.set('zk4', ['10.0.0.4'])
    FakeServer.listen(world, '10.0.0.4:2181').swallow()
    for (const server of servers) server.swallow()
    const slow: LookupHandler[] = []
    const resolve = world.resolve.bind(world)
    // The first name that is asked for takes 2 s, longer than an attempt waits for it; others are known at once.
    let first: string | undefined
    world.resolve = (host, handler) => {
      first ??= host
      if (host === first) slow.push(handler)
      else resolve(host, handler)
    }
    const connecting = outcome(connect(`${LIST},zk4:2181`, { runtime: world, sessionTimeout: T }))
    await world.advance(2_000)
    expect([slow.length, world.dials.length]).toEqual([1, 1])
    FakeServer.listen(world, '10.0.1.1:2181')
    slow[0]!.found(['10.0.1.1'])
    // The attempt that is under way has its time, and then it is this one's turn.
    await world.advance(T / 4)
    expect(world.dials[1]!.server).toBe('10.0.1.1:2181')
    expect(connecting.status).toBe('pending')
  })
})

describe('Name servers that are away', () => {
  test.each([
    ['fail', (world: SlowNames) => world.names.clear()],
    ['never answer', (world: SlowNames) => (world.delay = Infinity)],
  ])('ZooKeeper loses no session while they %s and all addresses are known', async (_, take) => {
    for (let seed = 1; seed <= 5; seed++) {
      const { world, servers, server, connection, zk } = await connectedByName(seed)
      const { id } = zk.session
      take(world)
      // Its server is gone for good, too, and swallows what comes.
      server.swallow()
      connection.rst()
      await world.advance(T / 3 + 2_000)
      const next = servers.find(({ address }) => address === world.dials.at(-1)!.server)!
      await next.accept()
      expect([zk.session.id, zk.state.name]).toEqual([id, 'connected'])
    }
  })

  test('ZooKeeper still dials a fallback whose name it has learned on reconnection', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const { world, servers } = worldOf(seed, 1)
      const connecting = outcome(connect(LIST, { runtime: world, sessionTimeout: T }))
      await world.advance(100)
      const own = servers.findIndex(({ address }) => address === world.dials.at(-1)!.server)
      const fallback = (own + 1) % HOSTS.length
      const { address } = servers[fallback]!
      world.names.delete(HOSTS[fallback]!)
      const connection = await servers[own]!.accept()
      const zk = connecting.value
      await world.advance(100)
      world.names.set(HOSTS[fallback]!, [`10.0.0.${fallback + 1}`])
      // The list of the ensemble has a server that is down, and the fallback no more.
      world.names.set('zk4', ['10.0.0.4'])
      void outcome(zk.followServers())
      const lines = [`server.1=${HOSTS[own]}:2888:3888;2181`, 'server.4=zk4:2888:3888;2181', 'version=100000000']
      connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(lines.join('\n')))
      await world.advance(100)
      connection.rst()
      await world.advance(2_000)
      const again = await servers[own]!.accept()
      await world.advance(100)
      world.names.clear()
      servers[own]!.swallow()
      again.rst()
      const { length } = world.dials
      await world.advance(T)
      expect(world.dials.slice(length).map(({ server }) => server)).toContain(address)
    }
  })

  test('ZooKeeper leaves at most one look-up a minute for each name in the thread pool', async () => {
    const { world } = worldOf(1, Infinity)
    const connecting = outcome(connect(LIST, { runtime: world, sessionTimeout: T, connectTimeout: 10 * 60_000 }))
    await world.advance(10 * 60_000)
    expect(connecting.status).toBe('rejected')
    expect(world.lookups.length).toBeLessThanOrEqual(10 * HOSTS.length)
    expect(world.lookups.length).toBeGreaterThanOrEqual(9 * HOSTS.length)
  })
})
