// Locks of one session that give servers different times to relay a touch: what one knows is not enough for another.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type Held, Lock, type ZooKeeper } from '../../src/index.ts'
import { leaseTimes } from '../../src/lease/lease.ts'
import { outcome, SeededRandom } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const T = 4_000

async function idle(): Promise<{ scene: Scene; zk: ZooKeeper }> {
  const scene = new Scene({ members: 3 })
  const zk = await scene.client({ sessionTimeout: T })
  await scene.world.advance(3 * T)
  return { scene, zk }
}

/** A lease rests on a touch that was answered for so long before the sync, or longer. */
const longest = (followerRelayDelay: number) => leaseTimes.proven(T) - followerRelayDelay

describe('Relay.sync', () => {
  test('Relay.sync of a longer follower relay delay does not join the sync of a shorter one that is under way', async () => {
    const { scene, zk } = await idle()
    scene.network.latency = () => 20
    const since = scene.since()
    const short = outcome(new Lock(zk, '/locks/short', { followerRelayDelay: 0 }).acquire())
    await scene.world.advance(5)
    const long = outcome(new Lock(zk, '/locks/long', { followerRelayDelay: T / 2 }).acquire())
    await scene.world.advance(35)
    expect(since.ops().filter((op) => op === 'sync')).toHaveLength(2)
    await scene.world.advance(1_000)
    expect(short.value.isHeld()).toBe(true)
    expect(long.value.leaseRemaining()).toBeLessThanOrEqual(longest(T / 2))
  })
})

describe('Lease', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'Lease of a lock is never longer than its own follower relay delay lets it be, whatever is acquired beside it (seed %i)',
    async (seed) => {
      const { scene, zk } = await idle()
      const random = new SeededRandom(seed)
      scene.network.latency = () => random.below(30)
      const all: { held: Held; followerRelayDelay: number }[] = []
      for (let time = 0; time < 6 * T; time += 50) {
        if (random.below(6) === 0) {
          const followerRelayDelay = [0, 100, T / 4, T / 3, T / 2][random.below(5)]!
          const lock = new Lock(zk, `/locks/${time}`, { followerRelayDelay })
          void lock.acquire().then((held) => all.push({ held, followerRelayDelay }))
        }
        if (all.length > 0 && random.below(12) === 0) void all.splice(random.below(all.length), 1)[0]!.held.release()
        await scene.world.advance(50)
        for (const { held, followerRelayDelay } of all) {
          expect(held.leaseRemaining(), `at ${time}, ${followerRelayDelay}`).toBeLessThanOrEqual(
            longest(followerRelayDelay),
          )
        }
      }
      expect(all.length).toBeGreaterThan(5)
    },
  )
})

describe('LeaseKeeper', () => {
  test.each([
    [1_000, 3, 20],
    [1_000, 2, 80],
    [4_000, 3, 20],
    [4_000, 2, 80],
  ])(
    'LeaseKeeper with T = %d loses no hold with a follower relay delay of T / %d and answers after T / %d',
    async (sessionTimeout, delay, answer) => {
      for (let offset = 0; offset < sessionTimeout / 3; offset += sessionTimeout / 60) {
        const scene = new Scene({ members: 3 })
        const zk = await scene.client({ sessionTimeout })
        scene.network.latency = () => sessionTimeout / answer / 2
        await scene.world.advance(sessionTimeout + offset)
        const acquiring = outcome(
          new Lock(zk, '/locks/report', { followerRelayDelay: sessionTimeout / delay }).acquire(),
        )
        await scene.world.advance(4 * sessionTimeout)
        expect(acquiring.value.isHeld(), `${offset} ms later`).toBe(true)
      }
    },
  )

  test('LeaseKeeper renews no lock by a round that was begun for shorter follower relay delays, whenever it comes', async () => {
    let met = 0
    for (let offset = 0; offset < T / 3; offset += 20) {
      const { scene, zk } = await idle()
      for (const path of ['/short', '/long']) scene.ensemble.nodes.create(path)
      await scene.done(new Lock(zk, '/short', { followerRelayDelay: 0 }).acquire())
      scene.network.latency = () => 30
      await scene.world.advance(T + offset)
      const since = scene.since()
      const long = outcome(new Lock(zk, '/long', { followerRelayDelay: T / 2 }).acquire())
      for (let time = 0; time < 400; time += 5) {
        await scene.world.advance(5)
        if (long.status !== 'fulfilled') continue
        expect(long.value.leaseRemaining(), `${offset} ms later`).toBeLessThanOrEqual(longest(T / 2))
      }
      if (since.ops().includes('multi')) met++
    }
    // A round of some of them was under way.
    expect(met).toBeGreaterThan(5)
  })

  test('LeaseKeeper listens to neither session nor connection once nothing is held, in however many views', async () => {
    const { scene, zk } = await idle()
    const { connection, signal } = zk.session
    const listeners = () => [signal, connection!.signal].map((each) => getEventListeners(each, 'abort').length)
    const before = listeners()
    for (let view = 0; view < 20; view++) {
      const held = await scene.done(new Lock(zk.withChroot(`/view-${view}`), '/locks/report').acquire())
      await scene.world.advance(T)
      expect(held.isHeld()).toBe(true)
      await scene.done(held.release())
    }
    expect(listeners()).toEqual(before)
  })
})
