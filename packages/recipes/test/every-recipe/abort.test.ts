// Promise 6 for aborted acquires: aborted or timed out at any moment, an acquire leaves nothing behind and never holds.
import { describe, expect, test } from 'vitest'
import { Lock, WaitTimeoutError, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { holdings, PATH, strideOf } from '../support/every-recipe.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const REASON = new Error('changed my mind')

describe.each(holdings)('$call that is aborted', ({ name, call, make, block }) => {
  test.each([
    ['on a path that does not exist yet', false, false],
    ['on a path that exists', true, false],
    ['behind a holder that releases', true, true],
  ])(
    `${call} is aborted at every moment, %s: it never holds, and leaves nothing (L11, P05, M03)`,
    async (_, exists, waits) => {
      const played = await atEveryMoment(async (moment) => {
        const scene = new Scene()
        const clients = await scene.clients(3)
        const [zk, holder, next] = clients as [ZooKeeper, ZooKeeper, ZooKeeper]
        if (exists) await scene.done((await scene.done(make(zk).acquire())).release())
        const obstructing = waits ? await scene.done(block(holder)) : undefined

        const aborting = new AbortController()
        let calledLate = 0
        const onQueued = () => {
          if (acquiring.status !== 'pending') calledLate++
        }
        const acquiring = outcome(make(zk).acquire({ signal: aborting.signal, onQueued }))
        let wasPending = false
        scene.world.interrupt(moment, () => {
          wasPending = acquiring.status === 'pending'
          aborting.abort(REASON)
        })
        await scene.world.settle()
        if (acquiring.status === 'rejected') {
          // At once, not only when those ahead are gone.
          expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
          expect(scene.watches(zk)).toEqual([])
        }
        await (obstructing && scene.done(obstructing.release()))
        if (acquiring.status === 'fulfilled') {
          // It was granted before, or at the same time. Then it is held like any other.
          expect(acquiring.value.isHeld()).toBe(true)
          await scene.done(acquiring.value.release())
        } else {
          expect(acquiring.error).toBe(REASON)
        }
        expect(calledLate).toBe(0)
        expect(scene.leftovers()).toEqual(nothing)
        // The way is free, for others and for the same client.
        for (const each of [next, zk]) await scene.done((await scene.done(make(each).acquire())).release())
        return wasPending
      }, strideOf(name))
      expect(played).toBeGreaterThan(waits ? 20 : 8)
    },
  )

  test(`${call} with a signal that is aborted already rejects at once and sends nothing (L11)`, async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const since = scene.since()
    const acquiring = await scene.start(make(zk).acquire({ signal: AbortSignal.abort(REASON) }))
    expect(acquiring.error).toBe(REASON)
    expect(since.ops()).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })
})

// A semaphore stores its number of permits, in a node that stays: see the test after this one.
describe.each(holdings.filter(({ name }) => name !== 'Semaphore'))('$call on its way', ({ call, make }) => {
  test(`${call} that is aborted on its way makes no node any more, nor the path (L11)`, async () => {
    const LATENCY = 10
    let isGranted = false
    let played = 0
    for (let at = LATENCY / 2; !isGranted; at += LATENCY) {
      const scene = new Scene()
      const zk = await scene.client()
      scene.network.latency = () => LATENCY
      const aborting = new AbortController()
      const acquiring = outcome(make(zk).acquire({ signal: aborting.signal }))
      await scene.world.advance(at)
      isGranted = acquiring.status === 'fulfilled'
      aborting.abort(REASON)
      const since = scene.since()
      await scene.world.advance(20 * LATENCY)
      expect(since.ops().filter((op) => op?.startsWith('create'))).toEqual([])
      if (acquiring.status === 'fulfilled') break
      // Long enough for servers to delete empty containers.
      await scene.world.advance(200_000)
      expect(scene.ensemble.nodes.get(PATH)).toBeUndefined()
      played++
    }
    expect(played).toBe(2)
  })
})

test.each(['acquire', 'tryAcquire'] as const)(
  'Semaphore.%s that is aborted on its way stores no number of permits any more (L11)',
  async (how) => {
    const LATENCY = 10
    let isOver = false
    let unsent = 0
    for (let at = LATENCY / 2; !isOver; at += LATENCY) {
      const scene = new Scene()
      const zk = await scene.client()
      scene.network.latency = () => LATENCY
      const aborting = new AbortController()
      const before = scene.since()
      const acquiring = outcome(new Semaphore(zk, PATH, { permits: 1 })[how]({ signal: aborting.signal }))
      await scene.world.advance(at)
      isOver = acquiring.status === 'fulfilled'
      const hasBegun = before.asked.some(({ op, path }) => op === 'create2' && path === PATH)
      aborting.abort(REASON)
      await scene.world.advance(20 * LATENCY)
      expect(scene.ensemble.nodes.get(PATH) !== undefined).toBe(hasBegun)
      if (!hasBegun) unsent++
    }
    expect(unsent).toBeGreaterThan(0)
  },
)

describe('Lock.acquire out of time', () => {
  test.each([
    ['on a path that does not exist yet', false, false],
    ['on a path that exists', true, false],
    ['behind a holder that releases', true, true],
  ])('Lock.acquire times out at every moment, %s: in time, and nothing is left (L10)', async (_, exists, waits) => {
    const LATENCY = 10
    let granted = false
    let rejected = 0
    // With 0 it would wait for servers: see `timeouts.test.ts`.
    for (let timeout = LATENCY / 2; !granted; timeout += LATENCY / 2) {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      if (exists) await scene.done(new Lock(zk, PATH).run(() => {}))
      const obstructing = waits ? await scene.done(new Lock(holder, PATH).acquire()) : undefined
      scene.network.latency = () => LATENCY
      if (obstructing !== undefined) scene.world.setTimer(3 * LATENCY, () => void obstructing.release())

      const acquiring = outcome(new Lock(zk, PATH).acquire({ timeout }))
      await scene.world.advance(timeout)
      granted = acquiring.status === 'fulfilled'
      if (granted) await scene.start(acquiring.value.release())
      else rejected++
      expect([granted, WaitTimeoutError.is(acquiring.error)]).toContain(true)
      await scene.world.advance(100 * LATENCY)
      expect(scene.leftovers()).toEqual(nothing)
      const again = outcome(new Lock(zk, PATH).acquire())
      await scene.world.advance(100 * LATENCY)
      expect(again.value.isHeld()).toBe(true)
    }
    expect(rejected).toBeGreaterThanOrEqual(2)
  })

  test('Lock.acquire counts its timeout once, however often it queues anew', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH).acquire())
    const acquiring = outcome(new Lock(zk, PATH).acquire({ timeout: 10_000 }))
    for (let time = 0; time < 10_000; time += 2_500) {
      expect(acquiring.status).toBe('pending')
      await scene.world.advance(2_500)
      // An operator deletes the waiter's node again and again.
      for (const path of scene.ensemble.nodes.ephemerals(zk.session.id)) scene.ensemble.nodes.delete(path)
    }
    expect(WaitTimeoutError.is(acquiring.error)).toBe(true)
    await scene.world.settle()
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
  })

  test.each([Infinity, 2 ** 31, Number.MAX_VALUE])(
    'Lock.acquire with an endless timeout, %d, waits like one without',
    async (timeout) => {
      const scene = new Scene()
      const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const held = await scene.done(new Lock(holder, PATH).acquire())
      const { timers } = scene.world
      const acquiring = outcome(new Lock(zk, PATH).acquire({ timeout }))
      // There are timers that cannot be set for long.
      expect(scene.world.timers).toBe(timers)
      await scene.world.advance(3_600_000)
      expect(acquiring.status).toBe('pending')
      await scene.done(held.release())
      expect(acquiring.value.isHeld()).toBe(true)
    },
  )
})

describe('Lock.acquire that is given up while disconnected', () => {
  const givingUp: [how: string, options: (signal: AbortSignal) => { signal: AbortSignal } | { timeout: number }][] = [
    ['aborted', (signal) => ({ signal })],
    ['out of time', () => ({ timeout: 5_000 })],
  ]

  test.each(givingUp)(
    'Lock.acquire %s rejects at once, and its node goes on reconnection (L12)',
    async (_, options) => {
      const scene = new Scene()
      const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      await scene.done(new Lock(holder, PATH).acquire())
      const aborting = new AbortController()
      const acquiring = outcome(new Lock(zk, PATH).acquire(options(aborting.signal)))
      await scene.world.settle()
      scene.refuse()
      scene.cut(zk)
      await scene.world.advance(5_000)
      aborting.abort(REASON)
      await scene.world.settle()
      expect(acquiring.status).toBe('rejected')
      expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toHaveLength(1)
      scene.accept()
      await scene.world.advance(10_000)
      expect(zk.session.connection).toBeDefined()
      expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
      expect(scene.watches(zk)).toEqual([])
    },
  )

  test.each(givingUp)('Lock.acquire %s leaves nothing when the create was still unsent (L12)', async (_, options) => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const aborting = new AbortController()
    const acquiring = outcome(new Lock(zk, PATH).acquire(options(aborting.signal)))
    await scene.world.advance(5_000)
    aborting.abort(REASON)
    await scene.world.settle()
    expect(acquiring.status).toBe('rejected')
    scene.accept()
    await scene.world.advance(10_000)
    expect(zk.session.connection).toBeDefined()
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each(givingUp)('Lock.acquire %s leaves nothing when the create was not answered (L12)', async (_, options) => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.faults.loseReply({ op: 'create2' })
    scene.refuse()
    const aborting = new AbortController()
    const acquiring = outcome(new Lock(zk, PATH).acquire(options(aborting.signal)))
    await scene.world.advance(5_000)
    aborting.abort(REASON)
    await scene.world.settle()
    expect(acquiring.status).toBe('rejected')
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(1)
    scene.accept()
    await scene.world.advance(10_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire aborted leaves nothing when the session expires before it reconnects (L12)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const aborting = new AbortController()
    await scene.done(new Lock(zk, PATH).acquire())
    const acquiring = await scene.start(new Lock(zk, PATH).acquire({ signal: aborting.signal }))
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    aborting.abort(REASON)
    await scene.world.settle()
    expect(acquiring.error).toBe(REASON)
    await scene.world.advance(2 * zk.session.timeout)
    scene.accept()
    await scene.world.advance(20_000)
    expect(zk.session.connection).toBeDefined()
    expect(scene.leftovers()).toEqual(nothing)
  })
})
