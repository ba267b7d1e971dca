// A recipe of one's own: a role with several permits is all it takes. Its kind is its own; nothing in the queue knows it.
import { describe, expect, test } from 'vitest'
import type { WaitTimeoutError, ZooKeeper } from '../../src/index.ts'
import { Queue } from '../../src/queue/queue.ts'
import { plainHold, QueueLock } from '../../src/held/queue-lock.ts'
import type { Role } from '../../src/queue/roles.ts'
import { heldOf, throughExpiries } from '../support/holders.ts'
import { type Outcome, outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import type { Held } from '../../src/held/held.ts'

const PATH = '/permits'

function roleWith(permits: number): Role {
  const kind = { name: 'permit', marker: 'permit-' }
  return {
    kind,
    kinds: [kind],
    blockers: (ahead) => (ahead.length < permits ? [] : ahead.last(permits)),
    aheadOnlyShrinks: true,
    trustsOwnSession: true,
  }
}

const lockOf = (zk: ZooKeeper, permits: number) => {
  const role = roleWith(permits)
  return QueueLock.of({ queue: new Queue(zk, PATH, role.kinds), role }, { data: '' }, plainHold)
}

describe.each([1, 2, 3])('QueueLock of a role with %i permits', (permits) => {
  const crowd = async (count: number) => {
    const scene = new Scene({ members: 3 })
    const all: Outcome<Held>[] = []
    const clients = await scene.clients(count)
    for (const zk of clients) all.push(await scene.start(lockOf(zk, permits).acquire()))
    return { scene, all, clients }
  }
  const first = (count: number) => Array.from({ length: count }, (_, index) => index)

  test('QueueLock grants as many as there are permits, in the order of asking', async () => {
    const { scene, all } = await crowd(6)
    expect(heldOf(all)).toEqual(first(permits))
    // The youngest first: whichever goes, the oldest that waits is next.
    for (let next = permits; next < all.length; next++) {
      const held = heldOf(all)
      await scene.done(all[held.at(-1)!]!.value.release())
      await scene.world.advance(100)
      expect(heldOf(all)).toEqual([...held.slice(0, -1), next])
    }
    for (const index of heldOf(all)) await scene.done(all[index]!.value.release())
    await scene.world.advance(1_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('QueueLock watches as many contenders as there are permits, and a release wakes no more than so many', async () => {
    const { scene, all, clients } = await crowd(8)
    const watchesOf = () => clients.slice(permits + 1).map((zk) => scene.watches(zk).length)
    expect(watchesOf()).toEqual(clients.slice(permits + 1).map(() => permits))
    const since = scene.since()
    await scene.done(all[0]!.value.release())
    await scene.world.advance(100)
    expect(heldOf(all)).toEqual(first(permits).map((index) => index + 1))
    expect(since.ops().filter((op) => op === 'getChildren2').length).toBeLessThanOrEqual(permits)
    expect(watchesOf()).toEqual(clients.slice(permits + 1).map(() => permits))
  })

  test('QueueLock that runs out of time names the oldest of its blockers', async () => {
    const { scene, all } = await crowd(permits + 2)
    const zk = await scene.client()
    const acquiring = outcome(lockOf(zk, permits).acquire({ timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(all.length).toBe(permits + 2)
    const error = acquiring.error as WaitTimeoutError
    // It watches the last ones ahead, as many as there are permits.
    expect(error.blocker?.path).toBe(error.ahead!.at(-permits))
  })

  test('QueueLock that no longer waits for a contender watches it no more, whichever goes, and however soon', async () => {
    for (let gone = 0; gone < permits; gone++) {
      // From the read of the list until long after the answer to the last read of a blocker.
      for (let distance = 0; distance <= 12; distance++) {
        const { scene, all } = await crowd(permits)
        const zk = await scene.client()
        scene.network.latency = () => 1
        const acquiring = outcome(lockOf(zk, permits).acquire())
        await scene.world.advance(distance)
        void all[gone]!.value.release()
        // Less than it takes until it watches its own node.
        await scene.world.advance(30)
        expect(acquiring.value.isHeld()).toBe(true)
        expect(scene.watches(zk)).toEqual([])
        // A change of one that it waited for is nothing to it.
        const others = scene.children(PATH).slice(0, permits - 1)
        for (const other of others) scene.ensemble.nodes.setData(`${PATH}/${other}`, 'changed')
        await scene.world.advance(10)
        expect(scene.watches(zk)).toEqual([])
      }
    }
  })

  test('QueueLock that is aborted while it waits leaves no node and no watch, whichever blockers it has', async () => {
    const { scene, all } = await crowd(permits + 2)
    const zk = await scene.client()
    const abort = new AbortController()
    const acquiring = await scene.start(lockOf(zk, permits).acquire({ signal: abort.signal }))
    abort.abort(new Error('enough'))
    await scene.world.advance(100)
    expect(acquiring.error).toMatchObject({ message: 'enough' })
    expect(scene.watches(zk)).toEqual([])
    expect(scene.children(PATH)).toHaveLength(all.length)
  })

  test('QueueLock has no more holders than permits, and loses no waiter, when sessions end at any moment', async () => {
    const scene = new Scene({ members: 3 })
    await throughExpiries(scene, await scene.clients(5), permits, (zk) => lockOf(zk, permits).acquire())
  })
})
