// The lease that something is granted with. Where the process stood still before, its heartbeats are missing, so the ensemble
// may have counted for long already.
import { describe, expect, test } from 'vitest'
import { type HoldOptions, Lock, type ZooKeeper } from '../../src/index.ts'
import { leaseTimes } from '../../src/lease/lease.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

/** A client that has been idle for long, and so much longer. */
async function idle(T: number, longer = 0): Promise<{ scene: Scene; zk: ZooKeeper }> {
  const scene = new Scene()
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH)
  const zk = await scene.client({ sessionTimeout: T })
  await scene.world.advance(2 * T + longer)
  return { scene, zk }
}

async function granted(scene: Scene, zk: ZooKeeper, options?: HoldOptions) {
  const acquiring = outcome(new Lock(zk, PATH, options).acquire())
  await scene.world.settle()
  while (acquiring.status === 'pending') await scene.world.advance(10)
  return acquiring.value
}

describe('Lock.acquire', () => {
  test.each([0, 0.1, 0.25])(
    'Lock.acquire of an idle session whose process stood still for %d T asks with one sync ahead of the create',
    async (part) => {
      const T = 4_000
      const { scene, zk } = await idle(T, T / 3 - 10)
      scene.world.stall(part * T)
      const since = scene.since()
      const held = await granted(scene, zk)
      expect(held.isHeld()).toBe(true)
      expect(since.ops()).toEqual(['sync', 'create2', 'getChildren2'])
    },
  )

  test('Lock.acquire of a session that was just opened needs no sync: its handshake is the touch', async () => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client()
    const since = scene.since()
    await scene.done(new Lock(zk, PATH).acquire())
    expect(since.ops()).not.toContain('sync')
  })

  test('Lock.acquire right behind a reconnection needs no sync either, whatever was synced on the connection before', async () => {
    const { scene, zk } = await idle(4_000)
    await scene.done((await granted(scene, zk)).release())
    for (let time = 0; time < 2; time++) {
      const { connection } = zk.session
      scene.cut(zk)
      await scene.world.settle()
      while (zk.session.connection === undefined) await scene.world.advance(1)
      expect(zk.session.connection).not.toBe(connection)
      const since = scene.since()
      await scene.done((await granted(scene, zk)).release())
      expect(since.ops()).not.toContain('sync')
    }
  })

  test('Relay has one sync serve all that ask for no older touch while it is on its way, a longer one beside a shorter', async () => {
    const { scene, zk } = await idle(4_000)
    for (const name of ['a', 'b', 'c', 'd']) scene.ensemble.nodes.create(`/locks/${name}`)
    scene.network.latency = () => 100
    const since = scene.since()
    const acquire = (name: string, followerRelayDelay: number) =>
      outcome(new Lock(zk, `/locks/${name}`, { followerRelayDelay }).acquire())
    const all = [acquire('a', 1_000)]
    await scene.world.advance(50)
    all.push(acquire('b', 2_000))
    // The shorter one is answered; the longer one is still on its way.
    await scene.world.advance(70)
    all.push(acquire('c', 2_000), acquire('d', 1_500))
    while (all.some(({ status }) => status === 'pending')) await scene.world.advance(1)
    expect(since.ops().filter((op) => op === 'sync')).toHaveLength(2)
  })

  test('Lock.acquire in an idle session takes two round trips, and one where another was granted just before', async () => {
    const { scene, zk } = await idle(4_000)
    scene.ensemble.nodes.create('/locks/other')
    expect(await scene.roundTrips(new Lock(zk, PATH).acquire())).toBe(2)
    expect(await scene.roundTrips(new Lock(zk, '/locks/other').acquire())).toBe(1)
  })

  test('Lock.tryAcquire in an idle session takes two round trips: its sync goes with the first look', async () => {
    const { scene, zk } = await idle(4_000)
    expect(await scene.roundTrips(new Lock(zk, PATH).tryAcquire())).toBe(2)
  })

  test('Lock.acquire asks many locks of one turn for one sync', async () => {
    const { scene, zk } = await idle(4_000)
    const since = scene.since()
    const all = Array.from({ length: 20 }, (_, index) => new Lock(zk, `/locks/${index}`).acquire())
    await scene.done(Promise.all(all))
    expect(since.ops().filter((op) => op === 'sync')).toHaveLength(1)
  })

  test('Lock.acquire that is aborted before its sync is answered makes no node', async () => {
    const { scene, zk } = await idle(4_000)
    const abort = new AbortController()
    scene.network.latency = () => 10
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire({ signal: abort.signal }))
    await scene.world.advance(5)
    abort.abort(new Error('enough'))
    await scene.world.advance(1_000)
    expect(acquiring.error).toMatchObject({ message: 'enough' })
    expect(since.ops()).not.toContain('create2')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire is granted no lease that outlasts the session, whenever it stood still, and for how long', async () => {
    const T = 4_000
    for (const part of [0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
      for (let longer = 0; longer < T / 3; longer += 270) {
        const { scene, zk } = await idle(T, longer)
        scene.world.stall(part * T)
        const held = await granted(scene, zk)
        scene.freeze(zk)
        scene.refuse()
        while (held.isHeld()) {
          expect(scene.ensemble.sessions.get(zk.session.id), `after ${part} T, ${longer} ms behind`).toBeDefined()
          await scene.world.advance(25)
        }
      }
    }
  })

  test('Lock.acquire is granted when its lease can be proven again before it is over, however old the proof', async () => {
    const T = 1_000
    for (let longer = 0; longer < T / 3; longer += 10) {
      const { scene, zk } = await idle(T, longer)
      const held = await granted(scene, zk, { followerRelayDelay: T / 2 })
      expect(held.leaseRemaining(), `${longer} ms behind`).toBeGreaterThan(leaseTimes.round(T))
      await scene.world.advance(5 * T)
      expect(held.isHeld(), `${longer} ms behind`).toBe(true)
    }
  })

  test.each([1, 20, 500, 'default', 1_500, 2_000] as const)(
    'Lock.acquire with a follower relay delay of %s ms touches, and pauses for it, before it proves anew',
    async (followerRelayDelay) => {
      const T = 4_000
      const options = followerRelayDelay === 'default' ? {} : { followerRelayDelay }
      // Timers go by whole ms.
      const delay = Math.ceil(options.followerRelayDelay ?? T / 3)
      let pauses = 0
      for (let latency = 100; latency < T / 2; latency += 600) {
        for (let longer = 0; longer < T / 3; longer += 610) {
          const { scene, zk } = await idle(T, longer)
          const { connection } = zk.session
          scene.network.latency = () => latency
          const since = scene.since()
          const acquiring = outcome(new Lock(zk, PATH, options).acquire())
          while (acquiring.status === 'pending' && since.ops().filter((op) => op === 'sync').length < 2) {
            await scene.world.advance(1)
          }
          const { asked } = since
          const again = asked.findLastIndex(({ op }) => op === 'sync')
          // A silence that is noticed has pauses of its own.
          if (again === 0 || zk.session.connection !== connection) continue
          const pause = asked[again]!.at - (asked[again - 1]!.at + latency)
          // The answer to its touch, which leaves when an earlier heartbeat is answered.
          expect(pause).toBeGreaterThanOrEqual(delay + latency)
          expect(pause).toBeLessThanOrEqual(delay + 2 * latency)
          pauses++
        }
      }
      expect(pauses).toBeGreaterThan(0)
    },
  )

  test('Lock.acquire whose lease must be proven again keeps its place meanwhile', async () => {
    const T = 4_000
    const scene = new Scene()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    const zk = await scene.client({ sessionTimeout: T })
    const other = await scene.client()
    // Its handshake is the touch, old enough when it asks, and too old when the answer comes.
    await scene.world.advance(0.7 * T)
    const { id } = zk.session
    scene.ensemble.faults.delayRequest({ op: 'create', session: id, ms: 0.15 * T, times: 1 })
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(0.16 * T)
    const behind = outcome(new Lock(other, PATH).acquire())
    await scene.world.advance(T)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(behind.status).toBe('pending')
    const ops = since.ops(id)
    expect(ops.slice(0, ops.indexOf('multi') + 1)).toEqual(['create2', 'getChildren2', 'sync', 'multi'])
    expect(ops).not.toContain('delete')
  })

  test('Lock.acquire lets others go on where answers take too long for any lease', async () => {
    const T = 1_000
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const other = await scene.client({ sessionTimeout: 20 * T })
    scene.network.latency = () => 200
    // Until the handshakes are too old to count a lease from.
    await scene.world.advance(2 * T)
    const never = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(500)
    const acquiring = outcome(new Lock(other, PATH).acquire())
    await scene.world.advance(10 * T)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(never.status).toBe('pending')
  })
})
