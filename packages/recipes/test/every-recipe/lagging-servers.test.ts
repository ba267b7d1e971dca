// What a server shows that does not apply yet what the others have committed: no recipe goes by it.
import { describe, expect, test } from 'vitest'
import { Barrier, DoubleBarrier, LeaderElection, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { laggard, renewedAt, type Role, sceneWith } from '../support/laggard.ts'
import { outcome } from '../support/outside.ts'
import { Segments } from '../support/segments.ts'

const PATH = '/import'
const LAG = 3_000
const RECONNECTED = 3_000

describe.each<Role>(['leader', 'follower'])('At a %s that lags', (role) => {
  test.each(['ThrottledOp', 'ConnectionLoss'] as const)(
    'Barrier.wait waits at a barrier that was closed before, where its first check ends with %s (B15)',
    async (code) => {
      const { scene, zk } = await closedBefore(role, code)
      const waiting = outcome(new Barrier(zk, PATH).wait())
      await scene.world.advance(10_000)
      expect(waiting.status).toBe('pending')
      scene.ensemble.nodes.delete(PATH)
      await scene.world.advance(LAG)
      expect(waiting.status).toBe('fulfilled')
    },
  )

  test.each(['ThrottledOp', 'ConnectionLoss'] as const)(
    'Barrier.remove opens a barrier that was closed before, where its first check ends with %s',
    async (code) => {
      const { scene, zk } = await closedBefore(role, code)
      const removing = outcome(new Barrier(zk, PATH).remove())
      await scene.world.advance(20_000)
      expect([removing.status, scene.ensemble.nodes.get(PATH)]).toEqual(['fulfilled', undefined])
    },
  )

  test.each(['none', 'ThrottledOp'] as const)(
    'Semaphore does not reject for a number that is no longer stored, where its first sync has the fault %s',
    async (code) => {
      const { scene, lagging, zk, other } = await laggard(role)
      const theirs = new Semaphore(other, PATH, { permits: 3 })
      await scene.done((await scene.done(theirs.acquire())).release())
      lagging.lag(LAG)
      const resizing = outcome(theirs.resize(5))
      while (resizing.status === 'pending') await scene.world.advance(1)
      if (code !== 'none') scene.ensemble.faults.fail({ op: 'sync', session: zk.session.id, code })
      const acquiring = outcome(new Semaphore(zk, PATH, { permits: 5 }).acquire({ count: 5 }))
      await scene.world.advance(20_000)
      expect(acquiring.error).toBeUndefined()
      expect(acquiring.status).toBe('fulfilled')
    },
  )

  test('Semaphore without a number of its own does not reject for one that is no longer stored', async () => {
    const { scene, lagging, zk, other } = await laggard(role)
    const theirs = new Semaphore(other, PATH, { permits: 1 })
    await scene.done((await scene.done(theirs.acquire())).release())
    lagging.lag(LAG)
    const resizing = outcome(theirs.resize(2))
    while (resizing.status === 'pending') await scene.world.advance(1)
    const acquiring = outcome(new Semaphore(zk, PATH).acquire({ count: 2 }))
    await scene.world.advance(20_000)
    expect(acquiring.error).toBeUndefined()
    expect(acquiring.status).toBe('fulfilled')
  })
})

/** The server lags since before the leader changed. `zk`, at another server, has followed both leaders. */
async function followed() {
  const { scene, lagging, others } = sceneWith('follower')
  lagging.refuse()
  const segments = new Segments(scene.world)
  const zk = await scene.client({ runtime: segments.runtime })
  const [one, two] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const first = await scene.done(new LeaderElection(one, PATH, { label: 'one' }).campaign())
  const stopping = new AbortController()
  const seen: (string | undefined)[] = []
  const following = outcome(
    (async () => {
      const { signal } = stopping
      const leaders = new LeaderElection(zk, PATH).watchLeader({ signal })
      for await (const leader of leaders) {
        if (!leaders.isStale && leader?.label !== seen.at(-1)) seen.push(leader?.label)
      }
    })(),
  )
  await scene.world.settle()
  lagging.lag(600_000)
  const second = outcome(new LeaderElection(two, PATH, { label: 'two' }).campaign())
  await scene.world.settle()
  await scene.done(first.release())
  await scene.world.settle()
  expect([second.status, seen]).toEqual(['fulfilled', ['one', 'two']])
  /** The leader goes, which is seen, and then the observer stops. */
  const end = async () => {
    void second.value.release()
    await scene.world.advance(RECONNECTED)
    expect(seen).toEqual(['one', 'two', undefined])
    stopping.abort()
    await scene.world.settle()
    expect(following.status).toBe('fulfilled')
  }
  return { scene, lagging, others, zk, segments, seen, end }
}

/** The barrier is closed, and the server of `zk` does not show it. */
async function closedBefore(role: Role, code: 'ThrottledOp' | 'ConnectionLoss') {
  const scene = await laggard(role)
  const {
    lagging,
    zk,
    other,
    scene: { ensemble, world },
  } = scene
  lagging.lag(LAG)
  const setting = outcome(new Barrier(other, PATH).set())
  while (setting.status === 'pending') await world.advance(1)
  expect(lagging.node(PATH)).toBeUndefined()
  const rule = { op: 'multi', session: zk.session.id } as const
  if (code === 'ThrottledOp') ensemble.faults.fail({ ...rule, code })
  else ensemble.faults.loseReply(rule)
  return scene
}

describe('In the next session, at a server that lags', () => {
  test('BarrierEntry.leave waits for those inside (B16)', async () => {
    const { scene, lagging, others } = sceneWith('follower')
    lagging.refuse()
    const clients = await scene.clients(3)
    lagging.lag(600_000)
    const entering = clients.map((zk) => outcome(new DoubleBarrier(zk, PATH, { size: 3 }).enter()))
    await scene.world.settle()
    const inside = entering
      .map(({ value }, index) => ({ entry: value, zk: clients[index]! }))
      .sort((one, two) => (one.entry.path < two.entry.path ? -1 : 1))
    const [first, stayer, leaver] = inside as [(typeof inside)[0], (typeof inside)[0], (typeof inside)[0]]
    const leaving = await scene.start(leaver.entry.leave())
    const { faults } = scene.ensemble
    faults.loseRequest({ op: 'getChildren2', session: leaver.zk.session.id, connection: 'reset' })
    scene.refuse()
    // The leaver waits for the first one. When that dies, it lists again.
    scene.expire(first.zk)
    while (faults.rules.length > 0) await scene.world.advance(1)
    await renewedAt({ scene, lagging, others }, leaver.zk, ['getChildren2'])
    await scene.world.advance(5_000)
    expect(leaving.status).toBe('pending')
    faults.clear()
    lagging.catchUp()
    const last = outcome(stayer.entry.leave())
    await scene.world.advance(5_000)
    expect([leaving.status, last.status]).toEqual(['fulfilled', 'fulfilled'])
  })

  test('LeaderElection.watchLeader does not go back to an earlier leader', async () => {
    const { scene, lagging, others, zk, seen, end } = await followed()
    await renewedAt({ scene, lagging, others }, zk, ['getChildren', 'getChildren2', 'sync'])
    await scene.world.advance(RECONNECTED)
    scene.ensemble.faults.clear()
    lagging.catchUp()
    await scene.world.advance(RECONNECTED)
    expect(seen).toEqual(['one', 'two'])
    await end()
  })

  test('LeaderElection.watchLeader does not go back when its session ends with the reply to its sync', async () => {
    const { scene, lagging, others, zk, segments, seen, end } = await followed()
    const { faults } = scene.ensemble
    const since = scene.since()
    faults.delayReply({ op: 'sync', ms: 100 })
    scene.expire(zk)
    while (!since.ops().includes('sync')) await scene.world.advance(1)
    // One segment brings the reply to the sync and the end of the session.
    segments.hold()
    faults.fail({ op: 'exists', code: 'SessionExpired' })
    outcome(zk.exists('/'))
    await scene.world.advance(200)
    expect(faults.rules).toEqual([])
    await renewedAt({ scene, lagging, others }, zk, ['getChildren', 'getChildren2', 'sync'], () => segments.deliver())
    await scene.world.advance(RECONNECTED)
    faults.clear()
    lagging.catchUp()
    await scene.world.advance(RECONNECTED)
    expect(seen).toEqual(['one', 'two'])
    await end()
  })
})
