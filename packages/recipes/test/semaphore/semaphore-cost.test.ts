// What a semaphore costs, in round trips, requests and events.
import { describe, expect, test } from 'vitest'
import type { SemaphoreHeld } from '../../src/index.ts'
import type { Outcome } from '../support/outside.ts'
import { heldOf } from '../support/holders.ts'
import { nothing, Scene } from '../support/scene.ts'
import { prepare, semaphoreOf } from '../support/semaphore.ts'

test('Semaphore is acquired in two round trips, and released in one', async () => {
  const scene = new Scene()
  prepare(scene, 2)
  const semaphore = semaphoreOf(await scene.client())
  const since = scene.since()
  const acquiring = semaphore.acquire()
  expect(await scene.roundTrips(acquiring)).toBe(2)
  // Queue and look; take. The last read is in the segment of the transaction.
  expect(since.ops()).toEqual(['create2', 'getChildren2', 'getChildren2', 'getData', 'multi', 'exists'])
  expect(await scene.roundTrips((await acquiring).release())).toBe(1)
  expect(since.ops().slice(6)).toEqual(['delete'])
  expect(scene.leftovers()).toEqual(nothing)
})

test('Semaphore lists those ahead although all are of one session: their events do not show what they have left in leases (P16)', async () => {
  const scene = new Scene()
  prepare(scene, 1)
  const semaphore = semaphoreOf(await scene.client())
  const all: Outcome<SemaphoreHeld>[] = []
  for (let index = 0; index < 5; index++) all.push(await scene.start(semaphore.acquire()))
  for (let turn = 0; turn < 3; turn++) {
    const since = scene.since()
    await scene.done(all[turn]!.value.release())
    expect(heldOf(all)).toEqual([turn + 1])
    // The new holder lists `leases` once more. The one behind it lists `locks`, but for the first turn: it came when only one was
    // ahead. Then it looks at `leases`, and watches it.
    expect(count(since.ops())['getChildren2']).toBe(turn === 0 ? 3 : 4)
  }
})

/** How often each request was made. */
function count(ops: readonly (string | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const op of ops) counts[op ?? ''] = (counts[op ?? ''] ?? 0) + 1
  return counts
}

describe.each([2, 50, 500])('Among %i waiters', (waiters) => {
  const crowd = async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const clients = await scene.clients(8)
    const all: Outcome<SemaphoreHeld>[] = []
    for (let index = 0; index < waiters + 2; index++) {
      all.push(await scene.start(semaphoreOf(clients[index % clients.length]!).acquire()))
    }
    return { scene, all }
  }

  test(`Semaphore hands over among ${waiters} waiters at the same cost, with one event for a release (P14)`, async () => {
    const { scene, all } = await crowd()
    for (let turn = 0; turn < 3; turn++) {
      const [oldest] = heldOf(all)
      const since = scene.since()
      await scene.done(all[oldest!]!.value.release())
      expect(heldOf(all)).toHaveLength(2)
      const told = since.notified.map(({ type }) => type)
      // One for the release, to the first in line, and one for its grant, to the next in line, which then looks.
      expect(told).toEqual(turn < waiters - 1 ? ['NodeChildrenChanged', 'NodeDeleted'] : ['NodeChildrenChanged'])
      const ops = since.ops().filter((op) => op !== 'sync')
      const handedOver = ['delete', 'getChildren2', 'getData', 'multi', 'exists', 'removeWatches']
      // Where others were ahead when it came, it lists those that are.
      const knowsItsTurn = turn === 0
      const nextLooks = [knowsItsTurn ? 'exists' : 'getChildren2', 'getChildren2', 'getData', 'getChildren2', 'getData']
      expect(count(ops)).toEqual(count([...handedOver, ...(turn < waiters - 1 ? nextLooks : [])]))
      if (waiters === 2 && turn === 1) break
    }
  })

  test(`Semaphore that is waited for by ${waiters} costs the ensemble nothing`, async () => {
    const { scene, all } = await crowd()
    await scene.world.advance(100)
    const since = scene.since()
    await scene.world.advance(1_000)
    expect(since.ops()).toEqual([])
    expect(heldOf(all)).toHaveLength(2)
  })
})
