// Promise 10 and E04, L28: waiting outlives the session, holding does not.
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, Lock, type QueuePlace, type ZooKeeper } from '../../src/index.ts'
import { holdings, PATH } from '../support/every-recipe.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** Longer than it takes to have the next session. */
const RENEWED = 5_000

describe.each(holdings)('$call whose session expires', ({ name, call, make, block }) => {
  test.each([
    ['without contention', false],
    ['behind a holder that releases', true],
  ])(`${call} %s is granted in the next session wherever it strikes (L28, P03, R10)`, async (_, waits) => {
    let granted = 0
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const { session } = zk
      const obstructing = waits ? await scene.done(block(holder)) : undefined
      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = acquiring.status === 'pending'
        scene.ensemble.sessions.expire(session.id)
      })
      const acquiring = outcome(make(zk).acquire())
      await scene.world.settle()
      await (obstructing && scene.done(obstructing.release()))
      await scene.world.advance(RENEWED)
      expect(zk.session).not.toBe(session)
      // A waiter has queued again. A grant that was on its way already is lost, and never held again.
      const held = acquiring.value
      if (held.isHeld()) granted++
      else expect(held.signal.reason).toMatchObject({ code: 'SessionExpired' })
      expect(scene.ensemble.nodes.ephemerals()).toEqual(held.isHeld() ? held.paths.toSorted() : [])
      await scene.done(acquiring.value.release())
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
    expect(steps).toBeGreaterThanOrEqual(waits ? 8 : 6)
    // Only a grant that was on its way is lost: in the frames of the answers of one segment.
    expect(steps - granted).toBeGreaterThanOrEqual(1)
    const answers = waits ? 2 : name === 'MultiLock' ? 7 : 4
    expect(steps - granted).toBeLessThanOrEqual(answers)
  })
})

describe('Lock.acquire whose session expires', () => {
  test('Lock.acquire that is to end with the session asks for nothing in the next', async () => {
    const scene = new Scene()
    const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH).acquire())
    const { signal } = zk.session
    const acquiring = await scene.start(new Lock(zk, PATH).acquire({ signal }))
    const since = scene.since()
    scene.expire(zk)
    await scene.world.advance(RENEWED)
    expect(acquiring.error).toBe(signal.reason)
    expect(zk.session.signal).not.toBe(signal)
    expect(since.ops()).not.toContain('create2')
  })

  test('Lock.acquire queues again at the end of the queue in the next session, and calls onQueued again', async () => {
    const scene = new Scene()
    const [holder, zk, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const first = await scene.done(new Lock(holder, PATH).acquire())
    const places: QueuePlace[] = []
    const waiting = await scene.start(new Lock(zk, PATH).acquire({ onQueued: (place) => places.push(place) }))
    const behind = await scene.start(new Lock(other, PATH).acquire())
    scene.expire(zk)
    await scene.world.advance(RENEWED)
    expect(places.map(({ position }) => position)).toEqual([1, 2])
    await scene.done(first.release())
    expect([waiting.status, behind.status]).toEqual(['pending', 'fulfilled'])
    await scene.done(behind.value.release())
    expect(waiting.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.get(waiting.value.path)!.stat.ephemeralOwner).toBe(zk.session.id)
  })

  test('Lock.acquire waits on through a partition that costs the session', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const first = await scene.done(new Lock(holder, PATH).acquire())
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    const { session } = zk
    scene.refuse()
    scene.freeze(zk)
    await scene.world.advance(3 * session.timeout)
    expect(session.signal.aborted).toBe(true)
    expect(waiting.status).toBe('pending')
    scene.accept()
    await scene.world.advance(20_000)
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toHaveLength(1)
    await scene.done(first.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock.acquire waits on, and a hold is lost, when another session is answered, of which nothing stays', async () => {
    const scene = new Scene()
    const [zk, waiter] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const waiting = await scene.start(new Lock(waiter, PATH).acquire())
    const { session } = zk
    const former = [zk, waiter].map((each) => each.session.id)
    const replaced = scene.ensemble.faults.replaceSession({ times: 2 })
    scene.cut(zk)
    scene.cut(waiter)
    // Until the handshakes are answered. From then on it takes no time.
    while (replaced.count < 2) await scene.world.advance(1)
    expect([session.signal.aborted, held.isHeld(), waiting.status]).toEqual([true, false, 'pending'])
    await scene.world.advance(RENEWED)
    const present = [zk, waiter].map((each) => each.session.id)
    // Beside the former sessions, which expire, there are only those that the clients have.
    const sessions = scene.ensemble.sessions.list().map(({ id }) => id)
    expect(new Set(sessions)).toEqual(new Set([...former, ...present]))
    await scene.world.advance(session.timeout)
    expect(waiting.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([waiting.value.path])
  })

  test('Lock.acquire rejects with SessionExpired where the client renews no session', async () => {
    const scene = new Scene()
    const holder = await scene.client()
    const zk = await scene.client({ renewSession: false })
    await scene.done(new Lock(holder, PATH).acquire())
    const waiting = await scene.start(new Lock(zk, PATH).acquire())
    scene.expire(zk)
    await scene.world.advance(RENEWED)
    expect(KeeperError.is(waiting.error, 'SessionExpired')).toBe(true)
    const again = await scene.start(new Lock(zk, PATH).acquire())
    expect(KeeperError.is(again.error, 'SessionExpired')).toBe(true)
  })
})

describe('Held whose session expires', () => {
  test.each([
    // The server that expires a session closes its connection without an answer: at first only the loss is known.
    ['connected', 0, 'Disconnected'],
    ['confirmed', 0, 'SessionExpired'],
    ['sessionAlive', 0, 'SessionExpired'],
    ['confirmed', 35_000, 'LeaseLost'],
    ['sessionAlive', 35_000, 'SessionExpired'],
  ] as const)(
    'Held while %s whose client learns of the expiry %d ms later reports %s, and is never held again (L28)',
    async (heldWhile, later, reason) => {
      const scene = new Scene()
      const zk = await scene.client()
      const held = await scene.done(new Lock(zk, PATH, { heldWhile }).acquire())
      scene.refuse()
      scene.expire(zk)
      await scene.world.settle()
      expect(held.isHeld()).toBe(heldWhile !== 'connected')
      await scene.world.advance(later)
      scene.accept()
      await scene.world.advance(20_000)
      expect(zk.session.connection).toBeDefined()
      expect(held.isHeld()).toBe(false)
      expect(held.signal.reason).toMatchObject({ code: reason })
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
      expect((await scene.start(held.release())).status).toBe('fulfilled')
    },
  )

  test('Held is lost with SessionExpired when a server reports it on the standing connection', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.ensemble.faults.fail({ op: 'getChildren2', code: 'SessionExpired' })
    await scene.start(zk.getChildren('/'))
    expect(held.signal.reason).toMatchObject({ code: 'SessionExpired', cause: { code: 'SessionExpired' } })
    expect((await scene.start(held.release())).status).toBe('fulfilled')
  })

  test('Held of a session that an operator ended lets others in at once, and is notified at once', async () => {
    const scene = new Scene()
    const [holder, ...others] = await scene.clients(3)
    const held = await scene.done(new Lock(holder!, PATH).acquire())
    const waiting: Outcome<Held>[] = []
    for (const zk of others) waiting.push(await scene.start(new Lock(zk, PATH).acquire()))
    scene.expire(holder!)
    await scene.world.settle()
    expect(waiting.map(({ status }) => status)).toEqual(['fulfilled', 'pending'])
    // What is not the ensemble's doing no lease protects against: the word of it has to come back first.
    await scene.world.advance(RENEWED)
    expect(held.signal.reason).toMatchObject({ code: 'SessionExpired' })
    expect(waiting[0]!.value.fencingToken).toBeGreaterThan(held.fencingToken)
  })
})
