// The lease that something is granted with. Where the process stood still before, its heartbeats are missing, so the ensemble
// may have counted for long already.
import { describe, expect, test } from 'vitest'
import { type HoldOptions, Lock, type ZooKeeper } from '../src/index.ts'
import { leaseTimes } from '../src/lease-times.ts'
import { outcome } from './support/outside.ts'
import { Scene } from './support/scene.ts'

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
  test.each([
    [0, {}, ['create2', 'getChildren2']],
    [0.25, {}, ['create2', 'getChildren2']],
    [0, { strict: true }, ['create2', 'getChildren2', 'sync', 'multi']],
  ])(
    'Lock.acquire after the process stood still for %d T asks for a proof only where it needs one (%j)',
    async (part, options, ops) => {
      const T = 4_000
      const { scene, zk } = await idle(T, T / 3 - 10)
      scene.world.stall(part * T)
      const since = scene.since()
      const held = await granted(scene, zk, options)
      expect(held.isHeld()).toBe(true)
      expect(since.ops().filter((op) => op !== 'ping')).toEqual(ops)
    },
  )

  test('Lock.acquire is granted no lease that outlasts the session, whenever it stood still, and for how long', async () => {
    const T = 4_000
    for (const part of [0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
      for (let longer = 0; longer < T / 3; longer += 190) {
        const { scene, zk } = await idle(T, longer)
        scene.world.stall(part * T)
        const held = await granted(scene, zk)
        scene.freeze(zk)
        while (held.isHeld()) {
          expect(scene.ensemble.sessions.get(zk.session.id), `after ${part} T, ${longer} ms behind`).toBeDefined()
          await scene.world.advance(10)
        }
      }
    }
  })

  test('Lock.acquire is granted when its lease can be proven again before it is over, however old the proof', async () => {
    const T = 1_000
    for (let longer = 0; longer < T / 3; longer += 10) {
      const { scene, zk } = await idle(T, longer)
      const held = await granted(scene, zk, { strict: true, relayAllowance: T / 2 })
      expect(held.leaseRemaining(), `${longer} ms behind`).toBeGreaterThan(2 * leaseTimes.firstProof(T))
      await scene.world.advance(5 * T)
      expect(held.isHeld(), `${longer} ms behind`).toBe(true)
    }
  })

  test('Lock.acquire lets others go on where answers take too long for any lease', async () => {
    const T = 1_000
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const other = await scene.client({ sessionTimeout: 20 * T })
    scene.network.latency = () => 200
    const never = outcome(new Lock(zk, PATH, { strict: true }).acquire())
    await scene.world.advance(500)
    const acquiring = outcome(new Lock(other, PATH).acquire())
    await scene.world.advance(10 * T)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(never.status).toBe('pending')
  })
})
