// What a semaphore does when something goes wrong: exactly one grant or none, never one too many, and nothing is left.
import { describe, expect, test } from 'vitest'
import { WaitTimeoutError, Semaphore, type SemaphoreHeld, type ZooKeeper } from '../../src/index.ts'
import { countedTo, LAST } from '../support/counters.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { drop, fail, type Fault, garbage, loseReply, loseRequest } from '../support/faults.ts'
import { type Outcome, outcome } from '../support/outside.ts'
import { heldOf, throughExpiries } from '../support/holders.ts'
import { nothing, Scene } from '../support/scene.ts'
import { LEASES, LOCKS, PATH, prepare, RECONNECTED, semaphoreOf, stored, takenBy } from '../support/semaphore.ts'

async function prepared(permits: number, members = 1) {
  const scene = new Scene({ members })
  prepare(scene, permits)
  const [zk, other, third] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
  return { scene, zk, other, third }
}

describe('The transaction of a grant', () => {
  test.each<[string, Fault]>([
    ['no request', loseRequest],
    ['no reply', loseReply],
    ['a reply and the end', drop],
    ['garbage', garbage],
    ['ThrottledOp', fail('ThrottledOp')],
  ])('Semaphore.acquire whose transaction comes to %s has its permits once (P07)', async (_, fault) => {
    for (const count of [1, 2]) {
      for (const how of ['acquire', 'tryAcquire'] as const) {
        const { scene, zk, other } = await prepared(2, 3)
        fault(scene.ensemble.faults, { op: 'multi' })
        const acquiring = outcome(semaphoreOf(zk)[how]({ count }))
        await scene.world.advance(RECONNECTED)
        expect(acquiring.value!.permits).toEqual([0, 1].slice(0, count))
        expect(scene.children(LEASES)).toHaveLength(count)
        expect(scene.children(LOCKS)).toEqual([])
        const next = await scene.start(semaphoreOf(other).acquire({ count: 2 }))
        expect(next.status).toBe('pending')
        await scene.done(acquiring.value!.release())
        expect(next.value.count).toBe(2)
        await scene.done(next.value.release())
        expect(scene.leftovers()).toEqual(nothing)
      }
    }
  })

  test('Semaphore.acquire whose transaction was executed late finds its permits, and does not wait for itself', async () => {
    const { scene, zk } = await prepared(1)
    // The connection breaks before the answer, and again before the first read on the next one.
    loseReply(scene.ensemble.faults, { op: 'multi' })
    loseRequest(scene.ensemble.faults, { op: 'getChildren2', nth: 3 })
    const acquiring = outcome(semaphoreOf(zk).acquire())
    await scene.world.advance(2 * RECONNECTED)
    expect(acquiring.value.permit).toBe(0)
    expect(scene.children(LEASES)).toHaveLength(1)
  })

  test('Semaphore.acquire takes no nodes of another session for its own, even with its uuid', async () => {
    const { scene, zk, other } = await prepared(1)
    loseReply(scene.ensemble.faults, { op: 'multi' })
    const acquiring = outcome(semaphoreOf(zk).acquire())
    await scene.world.settle()
    const [name] = scene.children(LEASES)
    scene.ensemble.nodes.delete(`${LEASES}/${name}`)
    await scene.done(other.create(`${LEASES}/${name}`, '', { mode: 'EPHEMERAL' }))
    await scene.world.advance(RECONNECTED)
    expect(acquiring.status).toBe('pending')
    await scene.done(other.delete(`${LEASES}/${name}`))
    await scene.world.settle()
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.children(LEASES)).toHaveLength(1)
  })

  test.each<[string, Fault]>([
    ['no request', loseRequest],
    ['no reply', loseReply],
  ])('SemaphoreHeld.release whose transaction comes to %s resolves when all nodes are gone (L13)', async (_, fault) => {
    const { scene, zk } = await prepared(3)
    const held = await scene.done(semaphoreOf(zk).acquire({ count: 3 }))
    fault(scene.ensemble.faults, { op: 'multi' })
    const releasing = outcome(held.release())
    await scene.world.settle()
    expect(releasing.status).toBe('pending')
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Semaphore.acquire makes leases again when servers have deleted the empty folder', async () => {
    const { scene, zk } = await prepared(1)
    scene.ensemble.nodes.delete(LEASES)
    expect((await scene.done(semaphoreOf(zk).acquire())).permit).toBe(0)
  })
})

describe('Rounds', () => {
  test.each([0, 1, 2])(
    'SemaphoreHeld of three permits whose nodes nobody can watch is lost by a round that checks node %i',
    async (index) => {
      const { scene, zk } = await prepared(3)
      const held = await scene.done(semaphoreOf(zk).acquire({ count: 3 }))
      scene.ensemble.faults.fail({ op: 'getData', code: 'ThrottledOp', times: Infinity })
      scene.ensemble.nodes.delete(held.paths[index]!)
      await scene.world.advance(zk.session.timeout / 3 + 100)
      expect(held.signal.reason).toMatchObject({ code: 'NodeGone', cause: { code: 'NoNode' } })
      scene.ensemble.faults.clear()
      await scene.world.settle()
      expect(scene.children(LEASES)).toEqual([])
    },
  )
})

/** A contender, at another server than the one before it, has the event that it is first. It will find the server that is behind. */
async function wokenBehind() {
  const scene = new Scene({ members: 3 })
  prepare(scene, 1)
  const [behind, ahead] = scene.ensemble.members.filter(({ role }) => role === 'follower')
  const elsewhere = (...members: unknown[]) => {
    for (const member of scene.ensemble.members) {
      if (members.includes(member)) member.accept()
      else member.refuse()
    }
  }
  elsewhere(scene.ensemble.leader)
  const first = await scene.client()
  elsewhere(ahead)
  const zk = await scene.client()
  // The first is about to take the permit when the second queues.
  const rule = scene.ensemble.faults.delayRequest({ op: 'multi', session: first.session.id, ms: 50 })
  const one = await scene.start(semaphoreOf(first).acquire())
  const two = await scene.start(semaphoreOf(zk).acquire())
  expect(scene.children(LOCKS)).toHaveLength(2)
  behind!.lag(500)
  elsewhere(behind)
  scene.network.latency = () => 1
  while (scene.children(LOCKS).length > 1) await scene.world.advance(1)
  expect(rule.count).toBe(1)
  return { scene, zk, behind: behind!, one, two }
}

describe('Lists that are old', () => {
  test.each([
    ['', undefined],
    [', and refuses to say who is gone', 'exists'],
    [', and refuses to list', 'getChildren2'],
    [', and refuses to tell the number', 'getData'],
  ] as const)(
    'Semaphore goes by no list that lacks those before it, on a server that is behind the event that woke it%s (P08)',
    async (_, refused) => {
      let wasBehind = 0
      for (let delay = 0; delay <= 8; delay++) {
        const { scene, zk, behind, one, two } = await wokenBehind()
        await scene.world.advance(delay)
        scene.cut(zk)
        // What is repeated is asked for when the server is no longer behind.
        if (refused !== undefined) {
          scene.ensemble.faults.fail({ op: refused, session: zk.session.id, member: behind.name, code: 'ThrottledOp' })
        }
        await scene.world.advance(400)
        if (behind.connections.length > 0 && two.status === 'pending') wasBehind++
        await scene.world.advance(RECONNECTED)
        expect(one.value.isHeld()).toBe(true)
        expect(two.status).toBe('pending')
        expect(scene.children(LEASES)).toHaveLength(1)
      }
      expect(wasBehind).toBeGreaterThan(0)
    },
  )

  test.each([
    ['', 7],
    [' where the counter sticks', LAST],
  ])(
    'Semaphore has one holder of its permit%s, whenever the first takes it while the next one queues (P08)',
    async (_, counter) => {
      for (let delay = 1; delay <= 20; delay++) {
        const scene = countedTo(LOCKS, counter)
        const [first, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        scene.ensemble.nodes.setData(PATH, stored(1))
        scene.ensemble.nodes.create(LEASES)
        scene.ensemble.faults.delayRequest({ op: 'multi', session: first.session.id, ms: 10 })
        const one = await scene.start(semaphoreOf(first).acquire())
        expect(scene.children(LOCKS)).toHaveLength(1)
        await scene.world.advance(delay - 1)
        scene.network.latency = () => 4
        const two = outcome(semaphoreOf(zk).acquire())
        await scene.world.advance(100)
        expect([one.status, two.status], `${delay} ms`).toEqual(['fulfilled', 'pending'])
        expect(scene.children(LEASES)).toHaveLength(1)
      }
    },
  )

  test('Semaphore goes by no list that lacks those before it, whenever the server that is behind catches up (P08)', async () => {
    const steps = await atEveryFrame(async (frame) => {
      const { scene, zk, behind, one, two } = await wokenBehind()
      // The event has come, and what it made the second one ask is not answered.
      await scene.world.advance(1)
      scene.cut(zk)
      let wasBehind = false
      scene.network.before(frame, () => {
        wasBehind = behind.node(LEASES)?.children.length === 0
        behind.catchUp()
      })
      await scene.world.advance(RECONNECTED)
      expect([one.value.isHeld(), two.status, scene.children(LEASES).length]).toEqual([true, 'pending', 1])
      return wasBehind
    })
    expect(steps).toBeGreaterThan(4)
  })

  test('Semaphore is not granted more than its permits when nodes in locks are deleted by force', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const scene = new Scene({ seed })
      prepare(scene, 2)
      const clients = await scene.clients(6)
      scene.network.latency = () => Math.floor(scene.world.random() * 3)
      const all = clients.map((zk) => outcome(semaphoreOf(zk).acquire()))
      for (let at = 0; at < 30; at++) {
        await scene.world.advance(3)
        const names = scene.children(LOCKS)
        const name = names[Math.floor(scene.world.random() * names.length)]
        if (name !== undefined && at % 4 === 0) scene.ensemble.nodes.delete(`${LOCKS}/${name}`)
        const [held] = heldOf(all)
        if (held !== undefined && at % 10 === 9) void all[held]!.value.release()
        expect(scene.children(LEASES).length).toBeLessThanOrEqual(2)
        expect(takenBy(all)).toBeLessThanOrEqual(2)
      }
    }
  })
})

describe('Semaphore.acquire that is aborted', () => {
  test('Semaphore.acquire that times out or is aborted while disconnected leaves nothing once it is connected again', async () => {
    for (let delay = 0; delay < 12; delay++) {
      const { scene, zk } = await prepared(1)
      scene.network.latency = () => 1
      const acquiring = outcome(semaphoreOf(zk).acquire({ timeout: 200 }))
      await scene.world.advance(delay)
      scene.refuse()
      scene.cut(zk)
      await scene.world.advance(300)
      if (acquiring.status === 'fulfilled') continue
      expect(WaitTimeoutError.is(acquiring.error)).toBe(true)
      scene.accept()
      await scene.world.advance(RECONNECTED)
      scene.network.latency = () => 0
      expect(scene.leftovers()).toEqual(nothing)
    }
  })
})

describe('Sessions that end', () => {
  test('Semaphore.acquire waits on in the next session, as first in line and behind another', async () => {
    const { scene, zk, other, third } = await prepared(1)
    const held = await scene.done(semaphoreOf(zk).acquire())
    const waiting = [await scene.start(semaphoreOf(other).acquire()), await scene.start(semaphoreOf(third).acquire())]
    scene.expire(other)
    scene.expire(third)
    await scene.world.advance(RECONNECTED)
    expect(scene.children(LOCKS)).toHaveLength(2)
    await scene.done(held.release())
    await scene.world.settle()
    expect(heldOf(waiting)).toHaveLength(1)
    await scene.done(waiting[heldOf(waiting)[0]!]!.value.release())
    expect(heldOf(waiting)).toHaveLength(1)
  })

  test('Semaphore gives the permit of a session that ended to the next, also to one of the same client (P06, CURATOR-595)', async () => {
    const { scene, zk } = await prepared(1, 3)
    const semaphore = semaphoreOf(zk)
    const held = await scene.done(semaphore.acquire())
    for (const member of scene.ensemble.members) member.kill()
    await scene.world.advance(3 * zk.session.timeout)
    expect(held.isHeld()).toBe(false)
    const acquiring = outcome(semaphore.acquire())
    for (const member of scene.ensemble.members) member.restart()
    await scene.world.advance(4 * zk.session.timeout)
    expect(acquiring.value.permit).toBe(0)
  })

  test('Semaphore.acquire that is cut off at any step does not stop the others for ever (P04, CURATOR-335)', async () => {
    for (let delay = 0; delay < 16; delay++) {
      const { scene, zk, other } = await prepared(1, 3)
      scene.network.latency = () => 1
      const first = outcome(semaphoreOf(zk).acquire())
      const second = outcome(semaphoreOf(other).acquire())
      await scene.world.advance(delay)
      scene.cut(zk)
      scene.cut(other)
      await scene.world.advance(RECONNECTED)
      const [held] = heldOf([first, second])
      expect(heldOf([first, second])).toHaveLength(1)
      await scene.world.advance(100)
      void [first, second][held!]!.value.release()
      await scene.world.advance(100)
      expect(heldOf([first, second])).toHaveLength(1)
      expect(scene.children(LEASES)).toHaveLength(1)
    }
  })

  test('Semaphore of a view of the client has its nodes below the chroot', async () => {
    const { scene, zk } = await prepared(1)
    const view = zk.withChroot('/app')
    const held = await scene.done(new Semaphore(view, '/s', { permits: 1 }).acquire())
    expect(scene.ensemble.nodes.ephemerals()).toEqual([`/app${held.path}`])
    await scene.world.advance(60_000)
    expect(held.isHeld()).toBe(true)
    await scene.done(held.release())
    expect(scene.leftovers()).toEqual(nothing)
  })
})

test('Semaphore goes on where one call may wait at a time', async () => {
  const scene = new Scene()
  prepare(scene, 1)
  const zk = await scene.client({ advanced: { maxWaiting: 1 } })
  const all: Outcome<SemaphoreHeld>[] = [outcome(semaphoreOf(zk).acquire())]
  await scene.world.advance(60_000)
  expect(heldOf(all)).toEqual([0])
})

test('Semaphore has no more holders than permits, and loses no waiter, when sessions end at any moment', async () => {
  for (const permits of [1, 2, 3]) {
    const scene = new Scene({ members: 3 })
    prepare(scene, permits)
    await throughExpiries(scene, await scene.clients(5), permits, (zk) => semaphoreOf(zk).acquire())
    expect(scene.ensemble.nodes.get(PATH)).toBeDefined()
  }
})

test('Semaphore stores its number again where all of its nodes were deleted, in a node that stays', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const semaphore = new Semaphore(zk, PATH, { permits: 2 })
  await scene.done((await scene.done(semaphore.acquire())).release())
  for (const each of [LOCKS, LEASES, PATH]) {
    if (scene.ensemble.nodes.get(each) !== undefined) scene.ensemble.nodes.delete(each)
  }
  const held = await scene.done(semaphore.acquire())
  await scene.done(semaphore.resize(5))
  await scene.done(held.release())
  // Long enough for servers to delete empty containers.
  await scene.world.advance(200_000)
  expect(await scene.done(semaphore.permits())).toBe(5)
})
