// What a semaphore is for: at most so many permits, in the order of asking.
import { describe, expect, test } from 'vitest'
import { KeeperError, LostError, type WaitTimeoutError, op, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { type Outcome, outcome } from '../support/outside.ts'
import { heldOf } from '../support/holders.ts'
import { nothing, Scene } from '../support/scene.ts'
import { LEASES, LOCKS, PATH, prepare, semaphoreOf, stored, takenBy } from '../support/semaphore.ts'
import type { SemaphoreHeld } from '../../src/index.ts'

async function crowd(permits: number, count: number) {
  const scene = new Scene({ members: 3 })
  const clients = await scene.clients(count)
  const all: Outcome<SemaphoreHeld>[] = []
  for (const zk of clients) all.push(await scene.start(semaphoreOf(zk, { permits }).acquire()))
  return { scene, clients, all }
}

/** A semaphore that nobody uses yet. */
async function idle(permits: number, count: number) {
  const scene = new Scene({ members: 3 })
  prepare(scene, permits)
  return { scene, clients: await scene.clients(count) }
}

describe.each([1, 2, 3])('Semaphore with %i permits', (permits) => {
  test('Semaphore grants as many as there are permits, in the order of asking (P01)', async () => {
    const { scene, all } = await crowd(permits, 6)
    expect(heldOf(all)).toEqual([0, 1, 2].slice(0, permits))
    for (let next = permits; next < all.length; next++) {
      const held = heldOf(all)
      // The youngest first: whichever goes, the oldest that waits is next.
      await scene.done(all[held.at(-1)!]!.value.release())
      expect(heldOf(all)).toEqual([...held.slice(0, -1), next])
    }
    for (const index of heldOf(all)) await scene.done(all[index]!.value.release())
    await scene.world.advance(1_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Semaphore gives every holder a permit of its own, the smallest that is free', async () => {
    const { scene, all } = await crowd(permits, permits + 1)
    const first = all.slice(0, permits).map(({ value }) => value.permit)
    expect(first).toEqual([0, 1, 2].slice(0, permits))
    await scene.done(all[0]!.value.release())
    expect(all[permits]!.value).toMatchObject({ permit: 0, permits: [0], count: 1 })
  })

  test('Semaphore has fencing tokens that rise in the order of grants: the czxids of the nodes', async () => {
    const { scene, all } = await crowd(permits, permits + 2)
    const tokens: bigint[] = []
    for (const { value } of all) {
      tokens.push(value.fencingToken)
      expect(value.fencingToken).toBe(scene.ensemble.nodes.get(value.path)!.stat.czxid)
      await scene.done(value.release())
    }
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
    expect(new Set(tokens).size).toBe(tokens.length)
  })
})

describe('Semaphore.acquire of several permits', () => {
  test('Semaphore.acquire takes all its permits at once, or none', async () => {
    const { scene, clients } = await idle(3, 3)
    const [one, two, three] = clients as [ZooKeeper, ZooKeeper, ZooKeeper]
    const first = await scene.done(semaphoreOf(one, { permits: 3 }).acquire({ count: 2 }))
    expect(first.permits).toEqual([0, 1])
    const big = await scene.start(semaphoreOf(two, { permits: 3 }).acquire({ count: 2 }))
    const small = await scene.start(semaphoreOf(three, { permits: 3 }).acquire())
    // It does not take the one that is free, and one behind it does not overtake it.
    expect(scene.children(LEASES)).toHaveLength(2)
    await scene.done(first.release())
    expect(big.value.permits).toEqual([0, 1])
    expect(small.value.permits).toEqual([2])
    expect(takenBy([big, small])).toBe(3)
  })

  test('SemaphoreHeld of several permits is lost when the node of any of them is deleted, and deletes the others (P09)', async () => {
    for (let gone = 0; gone < 3; gone++) {
      const { scene, clients } = await idle(3, 1)
      const held = await scene.done(semaphoreOf(clients[0]!).acquire({ count: 3 }))
      // From then on it watches its nodes.
      await scene.world.advance(100)
      scene.ensemble.nodes.delete(held.path.replace(/0$/, `${gone}`))
      await scene.world.settle()
      expect(held.isHeld()).toBe(false)
      expect((held.signal.reason as LostError).code).toBe('NodeGone')
      expect(scene.leftovers()).toEqual(nothing)
    }
  })

  test('SemaphoreHeld.multi of several permits is refused when the node of any of them is gone', async () => {
    const { scene, clients } = await idle(3, 1)
    const held = await scene.done(semaphoreOf(clients[0]!, { permits: 3 }).acquire({ count: 3 }))
    const results = await scene.done(held.multi([op.create('/made'), op.check('/made')]))
    expect(results).toEqual([{ path: '/made' }, undefined])
    const wrong = await scene.start(held.multi([op.check('/made'), op.create('/made')]))
    expect(wrong.error).toMatchObject({ code: 'NodeExists', index: 1, results: ['Ok', 'NodeExists'] })
    scene.ensemble.nodes.delete(held.path.replace(/0$/, '2'))
    const refused = await scene.start(held.multi([op.create('/late')]))
    expect(LostError.is(refused.error)).toBe(true)
    expect(scene.ensemble.nodes.get('/late')).toBeUndefined()
    expect(held.checkOps).toHaveLength(3)
  })

  test('Semaphore.release of several permits wakes the next in line once', async () => {
    const { scene, clients } = await idle(3, 2)
    const [one, two] = clients as [ZooKeeper, ZooKeeper]
    const held = await scene.done(semaphoreOf(one, { permits: 3 }).acquire({ count: 3 }))
    const next = await scene.start(semaphoreOf(two, { permits: 3 }).acquire({ count: 3 }))
    const since = scene.since()
    await scene.done(held.release())
    expect(next.value.count).toBe(3)
    expect(since.notified).toHaveLength(1)
  })
})

describe('Semaphore.tryAcquire', () => {
  test('Semaphore.tryAcquire resolves with undefined where too few permits are free, and makes no node', async () => {
    const { scene, clients } = await crowd(2, 1)
    const since = scene.since()
    expect(await scene.done(semaphoreOf(clients[0]!).tryAcquire({ count: 2 }))).toBeUndefined()
    expect(since.ops()).not.toContain('create2')
    const held = await scene.done(semaphoreOf(clients[0]!).tryAcquire())
    expect(held!.permit).toBe(1)
    expect(await scene.done(semaphoreOf(clients[0]!).tryAcquire())).toBeUndefined()
    expect(scene.watches()).toEqual([])
  })

  test('Semaphore.tryAcquire of many at once never gets more than the permits (P02, kazoo#213)', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const scene = new Scene({ seed })
      prepare(scene, 2)
      const clients = await scene.clients(6)
      scene.network.latency = () => Math.floor(scene.world.random() * 5)
      const all = clients.map((zk) => outcome(semaphoreOf(zk).tryAcquire()))
      await scene.world.advance(60)
      const held = all.flatMap(({ value }) => (value === undefined ? [] : [value]))
      expect(held.length).toBeLessThanOrEqual(2)
      expect(scene.children(LEASES)).toHaveLength(held.length)
      expect(scene.children(LOCKS)).toEqual([])
    }
  })

  test('Semaphore never grants more permits when a list is refused that was sent with the create of a node (P02)', async () => {
    let held = 0
    for (let seed = 1; seed <= 100; seed++) {
      const scene = new Scene({ seed })
      prepare(scene, 1)
      const clients = await scene.clients(4)
      scene.network.latency = () => Math.floor(scene.world.random() * 12)
      scene.ensemble.faults.fail({ op: 'getChildren2', nth: 3 + (seed % 5), code: 'OperationTimeout' })
      const all = clients.map(async (zk, index) => {
        await new Promise<void>((resolve) => scene.world.setTimer(Math.floor(scene.world.random() * 30), resolve))
        const semaphore = semaphoreOf(zk)
        if (await (index % 2 === 0 ? semaphore.tryAcquire() : semaphore.acquire())) held++
      })
      for (const each of all) void outcome(each)
      await scene.world.advance(150)
      expect(scene.children(LEASES), `seed ${seed}`).toHaveLength(1)
      expect(held, `seed ${seed}`).toBe(seed)
    }
  })
})

describe('Semaphore seen by others', () => {
  test('Semaphore.holders and contenders name those that hold and wait, oldest first', async () => {
    const { scene, clients, all } = await crowd(2, 3)
    const other = new Semaphore(clients[0]!, PATH, { label: 'host-9' })
    const waiting = await scene.start(other.acquire())
    const holders = await scene.done(other.holders())
    expect(holders.map(({ permit, position, sessionId }) => ({ permit, position, sessionId }))).toEqual([
      { permit: 0, position: 0, sessionId: clients[0]!.session.id },
      { permit: 1, position: 1, sessionId: clients[1]!.session.id },
    ])
    expect(holders[0]).toMatchObject({ path: all[0]!.value.path, kind: 'semaphore' })
    expect(JSON.parse(JSON.stringify(holders[1]))).toMatchObject({ permit: 1, position: 1, isGranted: true })
    const contenders = await scene.done(other.contenders())
    expect(contenders.map(({ sessionId }) => sessionId)).toEqual([clients[2]!.session.id, clients[0]!.session.id])
    expect(contenders[1]).toMatchObject({ label: 'host-9', kind: 'semaphore' })
    expect(contenders.map(({ isGranted }) => isGranted)).toEqual([false, false])
    expect(waiting.status).toBe('pending')
  })

  test('WaitTimeoutError of the first in line names the holders of the permits, and one of them', async () => {
    const { scene, clients, all } = await crowd(2, 2)
    const acquiring = outcome(semaphoreOf(clients[0]!).acquire({ timeout: 500 }))
    await scene.world.advance(500)
    const error = acquiring.error as WaitTimeoutError
    expect(error.path).toBe(PATH)
    expect(error.ahead).toHaveLength(2)
    expect(error.blocker!.path).toBe(error.ahead![0])
    expect(all.map(({ value }) => value.path)).toContain(error.blocker!.path)
    await scene.world.advance(10)
    expect(scene.watches()).toHaveLength(2)
  })

  test('WaitTimeoutError of one behind the first in line names the contender ahead', async () => {
    const { scene, clients } = await crowd(1, 2)
    const acquiring = outcome(semaphoreOf(clients[0]!).acquire({ timeout: 500 }))
    await scene.world.advance(500)
    const [waiting] = scene.children(LOCKS)
    expect((acquiring.error as WaitTimeoutError).blocker).toMatchObject({ path: `${LOCKS}/${waiting}`, isOwn: false })
  })

  test('Semaphore.acquire calls onQueued with those that wait before it, and when it is first with the holders', async () => {
    const { scene, clients, all } = await crowd(1, 2)
    const places: (readonly string[])[] = []
    const onQueued = ({ ahead }: { ahead: readonly string[] }) => places.push(ahead)
    const acquiring = await scene.start(semaphoreOf(clients[0]!).acquire({ onQueued }))
    const [ahead] = scene.children(LOCKS)
    await scene.done(all[0]!.value.release())
    expect(places).toEqual([[`${LOCKS}/${ahead}`], [all[1]!.value.path]])
    await scene.done(all[1]!.value.release())
    expect(acquiring.value.isHeld()).toBe(true)
  })
})

describe('Semaphore beside other programs', () => {
  const curatorLease = `${LEASES}/_c_0c1ac1ba-1f4b-4c73-9d7a-9a5b9b1c5a10-lease-`

  test('Semaphore counts every node in leases, whoever made it: a foreign one takes a permit (P12)', async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(other.create(curatorLease, '10.0.0.1', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    const held = await scene.done(semaphoreOf(zk).acquire())
    // The number of Curator's node is a counter, and no permit.
    expect(held.permit).toBe(0)
    const foreign = await scene.start(other.create(`${LEASES}/x`, '', { mode: 'PERSISTENT' }))
    expect(foreign.status).toBe('fulfilled')
    const acquiring = outcome(semaphoreOf(zk).acquire({ timeout: 500 }))
    await scene.done(held.release())
    await scene.world.advance(500)
    const { ahead, blocker } = acquiring.error as WaitTimeoutError
    expect(ahead).toHaveLength(2)
    expect(ahead).toContain(blocker!.path)
    const holders = await scene.done(semaphoreOf(zk).holders())
    expect(holders.map(({ permit, isGranted }) => [permit, isGranted])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ])
  })

  test('Semaphore ignores children of locks that are no contenders', async () => {
    const scene = new Scene()
    prepare(scene, 1)
    scene.ensemble.nodes.create(`${LOCKS}/x`)
    scene.ensemble.nodes.create(`${LOCKS}/_c_0c1ac1ba-1f4b-4c73-9d7a-9a5b9b1c5a10-lease-0000000001`)
    const held = await scene.done(semaphoreOf(await scene.client()).acquire())
    expect(held.isHeld()).toBe(true)
  })

  test('Semaphore waits behind a Curator contender that keeps one permit while it waits for a second', async () => {
    const scene = new Scene()
    prepare(scene, 1)
    const [zk, curator] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    // It has its first lease, and queues for its second behind ours.
    const lease = await scene.done(curator.create(curatorLease, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    const acquiring = outcome(semaphoreOf(zk).acquire({ timeout: 500 }))
    await scene.world.settle()
    const mutex = `${LOCKS}/_c_0c1ac1ba-1f4b-4c73-9d7a-9a5b9b1c5a10-lock-`
    await scene.done(curator.create(mutex, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    await scene.world.advance(500)
    expect((acquiring.error as WaitTimeoutError).blocker).toMatchObject({ path: lease.path, isOwn: false })
  })

  test('Semaphore waits behind the mutex of a Curator contender, which has a lease and waits for room', async () => {
    const scene = new Scene()
    prepare(scene, 1)
    const [zk, curator] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(semaphoreOf(zk).acquire())
    const mutex = await scene.done(curator.create(`${LOCKS}/_c_0c1ac1ba-1f4b-4c73-9d7a-9a5b9b1c5a10-lock-`, '', { mode: 'EPHEMERAL_SEQUENTIAL' })) // prettier-ignore
    const lease = await scene.done(curator.create(curatorLease, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    const next = await scene.start(semaphoreOf(zk).acquire())
    await scene.done(held.release())
    // Curator's is granted, and leaves the mutex.
    await scene.done(curator.delete(mutex.path))
    expect(next.status).toBe('pending')
    await scene.done(curator.delete(lease.path))
    expect(next.value.isHeld()).toBe(true)
  })
})

describe('Semaphore is used wrongly', () => {
  test.each([
    [{ permits: 0 }, /permits must be a whole number from 1 to 1000000, not 0/],
    [{ permits: 1.5 }, /not 1\.5/],
    [{ permits: 1_000_001 }, /not 1000001/],
    [{ permits: '3' }, /not 3/],
    [{ permit: 3 }, /permits/],
  ])('new Semaphore refuses %j', async (options, message) => {
    const zk = await new Scene().client()
    expect(() => new Semaphore(zk, PATH, options as object)).toThrow(message)
  })

  test('Semaphore.acquire refuses counts that cannot be, and sends nothing', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const semaphore = new Semaphore(zk, PATH, { permits: 3 })
    const since = scene.since()
    for (const count of [0, 1.5, -1, 4, 1_001, '2' as unknown as number]) {
      expect((await scene.start(semaphore.acquire({ count }))).error).toBeInstanceOf(RangeError)
      expect((await scene.start(semaphore.tryAcquire({ count }))).error).toBeInstanceOf(RangeError)
      expect((await scene.start(semaphore.run(() => {}, { count }))).error).toBeInstanceOf(RangeError)
    }
    expect((await scene.start(semaphore.acquire({ counts: 1 } as object))).error).toBeInstanceOf(TypeError)
    expect((await scene.start(semaphore.resize(0))).error).toBeInstanceOf(RangeError)
    expect(since.ops()).toEqual([])
  })

  test('Semaphore.acquire of more permits than are stored rejects, and leaves no node', async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const zk = await scene.client()
    const acquiring = await scene.start(semaphoreOf(zk).acquire({ count: 3 }))
    expect(acquiring.error).toMatchObject({ name: 'RangeError', message: `count is 3, and ${PATH} has only 2 permits` })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Semaphore.run releases, and takes the count', async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const zk = await scene.client()
    const counts = await scene.done(semaphoreOf(zk).run(({ count }) => count, { count: 2 }))
    expect(counts).toBe(2)
    expect(scene.leftovers()).toEqual(nothing)
    expect(stored(2)).toEqual(Buffer.from(scene.ensemble.nodes.get(PATH)!.data))
  })

  test('Semaphore.acquire rejects with NoAuth where leases may not be added to, and leaves nothing', async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const zk = await scene.client()
    scene.ensemble.faults.fail({ op: 'multi', code: 'NoAuth' })
    const acquiring = await scene.start(semaphoreOf(zk).acquire())
    expect(KeeperError.is(acquiring.error, 'NoAuth')).toBe(true)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('SemaphoreHeld has its permits in the order of their numbers', async () => {
    const scene = new Scene()
    prepare(scene, 20)
    const zk = await scene.client()
    await scene.done(semaphoreOf(zk).acquire({ count: 9 }))
    const held = await scene.done(semaphoreOf(zk).acquire({ count: 3 }))
    expect([held.permit, held.permits]).toEqual([9, [9, 10, 11]])
  })
})
