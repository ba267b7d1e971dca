// Holds of one session with several terms. Each ends at the end of its own lease, by its signal, without a call, and whatever
// else the session holds lasts longer, or not as long.
import { expect, test } from 'vitest'
import { type Held, type HoldOptions, Lock } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

// Hundreds of histories.
const T = 6_000
/** A round trip, in ms. */
const LATENCY = 60

const terms = {
  short: { followerRelayDelay: T / 2 },
  usual: {},
  long: { followerRelayDelay: 10 },
  connected: { heldWhile: 'connected' },
  sessionAlive: { heldWhile: 'sessionAlive' },
} as const satisfies Record<string, HoldOptions>

type Term = keyof typeof terms

const orders: readonly (readonly Term[])[] = [
  ['long', 'short'],
  ['short', 'long'],
  ['usual', 'short'],
  ['long', 'usual', 'short'],
  ['sessionAlive', 'short'],
  ['connected', 'usual', 'sessionAlive', 'short'],
]

/** Between one grant and the next, in ms: about T/3 later the last is granted while a round is on its way for those before. */
const pauses = [0, 50, 130, 1_000, ...Array.from({ length: 24 }, (_, n) => T / 3 - 240 + 15 * n)]

/** By how much each was notified too late or too early, in ms. Those that have no lease are left out. */
async function play(order: readonly Term[], between: number): Promise<number[]> {
  const scene = new Scene({ members: 3 })
  const { world, network } = scene
  for (const index of order.keys()) scene.ensemble.nodes.create(`/${index}`)
  const zk = await scene.client({ sessionTimeout: T })
  network.latency = () => LATENCY
  // The last heartbeat is recent enough for some of the terms, not for others.
  await world.advance(2 * T + 500)
  const acquire = (term: Term, index: number) => new Lock(zk, `/${index}`, terms[term]).acquire()
  const all: Held[] = []
  for (const [index, term] of order.entries()) {
    const acquiring = outcome(acquire(term, index))
    const isLast = index === order.length - 1
    if (!isLast) await world.advance(between)
    while (acquiring.status === 'pending') await world.advance(1)
    all.push(acquiring.value)
  }
  // From now on nothing is answered, and no client can connect.
  scene.freeze(zk)
  scene.refuse()
  // What was under way arrives.
  await world.advance(LATENCY)
  const leased = all.filter((_, index) => !('heldWhile' in terms[order[index]!]))
  const ends = leased.map((held) => world.now() + held.leaseRemaining())
  expect(leased.map(({ signal }) => signal.aborted)).toEqual(leased.map(() => false))
  const notified = leased.map(() => Infinity)
  for (const [index, { signal }] of leased.entries()) {
    signal.addEventListener('abort', () => (notified[index] = world.now()))
  }
  await world.advance(T)
  for (const { signal } of leased) expect(signal.reason).toMatchObject({ code: 'LeaseLost' })
  return notified.map((at, index) => at - ends[index]!)
}

test.each(orders.map((order) => [order.join(', '), order] as const))(
  'Held.signal aborts at the end of its own lease where one session holds by terms that are %s',
  async (_, order) => {
    for (const between of pauses) {
      for (const late of await play(order, between)) {
        expect(late, `${between} ms`).toBeGreaterThanOrEqual(0)
        // Timers go by whole ms.
        expect(late, `${between} ms`).toBeLessThanOrEqual(1)
      }
    }
  },
)
