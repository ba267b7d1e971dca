// What one session holds on leases of different lengths, added at different moments: while servers answer nothing is lost, for the
// next round comes in time for the shortest lease, and no hold is asked about more often than its lease needs.
import { expect, test } from 'vitest'
import type { HeldWhile } from '../../src/index.ts'
import { type Holding, LeaseKeeper } from '../../src/lease/lease-keeper.ts'
import { Lease, leaseTimes } from '../../src/lease/lease.ts'
import { Scene } from '../support/scene.ts'

// Hundreds of histories.
const T = 6_000
/** A round trip, in ms. */
const LATENCY = 60
const D = leaseTimes.relay(T)

/** What is left of a lease when its hold is added, as parts of T: a grant leaves T/4 at the least. */
const lengths = [0.25, 0.4, 0.6, 0.95]
const orders = lengths.flatMap((one) =>
  lengths.flatMap((two) => [[one, two], ...lengths.map((three) => [one, two, three])]),
)
/** Between one hold and the next, in ms: beside none, before a round, while one is on its way, behind one. */
const pauses = [0, 300, D - 30, D + 30, D + LATENCY, D + 2 * LATENCY + 30]

class FakeHolding implements Holding {
  readonly paths: readonly string[]
  readonly lease: Lease
  readonly heldWhile: HeldWhile = 'confirmed'
  readonly followerRelayDelay = D
  readonly isSuspended = false
  lost: string | undefined
  confirmations = 0

  readonly #onLost: (lost: FakeHolding) => void

  constructor(path: string, { world }: Scene, left: number, onLost: (lost: FakeHolding) => void = () => {}) {
    this.#onLost = onLost
    this.paths = [path]
    const age = leaseTimes.proven(T) - left * T
    const from = { now: world.now() - age, wallNow: world.wallNow() - age }
    this.lease = new Lease(world, from, () => leaseTimes.proven(T))
  }

  lose(reason: string): void {
    this.lost = reason
    this.#onLost(this)
  }

  confirmed(): void {
    this.confirmations++
  }

  suspended(): void {}
}

/** Timers that are set while no frame is on its way. */
async function timersAtRest({ world }: Scene): Promise<number> {
  let least = Infinity
  for (let ms = 0; ms < 5 * LATENCY; ms += 10) {
    await world.advance(10)
    least = Math.min(least, world.timers)
  }
  return least
}

async function play(
  order: readonly number[],
  between: number,
): Promise<{ held: FakeHolding[]; rounds: number; timers: number }> {
  const scene = new Scene({ members: 3 })
  const { world, network } = scene
  const zk = await scene.client({ sessionTimeout: T })
  network.latency = () => LATENCY
  await world.advance(2 * T)
  const timers = await timersAtRest(scene)
  const keeper = LeaseKeeper.of(zk, zk.session)
  const held: FakeHolding[] = []
  for (const [index, left] of order.entries()) {
    if (index > 0) await world.advance(between)
    scene.ensemble.nodes.create(`/${index}`)
    held.push(new FakeHolding(`/${index}`, scene, left))
    keeper.add(held.at(-1)!)
  }
  const since = scene.since()
  await world.advance(3 * T)
  const rounds = since.ops().filter((op) => op === 'sync').length
  for (const each of held) keeper.remove(each)
  return { held, rounds, timers: (await timersAtRest(scene)) - timers }
}

test.each(pauses)(
  'LeaseKeeper loses no hold of several that come %d ms apart, whatever is left of each lease',
  async (between) => {
    for (const order of orders) {
      const { held, rounds, timers } = await play(order, between)
      const title = `leases of ${order.join(', ')} T`
      expect(
        held.map(({ lost }) => lost),
        title,
      ).toEqual(held.map(() => undefined))
      // Three in T, and one or two more where a short lease was added.
      expect(rounds, title).toBeLessThanOrEqual(9 + 2 * order.length)
      expect(timers, title).toBe(0)
      for (const { confirmations } of held) expect(confirmations, title).toBeGreaterThanOrEqual(8)
    }
  },
)

test.each([
  [20, 30],
  [30, 20],
  [10, 20, 30],
  [10, 30, 20],
])(
  'LeaseKeeper reports the end of leases of %d, %d … ms to the ms, though no round can come before',
  async (...lefts) => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client({ sessionTimeout: T })
    const keeper = LeaseKeeper.of(zk, zk.session)
    const begin = scene.world.now()
    const lost: number[] = []
    for (const [index, left] of lefts.entries()) {
      const onLost = (holding: FakeHolding) => {
        keeper.remove(holding)
        lost.push(scene.world.now() - begin)
      }
      keeper.add(new FakeHolding(`/${index}`, scene, left / T, onLost))
    }
    await scene.world.advance(T)
    expect(lost.map((ms) => Math.round(ms))).toEqual(lefts.toSorted((one, other) => one - other))
  },
)
