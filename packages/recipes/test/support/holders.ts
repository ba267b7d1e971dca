// Several attempts to hold the permits of one path.
import { expect } from 'vitest'
import type { Held, ZooKeeper } from '../../src/index.ts'
import { type Outcome, outcome } from './outside.ts'
import type { Scene } from './scene.ts'

/** Which of them hold. */
export function heldOf(all: readonly Outcome<Held>[]): number[] {
  return all.flatMap((each, index) => (each.status === 'fulfilled' && each.value.isHeld() ? [index] : []))
}

/** Releases one hold after the other, while sessions expire. There are never more holders than permits, and each attempt holds once. */
export async function throughExpiries(
  scene: Scene,
  clients: readonly ZooKeeper[],
  permits: number,
  acquire: (zk: ZooKeeper) => Promise<Held>,
): Promise<void> {
  const all = clients.map((zk) => outcome(acquire(zk)))
  for (let round = 0; round < 12; round++) {
    await scene.world.advance(37 * (round + 1))
    expect(heldOf(all).length).toBeLessThanOrEqual(permits)
    if (round % 3 === 0) scene.expire(clients[round % clients.length]!)
    const [index] = heldOf(all)
    if (index !== undefined) void outcome(all[index]!.value.release())
  }
  await scene.world.advance(120_000)
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 'fulfilled'))
}
