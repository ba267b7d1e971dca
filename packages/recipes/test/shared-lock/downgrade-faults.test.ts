// R08, R10: a downgrade that is struck at any step of it. Never a reader and a writer at a time, and nothing left behind.
import { describe, expect, test } from 'vitest'
import { type Held, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { countedTo, LAST } from '../support/counters.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { drop, type Fault, garbage, ignore, loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/catalogue'
/** In ms: whatever strikes is over by then, sessions too. */
const OVER = 45_000
const STEP = 250

describe('WriteHeld.downgrade that is struck', () => {
  const strikes: [name: string, strike: (scene: Scene, zk: ZooKeeper) => unknown][] = [
    ['whose connection is reset', (scene, zk) => scene.cut(zk)],
    ['whose connection falls silent', (scene, zk) => scene.freeze(zk)],
    ['that gets no replies any more', (scene, zk) => scene.freeze(zk, 'replies')],
    ['whose session expires', (scene, zk) => scene.expire(zk)],
    ['whose client is closed', (_, zk) => zk.close()],
    [
      'whose nodes are deleted',
      ({ ensemble: { nodes } }, zk) => {
        for (const path of nodes.ephemerals(zk.session.id)) nodes.delete(path)
      },
    ],
  ]

  test.each(strikes)(
    'WriteHeld.downgrade %s at any step never lets a writer in beside its reader (R08)',
    async (_, strike) => {
      const steps = await atEveryFrame(async (frame) => {
        const scene = new Scene()
        const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
        const writer = await scene.start(new SharedLock(other, PATH).write.acquire())
        let wasPending = false
        scene.network.before(frame, () => {
          wasPending = downgrading.status === 'pending'
          void strike(scene, zk)
        })
        const downgrading = outcome(write.downgrade())
        for (let time = 0; time < OVER; time += STEP) {
          await scene.world.advance(STEP)
          const isReading = downgrading.status === 'fulfilled' && downgrading.value.isHeld()
          // Only a node that another client deletes is known a little later than the next is granted.
          expect(isReading && writer.status === 'fulfilled').toBe(false)
        }
        if (downgrading.status === 'fulfilled' && downgrading.value.isHeld()) {
          expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([downgrading.value.path])
          await scene.done(downgrading.value.release())
        }
        expect(downgrading.status).not.toBe('pending')
        expect(writer.value.isHeld()).toBe(true)
        await scene.done(writer.value.release())
        expect(scene.leftovers()).toEqual(nothing)
        return wasPending
      })
      expect(steps).toBeGreaterThanOrEqual(2)
    },
  )

  const faults: [name: string, fault: Fault][] = [
    ['its request is lost', loseRequest],
    ['its answer is lost', loseReply],
    ['its connection ends behind the answer', drop],
    ['garbage answers it', garbage],
    ['nothing answers it', ignore],
  ]

  test.each(faults.flatMap(([name, fault]) => [1, 2].map((times) => [name, times, fault] as const)))(
    'WriteHeld.downgrade goes on as a reader in its place where %s, %i times',
    async (_, times, fault) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
      const writer = await scene.start(new SharedLock(other, PATH).write.acquire())
      for (let nth = 1; nth <= times; nth++) fault(scene.ensemble.faults, { op: 'multi', session: zk.session.id, nth })
      const downgrading = outcome(write.downgrade({ timeout: OVER }))
      await scene.world.advance(OVER)
      expect(downgrading.value.isHeld()).toBe(true)
      expect(downgrading.value.fencingToken).toBe(write.fencingToken)
      expect(writer.status).toBe('pending')
      await scene.done(downgrading.value.release())
      expect(writer.value.isHeld()).toBe(true)
      await scene.done(writer.value.release())
      scene.ensemble.faults.clear()
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})

describe('WriteHeld.downgrade over a connection that is lost', () => {
  const losses = {
    'before it is sent': (scene: Scene, zk: ZooKeeper) => scene.cut(zk),
    'with its answer': (scene: Scene) => void scene.ensemble.faults.loseReply({ op: 'multi' }),
    'with its request': (scene: Scene) => void scene.ensemble.faults.loseRequest({ op: 'multi' }),
  }

  // The handshake of the next connection is a touch that is newer than whatever was known before.
  test.each(Object.entries(losses))(
    'WriteHeld.downgrade whose connection is lost %s is done as soon as there is another, with its lease',
    async (_, lose) => {
      const T = 4_000
      for (let idle = 0; idle < T / 2; idle += 190) {
        for (let away = 0; away < 0.6 * T; away += 300) {
          const scene = new Scene()
          const zk = await scene.client({ sessionTimeout: T })
          const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
          await scene.world.advance(idle)
          scene.refuse()
          const downgrading = outcome(write.downgrade())
          lose(scene, zk)
          await scene.world.settle()
          await scene.world.advance(away)
          scene.accept()
          while (zk.session.connection === undefined) await scene.world.advance(1)
          const where = `${idle} ms held, ${away} ms away`
          expect(downgrading.status, where).toBe('fulfilled')
          // The lease counts from the handshake of this connection: nearly all of T is left.
          expect(downgrading.value.leaseRemaining(), where).toBeGreaterThan(0.9 * T)
        }
      }
    },
  )
})

// The handshake alone proves no lease: a deposed leader answers it too. A commit behind it proves which leader that was.
describe('WriteHeld.downgrade without a touch of its own connection', () => {
  test('WriteHeld.downgrade whose answer is lost proves its lease on the next connection', async () => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client()
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    const since = scene.since()
    scene.ensemble.faults.loseReply({ op: 'multi', connection: 'reset' })
    const downgrading = outcome(write.downgrade())
    await scene.world.advance(5_000)
    expect(downgrading.value.isHeld()).toBe(true)
    const { asked } = since
    const here = asked.slice(asked.findLastIndex(({ op }) => op === 'exists') + 1)
    expect(here.slice(0, 2).map(({ op }) => op)).toEqual(['sync', 'multi'])
  })
})

describe('SharedLock.write that comes while another downgrades', () => {
  test.each([
    ['where numbers tell the order', 7, 'stick'],
    ['where the counter sticks', LAST, 'stick'],
    ['where the counter goes on with negative numbers', LAST, 'wrap'],
  ] as const)(
    'SharedLock.write waits for the reader, %s, at whatever step that takes its place (R08, R13)',
    async (_, counter, sequenceOverflow) => {
      const steps = await atEveryFrame(async (frame) => {
        const scene = countedTo(PATH, counter, { sequenceOverflow })
        const [zk, other, third] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
        const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
        let read: Promise<Held> | undefined
        scene.network.before(frame, () => {
          read = write.downgrade()
        })
        const writer = await scene.start(new SharedLock(other, PATH).write.acquire())
        if (read === undefined) return false
        const held = await scene.done(read)
        const next = await scene.start(new SharedLock(third, PATH).write.acquire())
        expect([writer.status, next.status]).toEqual(['pending', 'pending'])
        const notified = await scene.done(new SharedLock(other, PATH).contenders())
        expect(notified.map(({ kind }) => kind)).toEqual(['read', 'write', 'write'])
        expect(notified[0]!.path).toBe(held.path)
        await scene.done(held.release())
        expect([writer.value.isHeld(), next.status]).toEqual([true, 'pending'])
        await scene.done(writer.value.release())
        await scene.done(next.value.release())
        expect(scene.leftovers()).toEqual(nothing)
        return true
      })
      expect(steps).toBeGreaterThanOrEqual(4)
    },
  )

  test.each([LAST, 7])(
    'SharedLock.write whose first list comes after the downgrade waits for the reader (counter %i)',
    async (counter) => {
      const scene = countedTo(PATH, counter)
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
      scene.ensemble.faults.delayRequest({ op: 'getChildren2', session: other.session.id, ms: 100 })
      const writer = outcome(new SharedLock(other, PATH).write.acquire())
      await scene.world.advance(50)
      const read = await scene.done(write.downgrade())
      await scene.world.advance(1_000)
      expect(writer.status).toBe('pending')
      await scene.done(read.release())
      expect(writer.value.isHeld()).toBe(true)
    },
  )
})
