// A session that is left at any moment of an acquire: nothing is held on from then on, and no node stays in line.
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, Lock, LostError, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { type Holding, holdings, PATH, strideOf } from '../support/every-recipe.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'
import { internalsOf } from '@zk/client/internal'

const REASON = new Error('changed my mind')

type Acquire = (zk: ZooKeeper, signal?: AbortSignal) => Promise<Held | undefined>

const recipes: [name: string, acquire: Acquire, block: Holding['block']][] = [
  ...holdings.map(({ call, make, block }): [string, Acquire, Holding['block']] => [
    call,
    (zk, signal) => make(zk).acquire({ signal }),
    block,
  ]),
  ['Lock.tryAcquire', (zk, signal) => new Lock(zk, PATH).tryAcquire({ signal }), (zk) => new Lock(zk, PATH).acquire()],
]

/** Whether a call's hold was held at any moment after the session was being left. The nodes may be gone by then, and another may hold. */
class HeldOn<H extends Held | undefined> {
  isSeen = false
  #isLeaving = false
  readonly #acquiring: Outcome<H>

  constructor(acquiring: Promise<H>) {
    this.#acquiring = outcome(acquiring)
    // This is the first moment at which the caller may ask.
    acquiring.then(
      () => this.#look(),
      () => {},
    )
  }

  /** Called when `detach` was called: the holds are lost at once, not when it resolves. */
  leaving(): void {
    this.#isLeaving = true
    this.#look()
  }

  #look(): void {
    if (this.#isLeaving && this.#acquiring.status === 'fulfilled')
      this.isSeen ||= this.#acquiring.value?.isHeld() === true
  }
}

describe.each(recipes)('%s in a session that is left', (name, acquire, block) => {
  test.each([
    ['the path does not exist yet', false, false],
    ['the path exists', true, false],
    ['another holds, and releases', true, true],
    ['it was aborted right before, the path exists', true, false, REASON],
    ['it was aborted right before, another holds, and releases', true, true, REASON],
  ])(`${name} leaves no node and is not held on, where %s`, async (_, exists, waits, reason?: Error) => {
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      if (exists) await scene.done(new Lock(zk, PATH).run(() => {}))
      const obstructing = waits ? await scene.done(block(holder)) : undefined
      const aborting = new AbortController()
      const call = acquire(zk, aborting.signal)
      const acquiring = outcome(call)
      const heldOn = new HeldOn(call)
      let wasPending = false
      let detaching: Outcome<unknown> | undefined
      scene.world.interrupt(moment, () => {
        wasPending = acquiring.status === 'pending'
        if (reason !== undefined) aborting.abort(reason)
        detaching = outcome(zk.detach())
        heldOn.leaving()
      })
      await scene.world.settle()
      await (obstructing && scene.done(obstructing.release()))
      if (detaching === undefined) return false
      expect(detaching.status).toBe('fulfilled')
      expect(heldOn.isSeen).toBe(false)
      expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
      if (acquiring.status === 'rejected') {
        // An abort that comes when the grant is on its way to the caller is too late.
        expect([reason, 'Closed']).toContainEqual(reasonOf(acquiring.error))
      } else if (acquiring.value !== undefined) {
        expect(acquiring.value.signal.reason).toMatchObject({ code: 'Closed' })
      }
      return wasPending
    }, strideOf(name))
    expect(played).toBeGreaterThan(waits ? 3 : 5)
  })
})

test('SharedLock.downgrade in a session that is left leaves no node', async () => {
  const played = await atEveryMoment(async (moment) => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new SharedLock(zk, PATH).write.acquire())
    const call = held.downgrade()
    const downgrading = outcome(call)
    const heldOn = new HeldOn(call)
    let wasPending = false
    let detaching: Outcome<unknown> | undefined
    scene.world.interrupt(moment, () => {
      wasPending = downgrading.status === 'pending'
      detaching = outcome(zk.detach())
      heldOn.leaving()
    })
    await scene.world.settle()
    expect(detaching?.status ?? 'fulfilled').toBe('fulfilled')
    expect(heldOn.isSeen).toBe(false)
    if (detaching === undefined) return false
    expect(scene.ensemble.nodes.ephemerals()).toEqual([])
    if (downgrading.status === 'rejected') expect(reasonOf(downgrading.error)).toBe('Closed')
    else expect(downgrading.value.signal.reason).toMatchObject({ code: 'Closed' })
    return wasPending
  })
  expect(played).toBeGreaterThan(5)
})

test('ZooKeeper.detach waits for half a session timeout at most for a node that cannot be deleted', async () => {
  const scene = new Scene()
  const zk = await scene.client({ sessionTimeout: 4_000 })
  await scene.done(new Lock(zk, PATH).run(() => {}))
  const aborting = new AbortController()
  const acquiring = outcome(new Lock(zk, PATH).acquire({ signal: aborting.signal }))
  scene.freeze(zk)
  aborting.abort(REASON)
  const detaching = outcome(zk.detach())
  await scene.world.advance(1_999)
  expect([acquiring.status, detaching.status]).toEqual(['rejected', 'pending'])
  await scene.world.advance(1)
  expect(detaching.status).toBe('fulfilled')
})

test('ZooKeeper.detach that waits is over when the client is closed', async () => {
  const scene = new Scene()
  const zk = await scene.client({ sessionTimeout: 4_000 })
  let finish = () => {}
  internalsOf(zk.session).waitUntil(new Promise<void>((resolve) => (finish = resolve)))
  const detaching = outcome(zk.detach())
  const again = outcome(zk.detach())
  await scene.world.advance(100)
  expect([detaching.status, again.status]).toEqual(['pending', 'rejected'])
  await scene.done(zk.close())
  finish()
  await scene.world.settle()
  expect(detaching.error).toSatisfy((error) => KeeperError.is(error, 'Closed'))
})

function reasonOf(error: unknown): unknown {
  if (error instanceof LostError) return error.code
  return KeeperError.is(error) ? error.code : error
}

test('ZooKeeper.detach ends a downgrade whose multi was lost as Closed, though what it repeats finds the node gone', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const writing = await scene.done(new SharedLock(zk, PATH).write.acquire())
  scene.ensemble.faults.loseRequest({ op: 'multi' })
  // The session is left long after the downgrade was given up.
  internalsOf(zk.session).waitUntil(new Promise<void>((resolve) => scene.world.setTimer(10_000, resolve)))
  const reading = outcome(writing.downgrade())
  await scene.world.advance(10)
  const detaching = outcome(zk.detach())
  await scene.world.advance(60_000)
  expect(reading.error).toMatchObject({ name: 'LostError', code: 'Closed' })
  expect(detaching.status).toBe('fulfilled')
  expect(scene.ensemble.nodes.ephemerals()).toEqual([])
})

describe('WriteHeld.downgrade in a session that is left', () => {
  test.each([0, 5])(
    'WriteHeld.downgrade leaves no node, whenever the session is left (latency %i ms)',
    async (latency) => {
      const played = await atEveryMoment(
        async (moment) => {
          const scene = new Scene()
          const zk = await scene.client()
          const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
          scene.network.latency = () => latency
          let detaching: Outcome<unknown> | undefined
          let wasPending = false
          const downgrading = outcome(write.downgrade())
          scene.world.interrupt(moment, () => {
            wasPending = downgrading.status === 'pending'
            detaching = outcome(zk.detach())
          })
          await scene.world.advance(1_000)
          if (detaching === undefined) return false
          expect(detaching.status).toBe('fulfilled')
          expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
          return wasPending
        },
        { stride: 2 },
      )
      expect(played).toBeGreaterThan(0)
    },
  )
})
