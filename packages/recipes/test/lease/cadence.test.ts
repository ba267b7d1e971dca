// How often what is held is confirmed: whenever in the rhythm of heartbeats it was acquired, and however much of it there is.
import { describe, expect, test } from 'vitest'
import { type Held, Lock, type ZooKeeper } from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

const PHASES = 24
const TIMEOUTS = 10

/** A client that has been idle for so many ms, behind heartbeats of its own. */
async function idle(sessionTimeout: number, time: number): Promise<{ scene: Scene; zk: ZooKeeper }> {
  const scene = new Scene({ members: 3 })
  const zk = await scene.client({ sessionTimeout })
  await scene.world.advance(time)
  return { scene, zk }
}

function syncs(ops: readonly (string | undefined)[]): number {
  return ops.filter((op) => op === 'sync').length
}

describe('LeaseKeeper', () => {
  test.each([
    [1_000, 0],
    [2_000, 1],
    [4_000, 0],
    [10_000, 5],
    [30_000, 0],
    [30_000, 100],
  ])(
    'LeaseKeeper of a session of %i ms, %i ms from its server, needs two rounds more than three in a session timeout at most',
    async (sessionTimeout, latency) => {
      const more: number[] = []
      for (let phase = 0; phase < PHASES; phase++) {
        const { scene, zk } = await idle(sessionTimeout, (1 + phase / PHASES) * sessionTimeout)
        scene.network.latency = () => latency
        const since = scene.since()
        const acquiring = scene.start(new Lock(zk, '/lock').acquire())
        await scene.world.advance(TIMEOUTS * sessionTimeout)
        more.push(syncs(since.ops()) - 3 * TIMEOUTS)
        expect((await acquiring).value.isHeld()).toBe(true)
      }
      expect(Math.max(...more)).toBeLessThanOrEqual(2)
    },
  )

  test('LeaseKeeper needs no round more for the locks that come and go beside one that is held', async () => {
    const T = 10_000
    const { scene, zk } = await idle(T, 1.9 * T)
    const first = await scene.done(new Lock(zk, '/locks/first').acquire())
    await scene.world.advance(2 * T)
    const since = scene.since()
    const all: Held[] = []
    for (let each = 0; each < 100; each++) {
      all.push(await scene.done(new Lock(zk, `/locks/${each}`).acquire()))
      // The lease is that of the session from the beginning.
      expect(all.at(-1)!.leaseRemaining()).toBe(first.leaseRemaining())
      await scene.world.advance((TIMEOUTS * T) / 100)
      expect(all.filter((held) => !held.isHeld())).toEqual([])
      if (all.length === 10) await scene.done(all.shift()!.release())
    }
    expect(syncs(since.ops())).toBeLessThanOrEqual(3 * TIMEOUTS)
    expect(syncs(since.ops())).toBeGreaterThanOrEqual(3 * TIMEOUTS - 2)
  })

  test('LeaseKeeper needs no round more for what is held again and again for a short time', async () => {
    const T = 10_000
    const { scene, zk } = await idle(T, 1.5 * T)
    const lock = new Lock(zk, '/lock')
    const since = scene.since()
    for (let time = 0; time < TIMEOUTS * T; time += 200) {
      const held = await scene.done(lock.acquire())
      await scene.world.advance(100)
      expect(held.isHeld()).toBe(true)
      await scene.done(held.release())
      await scene.world.advance(100)
    }
    expect(syncs(since.ops())).toBeLessThanOrEqual(3 * TIMEOUTS + 2)
  })

  test('Lock.acquire asks with a sync where no touch is known that is recent enough', async () => {
    const T = 10_000
    const { scene, zk } = await idle(T, 1.5 * T)
    const lock = new Lock(zk, '/lock')
    const held = await scene.done(lock.acquire())
    await scene.world.advance(100)
    await scene.done(held.release())
    // Nothing was held, and so nothing proven, for long.
    await scene.world.advance(T)
    const since = scene.since()
    await scene.done(lock.acquire())
    expect(syncs(since.ops())).toBe(1)
    await scene.done(new Lock(zk, '/beside').acquire())
    expect(syncs(since.ops())).toBe(1)
    // A touch that counted as relayed sooner does not do.
    const patient = await scene.done(new Lock(zk, '/patient', { followerRelayDelay: T / 2 }).acquire())
    expect(syncs(since.ops())).toBe(2)
    expect(patient.isHeld()).toBe(true)
  })
})
