// A process that stands still, and one that is cut off with its server: what is held is over before another client is
// granted (L31, L32, L33).
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type HeldWhile, LeaderElection, Lock, op, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { outcome, SeededRandom } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'
import { isWholeSweep } from '../support/sweeps.ts'

// Hundreds of histories.
const PATH = '/locks/report'
const T = 4_000
/** Histories with each cut. */
const CUTS = isWholeSweep ? 300 : 40

async function connected(seed = 1, timeout = T) {
  const scene = new Scene({ members: 3, seed })
  const zk = await scene.client({ sessionTimeout: timeout })
  const other = await scene.client({ sessionTimeout: timeout })
  return { scene, zk, other }
}

describe('Held of a process that stands still', () => {
  const parts = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2]

  test.each(parts)('Held knows the moment it is asked after %d T, and for good (L33)', async (part) => {
    for (const after of [0, 30, 52, 100, 1_000, 2_000]) {
      const { scene, zk } = await connected()
      scene.ensemble.nodes.create('/data')
      const held = await scene.done(new Lock(zk, PATH).acquire())
      await scene.world.advance(after)
      const left = held.leaseRemaining()
      scene.world.stall(part * T)
      const isHeld = left > part * T
      expect(held.isHeld()).toBe(isHeld)
      expect(held.leaseRemaining()).toBe(isHeld ? left - part * T : 0)
      const since = scene.since()
      const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
      if (isHeld) continue
      expect(writing.error).toMatchObject({ name: 'LostError', code: 'LeaseLost' })
      expect(since.ops()).not.toContain('setData')
      expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(0)
      await scene.world.advance(3 * T)
      expect(held.isHeld()).toBe(false)
    }
  })

  test.each(parts)('Held.signal aborts without a call of isHeld, after %d T', async (part) => {
    const { scene, zk } = await connected()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(1_000)
    const left = held.leaseRemaining()
    scene.world.stall(part * T)
    await scene.world.settle()
    expect(held.signal.aborted).toBe(left <= part * T)
  })

  /** A body that keeps the event loop busy for longer than its lease, and ends in the same turn. */
  const ends: [string, (zk: ZooKeeper, busy: () => void) => Promise<unknown>, unknown][] = [
    ['run', (zk, busy) => new Lock(zk, PATH).run(busy), { name: 'LostError', code: 'LeaseLost' }],
    [
      'run, re-entrant',
      (zk, busy) => new Lock(zk, PATH, { reentrant: true }).run(busy),
      { name: 'LostError', code: 'LeaseLost' },
    ],
    ['run of a reader', (zk, busy) => new SharedLock(zk, PATH).read.run(busy), { code: 'LeaseLost' }],
    [
      'downgrade',
      async (zk, busy) => {
        const held = await new SharedLock(zk, PATH).write.acquire()
        busy()
        return held.downgrade()
      },
      { name: 'LostError', code: 'LeaseLost' },
    ],
  ]
  test('Held.release after a busy turn that outlasts the lease resolves, and reports the loss', async () => {
    const { scene, zk } = await connected()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.world.stall(2 * T)
    // The client gives its session up, so the node is deleted in the next one.
    const releasing = await scene.start(held.release())
    await scene.world.advance(T / 10)
    expect([releasing.status, scene.ensemble.nodes.ephemerals()]).toEqual(['fulfilled', []])
    expect(held.signal.reason).toMatchObject({ code: 'LeaseLost' })
  })

  test('Held.isHeld that notices the end of the lease before any timer reports the same cause', async () => {
    const { scene, zk } = await connected()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    scene.world.stall(2 * T)
    expect(held.isHeld()).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'LeaseLost', cause: { message: 'read ECONNRESET' } })
  })

  test.each(ends)('Held whose %s ends a busy turn that outlasts the lease was lost', async (_, use, loss) => {
    const { scene, zk } = await connected()
    const lost: unknown[] = []
    const onLost = (message: unknown) => void lost.push(message)
    subscribe('zk:lost', onLost)
    onTestFinished(() => void unsubscribe('zk:lost', onLost))
    const using = outcome(use(zk, () => scene.world.stall(2 * T)))
    await scene.world.advance(10 * T)
    expect(using.error).toMatchObject(loss as object)
    expect(lost).toMatchObject([{ reason: 'LeaseLost' }])
  })

  test.each([
    ['a suspend of an hour, in which only the clock on the wall went on', 3_600_000, false],
    ['a clock that was set back by an hour', -3_600_000, true],
  ])('Held after %s', async (_, offset, isHeld) => {
    const { scene, zk } = await connected()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(1_000)
    const left = held.leaseRemaining()
    scene.world.setWallClock(offset)
    expect(held.isHeld()).toBe(isHeld)
    expect(held.leaseRemaining()).toBe(isHeld ? left : 0)
    await scene.world.advance(5 * T)
    expect(held.isHeld()).toBe(isHeld)
  })

  test('Held whose round is answered behind a suspend stays lost though its session lives', async () => {
    const { scene, zk } = await connected()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(1_000)
    scene.network.latency = () => 50
    const since = scene.since()
    while (since.ops().at(-1) !== 'multi') await scene.world.advance(1)
    // The clock of the timers stood still.
    scene.world.setWallClock(held.leaseRemaining() + 1)
    await scene.world.advance(100)
    expect(held.isHeld()).toBe(false)
  })
})

type Cut = 'follower' | 'leader'

/** Whether it was held still when the next was granted. The holder's member is cut off, at a random moment. */
async function overlaps(seed: number, cut: Cut, heldWhile: HeldWhile, timeout: number): Promise<boolean> {
  const random = new SeededRandom(seed)
  const scene = new Scene({ members: 3, seed })
  const { ensemble, world, network } = scene
  const leader = ensemble.leader!
  const [follower, third] = ensemble.members.filter((member) => member !== leader)
  const mine = cut === 'leader' ? leader : follower!
  const zk = await clientOf(scene, mine, timeout)
  const other = await clientOf(scene, third!, timeout)
  network.latency = () => random.below(10)
  const holding = outcome(acquirableOf(zk, seed, heldWhile).acquire())
  await world.advance(50)
  const held = holding.value
  let wasHeld: boolean | undefined
  const waiting = acquirableOf(other, seed, 'confirmed').acquire()
  waiting.then(
    () => (wasHeld = held.isHeld()),
    () => {},
  )
  await world.advance(50 + random.below(2 * timeout))
  expect([held.isHeld(), wasHeld]).toEqual([true, undefined])
  ensemble.network.isolate(mine)
  for (let time = 0; time < 30_000 && wasHeld === undefined; time += 500) await world.advance(500)
  expect(wasHeld).toBeDefined()
  return wasHeld!
}

/** A client that knows only this member. */
function clientOf(scene: Scene, { address }: { readonly address: string }, sessionTimeout: number): Promise<ZooKeeper> {
  return scene.done(connect(address, { runtime: scene.world, sessionTimeout }))
}

function acquirableOf(zk: ZooKeeper, seed: number, heldWhile: HeldWhile) {
  if (seed % 3 === 0) return new SharedLock(zk, PATH, { heldWhile }).write
  if (seed % 3 === 1) return new Lock(zk, PATH, { heldWhile })
  const election = new LeaderElection(zk, PATH, { heldWhile })
  return { acquire: () => election.campaign() }
}

describe('Held over a server that is cut off', () => {
  async function overlapping(cut: Cut, heldWhile: HeldWhile, timeout: number, seeds: number): Promise<number[]> {
    const found: number[] = []
    for (let seed = 1; seed <= seeds; seed++) if (await overlaps(seed, cut, heldWhile, timeout)) found.push(seed)
    return found
  }

  test.each([
    ['a follower cut off from its leader', 'follower', 1_500, 'L31'],
    ['a follower cut off from its leader', 'follower', 4_000, 'L31'],
    ['a leader cut off with a minority', 'leader', 1_500, 'L32'],
  ] as const)('Held over %s (%s, T = %i) is over before another is granted (%s)', async (_, cut, timeout, __) => {
    expect(await overlapping(cut, 'confirmed', timeout, CUTS)).toEqual([])
  })

  test.each([
    ['follower', 'connected', 1_500],
    ['follower', 'sessionAlive', 1_500],
  ] as const)(
    'Held over a %s that is cut off overlaps with the next while %s: what the lease is for',
    async (cut, heldWhile, timeout) => {
      expect((await overlapping(cut, heldWhile, timeout, 10)).length).toBeGreaterThan(0)
    },
  )
})
