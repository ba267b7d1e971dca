// For how long a holder may be without a server: what docs/guide/connection-states.md says.
import { expect, test } from 'vitest'
import { Lock } from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

// Hundreds of histories.
const T = 12_000
const LATENCY = 5
/** Moments between two heartbeats, which are T/3 apart. */
const phases = Array.from({ length: 24 }, (_, index) => (index * T) / 3 / 24)

/** Lets some holders be without a server for some ms. Returns how many lost their lock, and the rest of the leases. */
async function away(ms: number): Promise<{ lost: number; left: number[] }> {
  let lost = 0
  const left: number[] = []
  for (const phase of phases) {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client({ sessionTimeout: T })
    scene.network.latency = () => LATENCY
    const acquiring = new Lock(zk, '/locks/report').acquire()
    await scene.world.advance(1_000)
    const held = await acquiring
    await scene.world.advance(3 * T + phase)
    left.push(held.leaseRemaining() / T)
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(ms)
    scene.accept()
    await scene.world.advance(T)
    if (!held.isHeld()) lost++
  }
  return { lost, left }
}

test('Held has between 0.3 T and 0.65 T left of its lease, and survives a fifth of T without a server', async () => {
  const { lost, left } = await away(T / 5)
  expect(Math.min(...left)).toBeGreaterThan(0.29)
  expect(Math.max(...left)).toBeLessThan(0.66)
  expect(lost).toBe(0)
})

test('Held does not survive half of T without a server at most moments', async () => {
  const { lost } = await away(T / 2)
  expect(lost / phases.length).toBeGreaterThan(0.4)
  expect(lost / phases.length).toBeLessThan(0.9)
})
