// Promise 4: a wake-up is not a grant. Whatever happens to the nodes of a queue, a waiter is neither forgotten nor granted
// before its time.
import { describe, expect, test } from 'vitest'
import { Lock, type QueuePlace, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { PATH, queued, strideOf } from '../support/every-recipe.ts'
import { atEveryFrame, atEveryMoment } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

describe.each(queued)('$call behind another contender', ({ name, call, make, block }) => {
  const acquire = (zk: ZooKeeper) => make(zk).acquire()

  test(`${call} misses no wake-up, at whatever moment its predecessor goes (L03, L17)`, async () => {
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const { path } = await scene.done(block(holder))
      const acquiring = outcome(acquire(zk))
      scene.world.interrupt(moment, () => scene.ensemble.nodes.delete(path))
      await scene.world.settle()
      if (scene.world.isInterruptionDue) return false
      expect(acquiring.value.isHeld()).toBe(true)
      expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
      await scene.done(acquiring.value.release())
      return true
    }, strideOf(name))
    expect(played).toBeGreaterThan(8)
  })

  test.each([1, 2])(
    `${call} behind %i whose node is deleted queues again, and never holds without a node (L04, R03)`,
    async (ahead) => {
      const steps = await atEveryFrame(async (frame) => {
        const scene = new Scene()
        const [zk, ...others] = (await scene.clients(1 + ahead)) as [ZooKeeper, ...ZooKeeper[]]
        const obstacles = []
        for (const other of others) obstacles.push(await scene.start(block(other)))
        let deleted: readonly string[] = []
        let since = scene.since()
        let wasPending = false
        scene.network.before(frame, () => {
          wasPending = acquiring.status === 'pending'
          deleted = scene.ensemble.nodes.ephemerals(zk.session.id)
          for (const path of deleted) scene.ensemble.nodes.delete(path)
          since = scene.since()
        })
        const acquiring = outcome(acquire(zk))
        await scene.world.settle()
        for (const { value } of obstacles) {
          expect(acquiring.status).toBe('pending')
          await scene.done(value.release())
        }
        const held = acquiring.value
        // Granted on a node that is gone it was only when the last thing asked had been answered by then.
        if (deleted.includes(held.path)) expect(since.ops(zk.session.id)).toEqual([])
        await scene.world.advance(50)
        expect(scene.ensemble.nodes.ephemerals()).toEqual(held.isHeld() ? [held.path] : [])
        await scene.done(held.release())
        expect(scene.leftovers()).toEqual(nothing)
        return wasPending
      })
      expect(steps).toBeGreaterThanOrEqual(8 + 2 * ahead)
    },
  )

  test.each([1, 2])(`${call} behind %i is granted only after a check of its node was committed (I9)`, async (ahead) => {
    const scene = new Scene()
    const [zk, ...others] = (await scene.clients(1 + ahead)) as [ZooKeeper, ...ZooKeeper[]]
    const obstacles = []
    for (const other of others) obstacles.push(await scene.start(block(other)))
    const acquiring = await scene.start(acquire(zk))
    scene.ensemble.faults.fail({ op: 'multi', code: 'ThrottledOp', session: zk.session.id, times: 3 })
    for (const { value } of obstacles) await scene.done(value.release())
    const since = scene.since()
    // In steps so small that what is held is not confirmed yet.
    for (let time = 0; acquiring.status === 'pending' && time < 10_000; time += 10) await scene.world.advance(10)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(since.asked.filter(({ op }) => op === 'multi').map(({ fault }) => fault)).toEqual([
      'fail',
      'fail',
      undefined,
    ])
  })

  test(`${call} whose list was read late is granted only after a check behind it (I9)`, async () => {
    const scene = new Scene()
    const [zk, holder, between] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const held = await scene.done(block(holder))
    await scene.start(block(between))
    const acquiring = await scene.start(acquire(zk))
    scene.ensemble.faults.fail({ op: 'getChildren2', code: 'ThrottledOp', session: zk.session.id })
    const since = scene.since()
    scene.expire(between)
    await scene.world.advance(100)
    expect(since.ops(zk.session.id)).toEqual(['getChildren2', 'multi'])
    await scene.done(held.release())
    for (let time = 0; acquiring.status === 'pending' && time < 10_000; time += 100) await scene.world.advance(100)
    expect(acquiring.value.isHeld()).toBe(true)
    const ops = since.ops(zk.session.id)
    expect(ops.lastIndexOf('multi')).toBeGreaterThan(ops.lastIndexOf('getChildren2'))
  })
})

describe('Lock.acquire in a queue', () => {
  test('Lock.acquire whose node is deleted goes to the end of the queue, and calls onQueued again (L04)', async () => {
    const scene = new Scene()
    const [holder, zk, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const first = await scene.done(new Lock(holder, PATH).acquire())
    const places: QueuePlace[] = []
    const unlucky = await scene.start(new Lock(zk, PATH).acquire({ onQueued: (place) => places.push(place) }))
    const lucky = await scene.start(new Lock(other, PATH).acquire())
    for (const path of scene.ensemble.nodes.ephemerals(zk.session.id)) scene.ensemble.nodes.delete(path)
    await scene.done(first.release())
    // It learns of it when it is its turn.
    expect([unlucky.status, lucky.status]).toEqual(['pending', 'fulfilled'])
    expect(places.map(({ position }) => position)).toEqual([1, 1])
    expect(places[1]!.ahead).toEqual([lucky.value.path])
    await scene.done(lucky.value.release())
    expect(unlucky.value.isHeld()).toBe(true)
  })

  test.each<[string, (scene: Scene, zk: ZooKeeper, abort: AbortController) => void]>([
    ['is aborted', (_, __, abort) => abort.abort()],
    ['loses its session', (scene, zk) => scene.expire(zk)],
    [
      'is removed by an operator',
      (scene, zk) => scene.ensemble.nodes.delete(scene.ensemble.nodes.ephemerals(zk.session.id)[0]!),
    ],
    ['is closed', (_, zk) => void zk.close()],
  ])('Lock.acquire is not granted when the one right before it %s while others are still ahead', async (_, go) => {
    const scene = new Scene()
    const [holder, before, zk] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const abort = new AbortController()
    const held = await scene.done(new Lock(holder, PATH).acquire())
    outcome(new Lock(before, PATH).acquire({ signal: abort.signal }))
    await scene.world.settle()
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    go(scene, before, abort)
    await scene.world.settle()
    expect(waiting.status).toBe('pending')
    expect(held.isHeld()).toBe(true)
    expect(scene.watches(zk)).toMatchObject([{ path: held.path }])
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock.acquire waits on when another client writes to the node before it', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(holder, PATH).acquire())
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    for (const text of ['one', 'two']) {
      scene.ensemble.nodes.setData(held.path, text)
      await scene.world.settle()
    }
    expect(waiting.status).toBe('pending')
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock.acquire waits on when its watch is taken off by the program around it', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(holder, PATH).acquire())
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    await scene.done(zk.removeWatches(held.path))
    expect(waiting.status).toBe('pending')
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock.acquire that gives up does not take the watch of another on the same node away', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new SharedLock(holder, PATH).write.acquire())
    const abort = new AbortController()
    const { read } = new SharedLock(zk, PATH)
    const aborted = await scene.start(read.acquire({ signal: abort.signal }))
    const waiting = await scene.start(read.acquire())
    abort.abort()
    await scene.world.settle()
    expect(aborted.status).toBe('rejected')
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
    await scene.done(waiting.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire is granted after it was away when its predecessor went', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(holder, PATH).acquire())
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    await scene.done(held.release())
    await scene.world.advance(5_000)
    expect(waiting.status).toBe('pending')
    scene.accept()
    await scene.world.advance(10_000)
    expect(waiting.value.isHeld()).toBe(true)
  })
})
