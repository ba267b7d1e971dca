// Promises 3 and 12: what acquiring, releasing, waiting and handing over cost, in round trips, requests and events.
import { describe, expect, test } from 'vitest'
import { type Held, Lock } from '../../src/index.ts'
import { PATH, queued } from '../support/every-recipe.ts'
import { loseReply, loseRequest } from '../support/faults.ts'
import type { Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** A scene in which the path exists: making it is not what these tests count. */
function prepared(): Scene {
  const scene = new Scene()
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH)
  return scene
}

describe('Without contention', () => {
  test.each(queued)('$name is acquired in one round trip and released in one', async ({ make }) => {
    const scene = prepared()
    const zk = await scene.client()
    const since = scene.since()
    const acquiring = make(zk).acquire()
    expect(await scene.roundTrips(acquiring)).toBe(1)
    expect(since.ops()).toEqual(['create2', 'getChildren2'])
    expect(await scene.roundTrips((await acquiring).release())).toBe(1)
    expect(since.ops()).toEqual(['create2', 'getChildren2', 'delete'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run of something short costs two round trips and three requests', async () => {
    const scene = prepared()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    expect(await scene.roundTrips(lock.run(() => {}))).toBe(2)
    expect(since.ops()).toEqual(['create2', 'getChildren2', 'delete'])
  })

  test('Held costs nothing for 50 ms, then one read of its own node, and three rounds of confirmation in a session timeout', async () => {
    const scene = prepared()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH)
    const held = await scene.done(lock.acquire())
    const since = scene.since()
    await scene.world.advance(49)
    expect(since.ops()).toEqual([])
    const timeouts = 20
    await scene.world.advance(timeouts * zk.session.timeout)
    expect(since.ops()[0]).toBe('getData')
    const rounds = since.ops().length - 1
    expect(since.ops().slice(1)).toEqual(Array.from({ length: rounds }, (_, at) => (at % 2 === 0 ? 'sync' : 'multi')))
    expect(rounds / 2 / timeouts).toBeGreaterThan(2.9)
    expect(rounds / 2 / timeouts).toBeLessThan(3.1)
    const sinceRelease = scene.since()
    expect(await scene.roundTrips(held.release())).toBe(1)
    expect(sinceRelease.ops()).toEqual(['removeWatches', 'delete'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.tryAcquire costs a look more', async () => {
    const scene = prepared()
    const lock = new Lock(await scene.client(), PATH)
    expect(await scene.roundTrips(lock.tryAcquire())).toBe(2)
  })
})

describe('With waiters', () => {
  /** A holder and so many waiters, each of a client of its own, in the order of their nodes. */
  async function queue(scene: Scene, waiters: number): Promise<Outcome<Held>[]> {
    const acquirings: Outcome<Held>[] = []
    for (const zk of await scene.clients(waiters + 1)) acquirings.push(await scene.start(new Lock(zk, PATH).acquire()))
    return acquirings
  }

  test.each([2, 10, 100])('Lock is handed over at the same cost with %i waiters', async (waiters) => {
    const scene = prepared()
    const [first, second, third] = await queue(scene, waiters)
    const [firstPath, secondPath] = scene.children(PATH).map((name) => `${PATH}/${name}`)
    const sessions = scene.ensemble.sessions.list().map(({ id }) => id)

    const since = scene.since()
    await scene.done(first!.value.release())
    expect(second!.value.isHeld()).toBe(true)
    expect(since.ops()).toEqual(['delete', 'multi'])
    expect(since.notified).toMatchObject([{ session: sessions[1], type: 'NodeDeleted', path: firstPath }])

    // A contender with two ahead must check which is left.
    const sinceSecond = scene.since()
    await scene.done(second!.value.release())
    expect(third!.value.isHeld()).toBe(true)
    expect(sinceSecond.ops()).toEqual(['delete', 'getChildren2', 'multi'])
    expect(sinceSecond.notified).toMatchObject([{ session: sessions[2], type: 'NodeDeleted', path: secondPath }])
  })

  test('Lock is handed over in one round trip of the next in line', async () => {
    const scene = prepared()
    const [first, second] = await queue(scene, 3)
    scene.network.latency = () => 10
    void first!.value.release()
    await scene.world.advance(19)
    expect(second!.status).toBe('pending')
    await scene.world.advance(1)
    expect(second!.value.isHeld()).toBe(true)
  })

  test('Lock is handed over within a session without a list, unless a contender that was not next has left', async () => {
    const scene = prepared()
    const zk = await scene.client()
    const giving = new AbortController()
    const [first, second, , fourth] = [
      await scene.start(new Lock(zk, PATH).acquire()),
      await scene.start(new Lock(zk, PATH).acquire()),
      await scene.start(new Lock(zk, PATH).acquire({ signal: giving.signal })),
      await scene.start(new Lock(zk, PATH).acquire()),
    ]
    const fifth = await scene.start(new Lock(zk, PATH).acquire())
    const since = scene.since()
    await scene.done(first.value.release())
    expect(second.value.isHeld()).toBe(true)
    expect(since.ops()).toEqual(['delete', 'multi'])
    const sinceGivenUp = scene.since()
    giving.abort()
    await scene.world.settle()
    expect(fourth.status).toBe('pending')
    expect(sinceGivenUp.ops()).toEqual(['removeWatches', 'delete', 'getChildren2', 'multi', 'getData'])
    const sinceSecond = scene.since()
    await scene.done(second.value.release())
    await scene.done(fourth.value.release())
    expect(fifth.value.isHeld()).toBe(true)
    expect(sinceSecond.ops()).toEqual(['delete', 'multi', 'delete', 'multi'])
  })

  test('Lock is handed over with one sync more, in two round trips, to a contender that has waited for long', async () => {
    const scene = prepared()
    const [first, second, third] = await queue(scene, 3)
    await scene.world.advance(60_000)
    const since = scene.since()
    scene.network.latency = () => 10
    void first!.value.release()
    await scene.world.advance(29)
    expect(second!.status).toBe('pending')
    await scene.world.advance(1)
    expect(second!.value.isHeld()).toBe(true)
    expect(since.ops()).toEqual(['removeWatches', 'delete', 'sync', 'multi'])
    const sinceSecond = scene.since()
    void second!.value.release()
    await scene.world.advance(30)
    expect(third!.value.isHeld()).toBe(true)
    expect(sinceSecond.ops()).toEqual(['delete', 'sync', 'getChildren2', 'multi'])
    expect(sinceSecond.notified).toHaveLength(1)
  })

  test.each(Object.entries({ loseRequest, loseReply }))(
    'Lock whose check lost its connection (%s) is handed over with one sync and one check more',
    async (_, fault) => {
      const scene = prepared()
      const clients = await scene.clients(3)
      const acquirings: Outcome<Held>[] = []
      for (const zk of clients) acquirings.push(await scene.start(new Lock(zk, PATH).acquire()))
      // The next in line knows that it is. The one behind it has two ahead, and reads the list again.
      for (const [place, looks] of [[], ['getChildren2']].entries()) {
        const [before, next] = acquirings.slice(place)
        const { session } = clients[place + 1]!
        fault(scene.ensemble.faults, { op: 'multi', session: session.id, times: 1 })
        const since = scene.since()
        void before!.value.release()
        await scene.world.settle()
        while (next!.status === 'pending') await scene.world.advance(1)
        // The first sync is that of the client: a write had no answer. So it repeats the look, too.
        expect(since.ops(session.id)).toEqual([...looks, 'multi', 'sync', ...looks, 'sync', 'multi'])
      }
    },
  )

  test('Lock with the longest follower relay delay is handed over with one sync, too', async () => {
    const scene = prepared()
    const sessionTimeout = 4_000
    const clients = [1, 2, 3].map(() => scene.client({ sessionTimeout }))
    const locks = (await Promise.all(clients)).map(
      (zk) => new Lock(zk, PATH, { followerRelayDelay: sessionTimeout / 2 }),
    )
    const waiting: Outcome<Held>[] = []
    for (const lock of locks) waiting.push(await scene.start(lock.acquire()))
    await scene.world.advance(10 * sessionTimeout)
    // The one in the middle gives up: the last must check which is left, and waits on.
    await scene.done(waiting[0]!.value.release())
    await scene.world.advance(10 * sessionTimeout)
    const since = scene.since()
    await scene.done(waiting[1]!.value.release())
    await scene.world.advance(sessionTimeout)
    expect(waiting[2]!.value.isHeld()).toBe(true)
    const asked = since.ops().slice(0, since.ops().indexOf('multi') + 1)
    expect(asked.filter((op) => op === 'sync')).toHaveLength(1)
    expect(asked.at(-1)).toBe('multi')
  })

  test('Lock wakes only the next in line when the session of a holder with 500 waiters expires (L02)', async () => {
    const scene = prepared()
    const holder = await scene.client()
    const held = await scene.done(new Lock(holder, PATH).acquire())
    const clients = await scene.clients(10)
    const waiting: Outcome<Held>[] = []
    for (const zk of clients) {
      for (let each = 0; each < 50; each++) waiting.push(await scene.start(new Lock(zk, PATH).acquire()))
    }
    const since = scene.since()
    scene.expire(holder)
    await scene.world.settle()
    expect(waiting.filter(({ status }) => status === 'fulfilled')).toEqual([waiting[0]])
    expect(since.notified).toMatchObject([{ session: clients[0]!.session.id, path: held.path }])
    expect(since.ops()).toEqual(['multi'])
  })

  test('Lock that is waited for costs the ensemble nothing', async () => {
    const scene = prepared()
    await queue(scene, 10)
    const [, ...waiting] = scene.ensemble.sessions.list()
    await scene.world.advance(1_000)
    const since = scene.since()
    await scene.world.advance(600_000)
    for (const { id } of waiting) expect(since.ops(id)).toEqual([])
    expect(since.notified).toEqual([])
    // Each waiter has one watch, the holder one on its own node.
    const paths = scene.children(PATH).map((name) => `${PATH}/${name}`)
    const watched = scene.watches().map(({ table, path }) => `${table} ${path}`)
    expect(watched.sort()).toEqual([paths[0]!, ...paths.slice(0, -1)].map((path) => `data ${path}`).sort())
  })

  test('Lock.acquire that is given up wakes only the contender right behind it', async () => {
    const scene = prepared()
    const clients = await scene.clients(4)
    await scene.start(new Lock(clients[0]!, PATH).acquire())
    const giving = new AbortController()
    await scene.start(new Lock(clients[1]!, PATH).acquire({ signal: giving.signal }))
    const third = await scene.start(new Lock(clients[2]!, PATH).acquire())
    await scene.start(new Lock(clients[3]!, PATH).acquire())
    const since = scene.since()
    giving.abort()
    await scene.world.settle()
    expect(since.notified).toMatchObject([{ session: clients[2]!.session.id, type: 'NodeDeleted' }])
    expect(since.ops(clients[2]!.session.id)).toEqual(['getChildren2', 'multi', 'getData'])
    expect(third.status).toBe('pending')
  })
})
