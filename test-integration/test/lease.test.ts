// Another contender is granted what a holder holds: the holder's server is cut off, and its connection stands.
//
//     ZK_LEASE_CUTS=100 pnpm test test-integration/test/lease    the long form: an ensemble of random ticks for every ten
import type { HeldWhile } from '@zk/recipes'
import { afterEach, describe, expect, test } from 'vitest'
import { Random } from '../src/random.ts'
import { Ensemble, type EnsembleNode } from '../src/ensemble/index.ts'
import { type Cut, cutOff, describeSamples, type Sample } from './support/cut-off.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const CUTS = Number(process.env['ZK_LEASE_CUTS'] ?? 3)
const SEED = Number(process.env['ZK_LEASE_SEED'] ?? Date.now() % 1_000_000)
const CUTS_PER_ENSEMBLE = 10
/** Minimal margin of a lease for the ensemble, in ms, besides 2 % of the session timeout. */
const MARGIN = 50

const holders: readonly HeldWhile[] = [
  ...Array.from({ length: 8 }, () => 'confirmed' as const),
  'connected',
  'connected',
  'sessionAlive',
  'sessionAlive',
]

describeEnsemble('Held, whose server is cut off', (shared) => {
  afterEach(() => shared.mend())

  test(
    'Held has ended before another is granted while its follower is cut from the leader, 100 of 100 (L31)',
    { timeout: 120_000 + CUTS * 30_000 },
    async () => {
      const random = new Random(SEED)
      const samples: Sample[] = []
      for (let cut = 0; cut < CUTS; cut += CUTS_PER_ENSEMBLE) {
        const tickTime = CUTS > CUTS_PER_ENSEMBLE ? 200 + random.below(400) : 300
        // A large syncLimit: a follower keeps its clients for long after it has lost its leader.
        await using ensemble = await Ensemble.start({ tickTime, environment: { ZOO_SYNC_LIMIT: '30' } })
        for (let nth = 0; nth < Math.min(CUTS_PER_ENSEMBLE, CUTS - cut); nth++) {
          samples.push(...(await cutOff(ensemble, await followerCut(ensemble, random))))
          if (nth === 0 && CUTS > CUTS_PER_ENSEMBLE)
            console.info(`tick ${tickTime} ms, cut ${cut + 1}\n${describeSamples(samples)}`)
        }
      }

      console.info(`L31: ${CUTS} cuts, seed ${SEED}\n${describeSamples(samples)}`)
      expectLeasesOver(samples)
      expect(of(samples, 'confirmed').filter(({ wasConnected }) => !wasConnected)).toEqual([])
      // The effect of the other rules: the connection stands, and as far as its client knows the session is alive.
      // (Not every time: a client that could not run for long on a busy machine closes its connection.)
      for (const heldWhile of ['connected', 'sessionAlive'] as const) {
        const those = of(samples, heldWhile)
        expect(those.filter(({ overlap }) => overlap > 0).length, heldWhile).toBeGreaterThan(0)
      }
    },
  )

  describe('with the leader, and a minority', () => {
    test('Held has ended before another is granted by the next leader (L32)', async () => {
      const random = new Random(SEED)
      const { tickTime } = shared.description
      const leader = await shared.leader()
      const samples = await cutOff(shared, {
        random,
        holders,
        of: leader,
        at: await shared.followers(),
        sessionTimeout: () => between(random, 2 * tickTime, 8 * tickTime),
        strike: () => leader.cutFromPeers(),
      })

      console.info(`L32: seed ${SEED}\n${describeSamples(samples)}`)
      expectLeasesOver(samples)
    })
  })
})

/** No holder held when the other was granted, and the lease's margin for clocks and slow programs was complete. */
function expectLeasesOver(samples: readonly Sample[]): void {
  const leases = of(samples, 'confirmed')
  expect(leases.filter(({ overlap, margin }) => overlap > 0 || margin <= 0)).toEqual([])
  const cut = leases.filter(({ wasEarly }) => !wasEarly)
  // On a busy machine many are lost before the cut: its servers and clients wait for a CPU.
  expect(cut.length).toBeGreaterThan(0)
  expect(cut.filter(({ reason, margin }) => reason === 'LeaseLost' && margin < MARGIN)).toEqual([])
}

async function followerCut(ensemble: Ensemble, random: Random): Promise<Cut> {
  const { tickTime } = ensemble.description
  const leader = await ensemble.leader()
  const followers = await ensemble.followers()
  const follower = random.pick(followers)
  const strikes: (() => Promise<unknown>)[] = [
    () => follower.cutFromPeers(),
    () => Promise.all([follower.blackhole(leader), leader.blackhole(follower)]),
    // One way first: packets of one side arrive for a while, but are not answered.
    () =>
      inTurn(random, [
        [follower, leader],
        [leader, follower],
      ]),
  ]
  const strike = random.pick(strikes)
  return {
    random,
    holders,
    of: follower,
    at: ensemble.nodes.filter((node) => node !== follower),
    sessionTimeout: () => between(random, 2 * tickTime, 6 * tickTime),
    strike: async () => void (await strike()),
  }
}

async function inTurn(random: Random, ways: [from: EnsembleNode, to: EnsembleNode][]): Promise<void> {
  if (random.percent(50)) ways.reverse()
  for (const [from, to] of ways) await from.blackhole(to)
}

function between(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1)
}

function of(samples: readonly Sample[], heldWhile: HeldWhile): Sample[] {
  return samples.filter((sample) => sample.heldWhile === heldWhile)
}
