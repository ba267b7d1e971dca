// What a MultiLock does when something goes wrong: all of its locks or none, and nothing is left.
import { describe, expect, test } from 'vitest'
import { Lock, MultiLock, type ZooKeeper } from '../../src/index.ts'
import { eachFault, loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const A = '/locks/a'
const B = '/locks/b'
const PATHS = [A, B]
/** Longer than any pause before a new connection. */
const RECONNECTED = 2_000

async function prepared(members = 1) {
  const scene = new Scene({ members })
  scene.ensemble.nodes.create('/locks')
  for (const path of PATHS) scene.ensemble.nodes.create(path)
  const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  return { scene, zk, other }
}

const multi = (zk: ZooKeeper, paths = PATHS) => new MultiLock(zk, paths)

describe('Answers that are lost', () => {
  const requests = [
    ['the transaction', { op: 'multi' }],
    ['the first list', { op: 'getChildren2' }],
    ['the second list', { op: 'getChildren2', nth: 2 }],
  ] as const

  test.each(requests.flatMap(([what, match]) => eachFault.map(([name, fault]) => [what, name, match, fault] as const)))(
    'MultiLock.acquire whose %s meets %s has one node on each path, and all are of one transaction (M02)',
    async (_, __, match, fault) => {
      const { scene, zk, other } = await prepared()
      fault(scene.ensemble.faults, match)
      const acquiring = outcome(multi(zk).acquire())
      await scene.world.advance(60_000)
      expect(scene.ensemble.faults.rules).toEqual([])
      expect(acquiring.value.isHeld()).toBe(true)
      for (const path of PATHS) expect(scene.children(path)).toHaveLength(1)
      const czxids = acquiring.value.paths.map((path) => scene.ensemble.nodes.get(path)!.stat.czxid)
      expect(new Set([...czxids, acquiring.value.fencingToken]).size).toBe(1)
      const next = await scene.start(multi(other, [B, A]).acquire())
      await scene.done(acquiring.value.release())
      await scene.done(next.value.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test.each([
    ['the reply and then the request', loseReply, loseRequest],
    ['the request and then the reply', loseRequest, loseReply],
    ['both replies', loseReply, loseReply],
  ])('MultiLock.acquire that loses %s of its creates keeps one set of nodes', async (_, first, second) => {
    const { scene, zk } = await prepared()
    first(scene.ensemble.faults, { op: 'multi' })
    second(scene.ensemble.faults, { op: 'multi', nth: 2 })
    const acquiring = outcome(multi(zk).acquire())
    await scene.world.advance(3 * RECONNECTED)
    expect(acquiring.value.isHeld()).toBe(true)
    for (const path of PATHS) expect(scene.children(path)).toHaveLength(1)
    await scene.done(acquiring.value.release())
    await scene.world.advance(RECONNECTED)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('MultiLock.acquire that is woken by its search finds one node gone: it deletes the rest, and queues again', async () => {
    const { scene, zk } = await prepared()
    loseReply(scene.ensemble.faults, { op: 'multi' })
    const acquiring = outcome(multi(zk).acquire())
    await scene.world.settle()
    const first = scene.children(A)[0]!
    scene.ensemble.nodes.delete(`${B}/${scene.children(B)[0]}`)
    await scene.world.advance(2 * RECONNECTED)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.children(A)).toHaveLength(1)
    expect(scene.children(A)[0]).not.toBe(first)
    expect(scene.children(B)).toHaveLength(1)
  })

  test.each([loseRequest, loseReply])(
    'MultiHeld.release whose transaction gets no answer resolves when all nodes are gone',
    async (fault) => {
      const { scene, zk } = await prepared()
      const held = await scene.done(multi(zk).acquire())
      fault(scene.ensemble.faults, { op: 'multi' })
      const releasing = outcome(held.release())
      await scene.world.advance(RECONNECTED)
      expect(releasing.status).toBe('fulfilled')
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})

describe('MultiLock.acquire that is given up', () => {
  test('MultiLock.acquire with nodes of one name on two paths lets none behind it pass the holder of one of them', async () => {
    const { scene, zk, other } = await prepared()
    // The transaction uses a number of A for its brief node, so the nodes of `both` have the number 2. One path is free.
    const held = await scene.done(new Lock(other, A).acquire())
    for (let run = 1; run <= 2; run++) await scene.done(new Lock(other, B).run(() => {}))
    const giving = new AbortController()
    const both = await scene.start(multi(zk).acquire({ signal: giving.signal }))
    expect(scene.children(B)).toEqual([scene.children(A).at(-1)])
    const behind = await scene.start(new Lock(zk, A).acquire())
    giving.abort()
    await scene.world.settle()
    expect(both.status).toBe('rejected')
    expect(behind.status).toBe('pending')
    await scene.done(held.release())
    expect(behind.value.isHeld()).toBe(true)
  })
})

describe('Nodes and sessions that go', () => {
  test.each([A, B])(
    'MultiLock.acquire that waits queues again on all paths as soon as its node below %s is deleted (M04)',
    async (path) => {
      const { scene, zk, other } = await prepared()
      const held = await scene.done(new Lock(other, B).acquire())
      let queued = 0
      const acquiring = await scene.start(multi(zk).acquire({ onQueued: () => queued++ }))
      await scene.world.advance(100)
      const behind = await scene.start(new Lock(other, A).acquire())
      expect([queued, behind.status]).toEqual([1, 'pending'])
      scene.ensemble.nodes.delete(`${path}/${scene.children(path).at(path === A ? 0 : -1)}`)
      await scene.world.settle()
      // It is behind the one that came meanwhile.
      expect(behind.value.isHeld()).toBe(true)
      expect(queued).toBeGreaterThanOrEqual(3)
      await scene.done(behind.value.release())
      await scene.done(held.release())
      expect(acquiring.value.isHeld()).toBe(true)
      await scene.done(acquiring.value.release())
      await scene.world.advance(1_000)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('MultiLock.acquire waits while only a read-only server is there', async () => {
    const scene = new Scene({ members: 3, readOnlyMode: true })
    await scene.world.advance(1_000)
    const [, ...others] = scene.ensemble.members
    for (const member of others) member.kill()
    await scene.world.advance(5_000)
    const zk = await scene.client({ readOnly: true })
    expect(zk.session.connection?.readOnly).toBe(true)
    const acquiring = outcome(multi(zk).acquire())
    await scene.world.advance(5_000)
    expect(acquiring.status).toBe('pending')
    for (const member of others) member.restart()
    await scene.world.advance(20_000)
    expect(acquiring.value.isHeld()).toBe(true)
  })

  test('MultiLock of a view of the client has its nodes below the chroot', async () => {
    const { scene, zk } = await prepared()
    const held = await scene.done(multi(zk.withChroot('/app')).acquire())
    expect([...scene.ensemble.nodes.ephemerals()].sort()).toEqual(held.paths.map((path) => `/app${path}`).sort())
    await scene.world.advance(60_000)
    expect(held.isHeld()).toBe(true)
  })

  test('MultiLock goes on where one call may wait at a time', async () => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { maxWaiting: 1 } })
    const acquiring = outcome(multi(zk).acquire())
    await scene.world.advance(60_000)
    expect(acquiring.value.isHeld()).toBe(true)
  })
})
