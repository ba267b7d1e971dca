// What a lost connection does to clients that acquire, hold and release, at any moment.
import { describe, expect, test } from 'vitest'
import { type Held, Lock, LostError, type ZooKeeper } from '../../src/index.ts'
import { holdings, PATH } from '../support/every-recipe.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'

/** Longer than any pause before a new connection, several times over. */
const RECONNECTED = 5_000

describe.each(holdings)('$name when its connection is lost', ({ call, make, block }) => {
  test.each([
    ['without contention', false],
    ['behind a holder that releases', true],
  ])(`${call} %s outlives a disconnection at every step, with no second node`, async (_, waits) => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene({ members: 3, seed: frame })
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const obstructing = waits ? await scene.done(block(holder)) : undefined

      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = acquiring.status === 'pending'
        scene.cut(zk)
      })
      const acquiring = outcome(make(zk).acquire())
      await scene.world.settle()
      await (obstructing && scene.done(obstructing.release()))
      await scene.world.advance(RECONNECTED)
      const held = acquiring.value
      if (wasPending) expect(held.isHeld()).toBe(true)
      expect(scene.ensemble.nodes.ephemerals()).toEqual(held.isHeld() ? held.paths.toSorted() : [])
      await scene.done(held.release())
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
    expect(steps).toBeGreaterThanOrEqual(waits ? 8 : 6)
  })
})

describe('Held when its connection is lost', () => {
  test('Held is held on until its lease ends, and is confirmed on the next connection', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.cut(zk)
    await scene.world.settle()
    expect(held.isHeld()).toBe(true)
    await scene.world.advance(RECONNECTED)
    expect(zk.session.connection).toBeDefined()
    expect(held.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
    await scene.world.advance(10 * zk.session.timeout)
    expect(held.isHeld()).toBe(true)
  })

  test('Held while connected is held no longer once the connection is lost, and its node goes', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH, { heldWhile: 'connected' }).acquire())
    scene.cut(zk)
    await scene.world.settle()
    expect(held.isHeld()).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'Disconnected', path: held.path, cause: expect.any(Error) })
    expect(LostError.is(held.signal.reason)).toBe(true)
    await scene.world.advance(RECONNECTED)
    expect(zk.session.connection).toBeDefined()
    expect(held.isHeld()).toBe(false)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['connected', 2 / 3, 'Disconnected'],
    ['confirmed', 1, 'LeaseLost'],
    ['sessionAlive', 4 / 3, 'SessionExpired'],
  ] as const)('Held while %s is lost when nothing is received for %d of the session timeout: %s', async (...row) => {
    const [heldWhile, part, reason] = row
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH, { heldWhile }).acquire())
    const { timeout } = zk.session
    await scene.world.advance(1_000)
    scene.freeze(zk)
    scene.refuse()
    // What is confirmed was asked for before it was answered; the others count from the last word.
    await scene.world.advance(timeout * part - 2_000)
    expect(held.isHeld()).toBe(true)
    await scene.world.advance(2_000)
    expect(held.signal.reason).toMatchObject({ code: reason })
  })

  test.each([
    ['confirmed', 35_000],
    ['connected', 0],
  ] as const)('Held while %s is lost for good: the next grant is another one (I11)', async (heldWhile, time) => {
    const scene = new Scene()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH, { heldWhile })
    const held = await scene.done(lock.acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(time)
    expect(held.isHeld()).toBe(false)
    const next = outcome(lock.acquire())
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(next.value.isHeld()).toBe(true)
    expect(next.value.path).not.toBe(held.path)
    expect(next.value.fencingToken).toBeGreaterThan(held.fencingToken)
    expect(held.isHeld()).toBe(false)
    expect(held.signal.aborted).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([next.value.path])
  })

  test.each([
    ['confirmed', 35_000, 'LeaseLost'],
    ['connected', 0, 'Disconnected'],
  ] as const)('Lock lets several things be held over one connection, and loses them together: %s', async (...row) => {
    const [heldWhile, time, reason] = row
    const scene = new Scene()
    const zk = await scene.client()
    const all: Held[] = []
    for (const name of ['a', 'b', 'c']) {
      all.push(await scene.done(new Lock(zk, `/locks/${name}`, { heldWhile }).acquire()))
    }
    await scene.done(all[1]!.release())
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(time)
    expect(all.map(({ signal }) => (signal.reason as LostError).code)).toEqual([reason, 'Released', reason])
  })

  test('Lock.acquire never resolves with something that is lost already', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    // Granted and disconnected in one turn: after a list that was refused, a check has the last word.
    scene.ensemble.faults.fail({ op: 'getChildren2', code: 'OperationTimeout' })
    scene.ensemble.faults.merge({ op: 'multi' })
    scene.ensemble.faults.garbage({ op: 'exists' })
    const acquiring = await scene.start(new Lock(zk, PATH, { heldWhile: 'connected' }).acquire())
    await scene.start(zk.exists('/'))
    expect(acquiring.status).toBe('pending')
    await scene.world.advance(RECONNECTED)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
  })

  test.each(
    (['confirmed', 'connected'] as const).flatMap((heldWhile) =>
      [0.1, 0.5, 0.9, 1.1, 1.5].map((times) => [heldWhile, times] as const),
    ),
  )(
    'Held while %s that receives nothing for %d session timeouts is never held together with the next one (L16)',
    async (heldWhile, times) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const { timeout } = zk.session
      const held = await scene.done(new Lock(zk, PATH, { heldWhile }).acquire())
      await scene.world.advance(timeout / 10)
      let wasHeld: boolean | undefined
      const next = outcome(
        new Lock(other, PATH).acquire().then((each) => {
          wasHeld = held.isHeld()
          return each
        }),
      )
      await scene.world.settle()
      scene.freeze(zk)
      scene.refuse()
      await scene.world.advance(times * timeout)
      scene.accept()
      await scene.world.advance(2 * timeout)
      // A silence that is noticed, and over before the lease, costs what is confirmed nothing.
      if (heldWhile === 'confirmed' && times < 0.9) {
        expect(held.isHeld()).toBe(true)
        await scene.done(held.release())
      }
      expect(held.isHeld()).toBe(false)
      expect(wasHeld).toBe(false)
      expect(next.value.isHeld()).toBe(true)
      expect(scene.ensemble.nodes.ephemerals()).toEqual([next.value.path])
    },
  )

  test('Held whose process is killed makes way when its session times out (L37)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(zk, PATH).acquire())
    const next = await scene.start(new Lock(other, PATH).acquire())
    // Nothing comes from it any more.
    scene.freeze(zk)
    scene.refuse()
    await scene.world.advance(zk.session.timeout - 1)
    expect(next.status).toBe('pending')
    await scene.world.advance(1 + TICK)
    expect(next.value.isHeld()).toBe(true)
  })
})
