// What a session holds over time: when it is confirmed, suspended, resumed and lost, and what that costs.
import { Perms } from '@zk/client'
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Runtime } from '@zk/client'
import { timestamp } from '@zk/client/internal'
import { type AcquireOptions, Lock, type LockOptions, type ZooKeeper } from '../../src/index.ts'
import type { LossReason } from '../../src/lease/loss-reason.ts'
import { Lease, leaseTimes } from '../../src/lease/lease.ts'
import { type Holding, LeaseKeeper } from '../../src/lease/lease-keeper.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const T = 6_000

interface Told {
  readonly suspended: number[]
  resumed: number
}

async function holding(options: LockOptions = {}, scene = new Scene({ members: 3 })) {
  const zk = await scene.client({ sessionTimeout: T })
  const notified: Told = { suspended: [], resumed: 0 }
  const listeners: AcquireOptions = {
    onSuspended: ({ leaseRemaining }) => notified.suspended.push(leaseRemaining),
    onResumed: () => notified.resumed++,
  }
  const held = await scene.done(new Lock(zk, PATH, options).acquire(listeners))
  return { scene, zk, held, notified }
}

function away(scene: Scene, zk: ZooKeeper): void {
  scene.refuse()
  scene.cut(zk)
}

/** A hold that its keeper renews, and that notes its loss. */
class Stub implements Holding {
  readonly paths = ['/held']
  readonly heldWhile = 'confirmed'
  readonly followerRelayDelay = T / 3
  readonly lease: Lease
  isSuspended = false
  lost: LossReason | undefined

  constructor(runtime: Runtime, remaining: number) {
    this.lease = new Lease(runtime, timestamp(runtime), () => remaining)
  }

  lose(reason: LossReason): void {
    this.lost ??= reason
  }

  confirmed(): void {
    this.isSuspended = false
  }

  suspended(): void {
    this.isSuspended = true
  }
}

describe('LeaseKeeper', () => {
  test('LeaseKeeper does not say that a hold is resumed whose lease was over when its confirmation came', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 4_000 })
    let resumed = 0
    const held = await scene.done(new Lock(zk, '/locks/report').acquire({ onResumed: () => resumed++ }))
    await scene.world.advance(100)
    scene.cut(zk)
    await scene.world.settle()
    scene.network.latency = () => 100
    while (zk.session.connection === undefined) await scene.world.advance(1)
    await scene.world.advance(150)
    // The check is under way. The machine was suspended: no timer knows.
    scene.world.setWallClock(60_000)
    await scene.world.advance(2_000)
    expect(held.signal.reason).toMatchObject({ code: 'LeaseLost' })
    expect(resumed).toBe(0)
  })

  test('LeaseKeeper sends nothing for what is held less than 50 ms, and leaves no timer', async () => {
    const { scene, held } = await holding()
    const since = scene.since()
    await scene.world.advance(49)
    expect(since.ops()).toEqual([])
    await scene.done(held.release())
    expect(scene.leftovers()).toEqual(nothing)
    await scene.world.advance(10 * T)
    expect(since.ops()).toEqual(['delete'])
  })

  test('LeaseKeeper resumes what is held without a lease, also where its node may not be checked', async () => {
    const { scene, zk, held, notified } = await holding({ heldWhile: 'sessionAlive' })
    const acl = [{ perms: Perms.ALL - Perms.READ, id: { scheme: 'world', id: 'anyone' } }]
    await scene.done(zk.setACL(held.path, acl))
    for (let times = 1; times <= 2; times++) {
      away(scene, zk)
      await scene.world.settle()
      expect([notified.suspended.length, notified.resumed]).toEqual([times, times - 1])
      scene.accept()
      await scene.world.advance(T)
      expect([notified.suspended.length, notified.resumed]).toEqual([times, times])
    }
    expect(held.isHeld()).toBe(true)
  })

  test('LeaseKeeper ends with a round during which the last hold was released, and listens to nothing', async () => {
    const { scene, zk, held } = await holding()
    const { signal, connection } = zk.session
    scene.ensemble.faults.delayReply({ op: 'sync', ms: 200 })
    await scene.world.advance(T / 3 + 50)
    const releasing = await scene.start(held.release())
    await scene.world.advance(1_000)
    expect(releasing.status).toBe('fulfilled')
    const listening = [signal, connection!.signal].map((each) => getEventListeners(each, 'abort').length)
    expect(listening).toEqual([0, 0])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaseKeeper confirms about every T/3, and not before', async () => {
    const { scene, held } = await holding()
    // A new session: its handshake is the touch.
    expect(held.leaseRemaining()).toBe(leaseTimes.proven(T))
    const since = scene.since()
    await scene.world.advance(T / 3)
    expect(since.ops()).toEqual(['getData'])
    await scene.world.advance(1)
    expect(since.ops()).toEqual(['getData', 'sync', 'multi'])
    let least = Infinity
    for (let time = 0; time < 10 * T; time += 50) {
      await scene.world.advance(50)
      least = Math.min(least, held.leaseRemaining())
    }
    expect(least).toBeGreaterThan(T / 4)
    const times = since.asked.filter(({ op }) => op === 'sync').map(({ at }) => at)
    for (const [index, at] of times.slice(1).entries()) {
      expect(at - times[index]!).toBeGreaterThanOrEqual(T / 3)
      expect(at - times[index]!).toBeLessThan(T / 3 + 20)
    }
  })

  test('LeaseKeeper reports a disconnection with the time left, and the confirmation behind it (E02)', async () => {
    const { scene, zk, held, notified } = await holding()
    await scene.world.advance(1_000)
    const left = held.leaseRemaining()
    away(scene, zk)
    await scene.world.settle()
    expect(notified).toEqual({ suspended: [left], resumed: 0 })
    await scene.world.advance(1_000)
    expect(held.isHeld()).toBe(true)
    expect(held.leaseRemaining()).toBe(left - 1_000)
    scene.accept()
    await scene.world.advance(2_000)
    expect(notified).toEqual({ suspended: [left], resumed: 1 })
    expect(held.leaseRemaining()).toBeGreaterThan(T / 2)
    // And the next time again.
    scene.cut(zk)
    await scene.world.advance(2_000)
    expect(notified).toMatchObject({ suspended: [left, expect.any(Number)], resumed: 2 })
  })

  test('LeaseKeeper reports one suspension and one resumption where two connections are lost before a confirmation', async () => {
    const { scene, zk, held, notified } = await holding()
    await scene.world.advance(100)
    scene.network.latency = () => 100
    for (let time = 0; time < 2; time++) {
      scene.cut(zk)
      await scene.world.settle()
      while (zk.session.connection === undefined) await scene.world.advance(1)
    }
    expect([notified.suspended.length, notified.resumed]).toEqual([1, 0])
    await scene.world.advance(1_000)
    expect([notified.suspended.length, notified.resumed, held.isHeld()]).toEqual([1, 1, true])
    scene.cut(zk)
    await scene.world.advance(1_000)
    expect([notified.suspended.length, notified.resumed]).toEqual([2, 2])
  })

  test('LeaseKeeper loses what is disconnected for longer than its lease, for good (E03, I11)', async () => {
    const { scene, zk, held, notified } = await holding()
    const { session } = zk
    await scene.world.advance(1_000)
    away(scene, zk)
    await scene.world.settle()
    const left = notified.suspended[0]!
    await scene.world.advance(left - 1)
    expect([held.isHeld(), held.signal.aborted]).toEqual([true, false])
    await scene.world.advance(1)
    // By the timer: no caller has checked.
    expect(held.signal.reason).toMatchObject({ code: 'LeaseLost', path: held.path, cause: expect.any(Error) })
    expect(held.leaseRemaining()).toBe(0)
    scene.accept()
    await scene.world.advance(500)
    expect(zk.session).toBe(session)
    await scene.world.advance(3 * T)
    expect(held.isHeld()).toBe(false)
    expect(notified.resumed).toBe(0)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaseKeeper of what is held while sessionAlive suspends it without end, and resumes it', async () => {
    const { scene, zk, held, notified } = await holding({ heldWhile: 'sessionAlive' })
    const since = scene.since()
    await scene.world.advance(5 * T)
    expect(since.ops()).toEqual(['getData'])
    for (const times of [1, 2]) {
      scene.cut(zk)
      await scene.world.advance(2_000)
      expect(notified).toEqual({ suspended: Array.from({ length: times }, () => Infinity), resumed: times })
    }
    expect(held.isHeld()).toBe(true)
    expect(held.leaseRemaining()).toBe(Infinity)
  })

  test('LeaseKeeper confirms one that comes while a round is under way within its lease', async () => {
    const { scene, zk, held } = await holding()
    for (const delay of [1, 20, 40, 49, 50, 51, 60, 69, 70, 75, 80, 90, 100]) {
      scene.network.latency = () => 10
      await scene.world.advance(delay)
      const other = outcome(new Lock(zk, `/locks/${delay}`).acquire())
      await scene.world.advance(300)
      expect(other.value.leaseRemaining()).toBeGreaterThan(T / 4)
      await scene.world.advance(3 * T)
      expect([held.isHeld(), other.value.isHeld()]).toEqual([true, true])
    }
  })

  test.each([0.3, 0.5, 0.7, 0.9])(
    'LeaseKeeper renews a hold that comes in the round of one that goes, and reports its loss: %d T were left',
    async (left) => {
      for (const latency of [10, 50]) {
        for (const moment of [0.5, 1.5, 2.5, 3.5]) {
          const scene = new Scene({ members: 3 })
          const zk = await scene.client({ sessionTimeout: T })
          await scene.done(zk.create('/held'))
          await scene.world.advance(T)
          scene.network.latency = () => latency
          const keeper = LeaseKeeper.of(zk, zk.session)
          const [first, second] = [new Stub(scene.world, left * T), new Stub(scene.world, leaseTimes.proven(T))]
          keeper.add(first)
          const since = scene.since()
          while (!since.ops().includes('sync')) await scene.world.advance(1)
          await scene.world.advance(moment * latency)
          keeper.remove(first)
          keeper.add(second)
          await scene.world.advance(2 * T)
          expect(second.lost).toBe(undefined)
          expect(second.lease.remaining).toBeGreaterThan(T / 8)
          away(scene, zk)
          await scene.world.advance(T)
          expect(second.lost).toBe('LeaseLost')
        }
      }
    },
  )

  test('LeaseKeeper confirms one with a longer follower relay delay in a round of its own', async () => {
    const { scene, zk, held } = await holding({ followerRelayDelay: 100 })
    scene.network.latency = () => 100
    await scene.world.advance(60)
    // The round is under way: what it knows was answered 100 ms ago.
    const patient = outcome(new Lock(zk, '/locks/patient', { followerRelayDelay: T / 2 }).acquire())
    await scene.world.advance(400)
    for (let time = 0; time < 10 * T; time += 500) {
      await scene.world.advance(500)
      expect([held.isHeld(), patient.value.isHeld()]).toEqual([true, true])
    }
  })

  test.each<[string, (scene: Scene, zk: ZooKeeper) => void | Promise<void>]>([
    ['before the first round', () => {}],
    ['in the sync', (scene) => scene.world.advance(52)],
    ['in the check', (scene) => scene.world.advance(62)],
    ['between two rounds', (scene) => scene.world.advance(1_000)],
    [
      'while disconnected',
      async (scene, zk) => {
        await scene.world.advance(1_000)
        away(scene, zk)
        await scene.world.advance(500)
      },
    ],
    [
      'after its lease',
      async (scene, zk) => {
        away(scene, zk)
        await scene.world.advance(T)
      },
    ],
  ])('LeaseKeeper leaves nothing behind of what is released %s', async (_, meanwhile) => {
    const { scene, zk, held, notified } = await holding()
    scene.network.latency = () => 10
    await meanwhile(scene, zk)
    held.release().catch(() => {})
    scene.accept()
    await scene.world.advance(3 * T)
    scene.network.latency = () => 0
    await scene.world.advance(20)
    expect(scene.leftovers()).toEqual(nothing)
    expect(notified.resumed).toBe(0)
    const since = scene.since()
    await scene.world.advance(10 * T)
    expect(since.ops()).toEqual([])
  })

  test('LeaseKeeper does not notify a hold of a suspension that was released in the same turn', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    let suspensions = 0
    const held = await scene.done(new Lock(zk, PATH).acquire({ onSuspended: () => void suspensions++ }))
    zk.session.connection!.signal.addEventListener('abort', () => void held.release().catch(() => {}))
    await scene.world.advance(500)
    scene.cut(zk)
    await scene.world.advance(5_000)
    expect(suspensions).toBe(0)
  })

  test('LeaseKeeper does not notify a hold of a resumption that was released while the check was in flight', async () => {
    const { scene, zk, held, notified } = await holding()
    await scene.world.advance(1_000)
    scene.network.latency = () => 10
    const since = scene.since()
    scene.cut(zk)
    while (since.ops().at(-1) !== 'multi') await scene.world.advance(1)
    void held.release()
    await scene.world.advance(T)
    scene.network.latency = () => 0
    await scene.world.advance(20)
    expect(notified).toMatchObject({ suspended: [expect.any(Number)], resumed: 0 })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['before the first round', 1_000],
    ['behind several rounds', 2 * T],
  ])('LeaseKeeper counts by the shorter timeout from when a server gave the session another, %s', async (_, after) => {
    const { scene, zk, held } = await holding()
    await scene.world.advance(after)
    while (held.leaseRemaining() < 0.6 * T) await scene.world.advance(1)
    const before = held.leaseRemaining()
    // As by a server with a lower maxSessionTimeout.
    const timeout = T / 2
    scene.cut(zk)
    Object.defineProperty(zk.session, 'shortestTimeout', { get: () => timeout })
    expect(before - held.leaseRemaining()).toBeCloseTo((T / 2) * 0.98)
    await scene.world.advance(T)
    expect(held.isHeld()).toBe(true)
    const since = scene.since()
    await scene.world.advance(T)
    expect(since.ops().filter((op) => op === 'sync').length).toBeGreaterThanOrEqual(5)
    expect(held.leaseRemaining()).toBeLessThan(timeout)
  })
})

test('LeaseKeeper leaves no timer if the callback of one loss releases what else is held', async () => {
  const scene = new Scene()
  const zk = await scene.client({ sessionTimeout: 9_000 })
  // The longer lease is looked at first.
  const long = await scene.done(new Lock(zk, '/one').acquire())
  await scene.world.advance(3_000)
  const short = await scene.done(new Lock(zk, '/two', { followerRelayDelay: 4_400 }).acquire())
  scene.freeze(zk)
  scene.refuse()
  short.signal.addEventListener('abort', () => void long.release())
  while (short.isHeld()) await scene.world.advance(1)
  await scene.world.advance(1)
  // That of the release, which has a session timeout for it.
  expect([long.isHeld(), scene.leftovers().timers]).toEqual([false, 1])
})
