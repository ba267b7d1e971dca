// Elections (catalogue E): terms in time, when leaders are cut off, stand still, or servers go.
import { describe, expect, test } from 'vitest'
import { LeaderElection, type Held, type ZooKeeper } from '../../src/index.ts'
import { type Candidate, candidates, leaders } from '../support/candidate.ts'
import { SeededRandom } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'
import { rises } from '../support/turns.ts'

const PATH = '/leader'

function tokens(all: readonly Candidate[]): bigint[] {
  return all
    .flatMap(({ terms }) => terms.map(({ fencingToken }) => fencingToken))
    .sort((one, other) => (one < other ? -1 : 1))
}

describe('LeaderElection.terms', () => {
  test.each([0.05, 0.2, 0.4])(
    'LeaderElection.terms goes on leading through a partition of %d session timeouts, suspended and then resumed (E02)',
    async (times) => {
      const scene = new Scene()
      const all = await candidates(scene, PATH, 2)
      await scene.world.advance(1_000)
      scene.refuse()
      scene.cut(all[0]!.zk)
      await scene.world.advance(times * all[0]!.zk.session.timeout)
      expect(leaders(all)).toEqual([0])
      expect(all[0]!.notified).toEqual(['leads', 'suspended'])
      scene.accept()
      await scene.world.advance(all[0]!.zk.session.timeout)
      expect(leaders(all)).toEqual([0])
      expect(all[0]!.notified).toEqual(['leads', 'suspended', 'resumed'])
      expect(all[1]!.terms).toEqual([])
    },
  )

  test('LeaderElection.terms gives the term up before another leads, when it is cut off for long, and stands again (E03)', async () => {
    const scene = new Scene({ members: 3 })
    const all = await candidates(scene, PATH, 2)
    scene.freeze(all[0]!.zk)
    scene.refuse()
    for (let time = 0; time < 60_000; time += 100) {
      if (time === 45_000) scene.accept()
      await scene.world.advance(100)
      expect(leaders(all).length).toBeLessThanOrEqual(1)
    }
    // Nothing was received for 2/3 T, a third before the end of the lease.
    expect(all[0]!.notified.slice(0, 3)).toEqual(['leads', 'suspended', 'LeaseLost'])
    expect(leaders(all)).toHaveLength(1)
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(2)
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'LeaderElection.terms alternates terms and losses, whatever happens, and never leads after the client is closed (E10, seed %i)',
    async (seed) => {
      const scene = new Scene({ members: 3, seed })
      const random = new SeededRandom(seed)
      const all = await candidates(scene, PATH, 3)
      const one = () => all[random.below(all.length)]!
      const strikes = [
        () => scene.cut(one().zk),
        () => scene.freeze(one().zk),
        () => scene.expire(one().zk),
        () => one().endTerm(),
        () => scene.ensemble.nodes.delete(scene.ensemble.nodes.ephemerals()[0] ?? '/none'),
        () => scene.world.stall(random.below(50_000)),
      ]
      for (let turn = 0; turn < 40; turn++) {
        try {
          strikes[random.below(strikes.length)]!()
        } catch (error) {
          // For an operator's request for a missing node.
          expect(String(error)).toMatch(/NoNode|session/)
        }
        await scene.world.advance(random.below(10_000))
      }
      await scene.world.advance(60_000)
      expect(leaders(all)).toHaveLength(1)
      expect(rises(tokens(all))).toBe(true)
      for (const { zk } of all) void zk.close()
      await scene.world.settle()
      const terms = all.map((each) => each.terms.length)
      await scene.world.advance(120_000)
      expect(leaders(all)).toEqual([])
      expect(all.map((each) => each.terms.length)).toEqual(terms)
      for (const { notified } of all) {
        const turns = notified.filter((each) => each !== 'suspended' && each !== 'resumed')
        expect(turns.map((each) => each === 'leads')).toEqual(turns.map((_, index) => index % 2 === 0))
        // The last one, too, was notified of its end.
        expect(turns.length % 2).toBe(0)
      }
    },
  )

  test('LeaderElection.terms whose process stood still for two session timeouts leads no more at its next step (E12)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, PATH, 1)
    const [term] = all[0]!.terms as [Held]
    const { timeout } = all[0]!.zk.session
    await scene.world.advance(1_000)
    expect(term.isHeld()).toBe(true)
    scene.world.stall(2 * timeout)
    // No timer has fired, and nothing has been read.
    expect(term.isHeld()).toBe(false)
    expect(term.signal.aborted).toBe(true)
    expect(term.signal.reason).toMatchObject({ code: 'LeaseLost' })
    await scene.world.advance(timeout)
    expect(leaders(all)).toEqual([0])
    expect(all[0]!.terms[1]!.fencingToken).toBeGreaterThan(term.fencingToken)
  })

  test.each(['at once', 'one after the other'])(
    'LeaderElection.terms has exactly one leader after all servers were restarted %s (E14)',
    async (how) => {
      const scene = new Scene({ members: 3 })
      const all = await candidates(scene, PATH, 3)
      await scene.world.advance(1_000)
      const { members } = scene.ensemble
      if (how === 'at once') {
        for (const member of members) member.kill()
        await scene.world.advance(2_000)
        for (const member of members) member.restart()
      } else {
        for (const member of members) {
          member.kill()
          await scene.world.advance(3_000)
          member.restart()
          await scene.world.advance(3_000)
        }
      }
      const { timeout } = all[0]!.zk.session
      for (let time = 0; time < timeout + 5_000; time += TICK) {
        await scene.world.advance(TICK)
        expect(leaders(all).length).toBeLessThanOrEqual(1)
      }
      expect(leaders(all)).toHaveLength(1)
      expect(rises(tokens(all))).toBe(true)
      expect(scene.ensemble.nodes.ephemerals()).toHaveLength(3)
    },
  )

  test('LeaderElection.terms, ten over one client, are confirmed by one transaction for all of them (E15)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const counted = async (count: number) => {
      const terms: Held[] = []
      for (let each = 0; each < count; each++)
        terms.push(await scene.done(new LeaderElection(zk, `${PATH}-${each}`).campaign()))
      await scene.world.advance(zk.session.timeout)
      const since = scene.since()
      await scene.world.advance(5 * zk.session.timeout)
      expect(terms.every((term) => term.isHeld())).toBe(true)
      const ops = since.ops(zk.session.id)
      for (const term of terms) await scene.done(term.release())
      return {
        multi: ops.filter((op) => op === 'multi').length,
        sync: ops.filter((op) => op === 'sync').length,
        all: ops.length,
      }
    }
    const one = await counted(1)
    const ten = await counted(10)
    expect(one.multi).toBeGreaterThan(5)
    expect(ten.multi).toBeLessThan(2 * one.multi)
    expect(ten.all).toBe(ten.multi + ten.sync)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.terms goes on when the path is deleted at every step of a new election (E09)', async () => {
    for (let frame = 1; frame <= 12; frame++) {
      const scene = new Scene()
      const all = await candidates(scene, PATH, 3)
      await scene.world.advance(100)
      scene.network.before(frame, () => {
        if (scene.ensemble.nodes.get(PATH) !== undefined) scene.ensemble.nodes.delete(PATH)
      })
      all[0]!.endTerm()
      await scene.world.advance(2_000)
      expect(leaders(all), `before frame ${frame}`).toHaveLength(1)
      expect(all.map(({ standing }) => standing.status)).toEqual(['pending', 'pending', 'pending'])
      expect(rises(tokens(all))).toBe(true)
      // Who waited behind a node that was deleted stands again when it notices: all have their turn.
      const seen = new Set<number>()
      for (let turn = 0; turn < 6; turn++) {
        const [leader] = leaders(all)
        seen.add(leader!)
        all[leader!]!.endTerm()
        await scene.world.advance(1_000)
      }
      expect(seen.size).toBe(3)
    }
  })

  test('LeaderElection.terms, resigning, lets each of the others lead before it leads again (E11)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, PATH, 4)
    for (let round = 1; round <= 3; round++) {
      for (const [index, candidate] of all.entries()) {
        expect(leaders(all)).toEqual([index])
        candidate.endTerm()
        await scene.world.settle()
      }
      expect(all.map(({ terms }) => terms.length)).toEqual([round + 1, round, round, round])
    }
  })
})

describe('LeaderElection.leader', () => {
  test('LeaderElection.leader never throws for a leader that goes between list and read (E13)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const observer = new LeaderElection(other, PATH)
    for (let frame = 1; frame <= 5; frame++) {
      const leading = await scene.done(new LeaderElection(zk, PATH, { label: 'host-1' }).campaign())
      scene.network.before(frame, () => scene.ensemble.nodes.delete(leading.path))
      const asking = await scene.start(observer.leader())
      expect(asking.error).toBeUndefined()
      expect([undefined, 'host-1']).toContain(asking.value?.label)
      scene.network.calm()
      await scene.start(leading.release())
    }
  })
})
