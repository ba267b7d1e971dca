// Holders whose ensemble stalls: links between members stall in one direction and then the other, or the leader is killed.
//
//     ZK_LINK_CUTS=300 pnpm test test-integration/test/lease-links    the long form: eight cuts a stall
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@zk/recipes'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import type { EnsembleNode } from '../src/ensemble/index.ts'
import { type Cut, describeCuts, playStall } from './support/link-cuts.ts'
import { Random } from '../src/random.ts'
import { LinkedEnsemble } from '../src/links/linked-ensemble.ts'
import { authenticate, Contest, type Rivals } from './support/rivals.ts'

const TICK = 500
/** In ms: outlives every fault here. */
const LONG = 20 * TICK
/** Time in ms during which a stalled link works both ways before it stalls the other way. */
const PAUSES = [0, 40, 100, 200] as const
const CUTS = Number(process.env['ZK_LINK_CUTS'] ?? 16)
const RUNS = CUTS > 16 ? 4 : 2
const SEED = Number(process.env['ZK_LINK_SEED'] ?? Date.now() % 1_000_000)
/** Holders in one stall. */
const CUTS_PER_STALL = 8

describe.skipIf(inject('ensembles') === undefined)('Held, whose servers learn of its session too late', () => {
  let linked: LinkedEnsemble

  beforeAll(async () => {
    // A large syncLimit: a stalled link is not given up.
    linked = await LinkedEnsemble.start({ tickTime: TICK, environment: { ZOO_SYNC_LIMIT: '30' } })
  })
  afterEach(() => linked?.mend())
  afterAll(() => linked?.[Symbol.asyncDispose]())

  test('Held of a session resumed with a longer timeout has ended before another is granted by the next leader', async () => {
    const { ensemble } = linked
    const leader = await ensemble.leader()
    await using contest = await Contest.begin(await ensemble.followers(), LONG)
    const all = await Promise.all(
      [TICK * 2, TICK * 3, TICK * 4].map(async (createdWith) => {
        const holder = await contest.holderAt(leader, { kind: 'resumed', createdWith, sessionTimeout: LONG })
        const rivals = await contest.rivals('lock')
        await rivals.acquire(holder)
        return rivals
      }),
    )
    await leader.kill()
    await contest.decided()
    await over(all)
    report('resumed', all)
    expect(all.map(({ margin }) => margin)).not.toContain(undefined)
    expect(all.map(({ overlap }) => overlap)).toEqual(all.map(() => 0))
  })

  test('Held of a session that sends only addAuth has ended before another is granted', async () => {
    const all: Rivals[] = []
    for (let run = 0; run < RUNS; run++) {
      const { leader, follower, others } = await stage()
      await using contest = await Contest.begin(others, LONG)
      const sessionTimeout = 6 * TICK
      const holder = await contest.holderAt(follower, { kind: 'authenticated', sessionTimeout })
      const rivals = await contest.rivals('lock')
      // For most of the timeout no other packet was sent.
      await sleep(sessionTimeout - TICK)
      await rivals.acquire(holder)
      linked.links.hold(follower, leader)
      // The holder does not learn of the end of its session either.
      linked.links.hold(leader, follower)
      await contest.decided()
      await over([rivals])
      all.push(rivals)
      await linked.mend()
    }
    report('authenticated', all)
    expect(all.map(({ margin }) => margin)).not.toContain(undefined)
    expect(all.map(({ overlap }) => overlap)).toEqual(all.map(() => 0))
  })

  test(
    'Held that is granted while the leader receives no touch of its session has ended before another is granted',
    { timeout: 180_000 },
    async () => {
      const all: Rivals[] = []
      for (const pause of PAUSES) {
        const { leader, follower, others } = await stage()
        await using contest = await Contest.begin(others, LONG)
        // The leader's pings no longer collect touches, and the sessions' time passes; then it receives none.
        const stall = 1_700
        const contenders = await Promise.all(
          [1_500, 1_700, 1_900, 2_100].map(async (sessionTimeout) => {
            const holder = await contest.holderAt(follower, { kind: 'plain', sessionTimeout })
            return { holder, rivals: await contest.rivals('lock') }
          }),
        )
        linked.links.hold(leader, follower)
        await sleep(stall - 50)
        const acquiring = contenders.map(({ holder, rivals }) => rivals.acquire(holder).catch(() => {}))
        await sleep(50)
        linked.links.release(leader, follower)
        await sleep(pause)
        linked.links.hold(follower, leader)
        // Time for the replies. The holders do not learn of the end of their sessions.
        await sleep(50)
        linked.links.hold(leader, follower)
        await contest.decided()
        const those = contenders.map(({ rivals }) => rivals)
        await over(those)
        await linked.mend()
        await Promise.all(acquiring)
        all.push(...those)
      }
      report('granted behind a stall', all)
      // Where the link works both ways for a time, a proof is in time for its lease; elsewhere it takes too long.
      expect(all.some(({ margin }) => margin !== undefined)).toBe(true)
      expect(all.map(({ overlap }) => overlap)).toEqual(all.map(() => 0))
    },
  )

  test('ZooKeeper that adds credentials five times a second keeps its session', async () => {
    await using zk = await connect(linked.ensemble.connectString, { sessionTimeout: 2 * TICK, renewSession: false })
    const { session } = zk
    const ended = new Promise<number>((resolve) => {
      const since = performance.now()
      session.signal.addEventListener('abort', () => resolve(performance.now() - since), { once: true })
    })
    authenticate(zk, 200)
    const after = await Promise.race([ended, sleep(5_000)])
    expect(after, 'its session ended after so many ms').toBeUndefined()
  })

  test(
    'Held has ended before another is granted, whenever each direction of the links of its server stalls',
    { timeout: 60_000 + CUTS * 10_000 },
    async () => {
      const random = new Random(SEED)
      const cuts: Cut[] = []
      for (let nth = 0; cuts.length < CUTS; nth++) {
        cuts.push(...(await playStall(linked, random, { nth, holders: CUTS_PER_STALL, longest: LONG })))
      }
      console.info(`links: ${cuts.length} cuts, seed ${SEED}\n${describeCuts(cuts)}`)
      expect(cuts.filter(({ overlap }) => overlap > 0)).toEqual([])
      // Most contenders that ask while links stall are granted nothing; all earlier holders have lost their holds.
      const held = cuts.filter(({ margin }) => margin !== undefined)
      expect(held.length).toBeGreaterThanOrEqual(CUTS / 4)
    },
  )

  interface Stage {
    readonly leader: EnsembleNode
    readonly follower: EnsembleNode
    /** All followers but that one. */
    readonly others: readonly EnsembleNode[]
  }

  async function stage(): Promise<Stage> {
    const leader = await linked.ensemble.leader()
    const [follower] = await linked.ensemble.followers()
    return { leader, follower: follower!, others: linked.ensemble.nodes.filter((node) => node !== follower) }
  }
})

/** No holder holds if its rival was granted: the measured values are final. */
async function over(all: readonly Rivals[]): Promise<void> {
  await Promise.all(all.map((each) => each.ended()))
}

function report(what: string, all: readonly Rivals[]): void {
  const both = all.filter(({ overlap }) => overlap > 0)
  const overlaps = all.map(({ overlap }) => overlap.toFixed(0)).join(', ')
  const margins = all.map(({ margin }) => margin?.toFixed(0) ?? '-').join(', ')
  console.info(`${what}: both held in ${both.length} of ${all.length}; for ${overlaps} ms; margins ${margins} ms`)
}
