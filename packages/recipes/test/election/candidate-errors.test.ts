// E07: a candidate is never stuck. After any single answer of a server it stays a candidate, or rejects with the reason; and
// no node blocks the others.
import { ErrorCode, type ErrorName } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, type Held, type ZooKeeper } from '../../src/index.ts'
import { Candidate, candidates, leaders } from '../support/candidate.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/elections/report'
const TURNS = 3
/** In ms: sessions have expired by then. */
const TURN = 45_000

const codes = Object.keys(ErrorCode).filter((code) => code !== 'Ok') as ErrorName[]
/** What passes by itself, and what costs no more than the connection or the session: never reported. */
const passing: readonly ErrorName[] = [
  'ConnectionLoss',
  'RequestTimeout',
  'OperationTimeout',
  'ThrottledOp',
  'NotReadOnly',
  'SessionMoved',
  'SessionExpired',
]
/** What those that look for a node or make one are ready for. */
const expected: Readonly<Record<string, readonly ErrorName[]>> = {
  create2: ['NoNode'],
  createContainer: ['NoNode', 'NodeExists'],
  getData: ['NoNode'],
  multi: ['NoNode'],
  delete: ['NoNode'],
  exists: ['NoNode'],
  sync: ['NoNode'],
}
/** What goes on in the background: no caller is notified of an error. */
const quiet: readonly string[] = ['getChildren2', 'exists', 'sync']
const ops = ['create2', 'createContainer', 'getChildren2', 'getData', 'multi', 'delete', 'exists', 'sync'] as const

describe('LeaderElection.terms', () => {
  test.each(ops)(
    'LeaderElection.terms stays a candidate, or rejects with the reason, when a %s fails with any error (E07)',
    async (op) => {
      for (const code of codes) {
        // A server that answers this is wrong: the node is there, and will not be deleted.
        if (op === 'delete' && code === 'NoNode') continue
        const scene = new Scene()
        if (op !== 'createContainer') scene.ensemble.nodes.create(PATH)
        scene.ensemble.faults.fail({ op, code })
        const all = await candidates(scene, PATH, 2)
        const notified = () => all.filter(({ standing }) => standing.status === 'rejected')
        for (let turn = 0; turn < TURNS; turn++) {
          for (const leader of leaders(all)) all[leader]!.endTerm()
          await scene.world.advance(TURN)
          expect(leaders(all), `${code} in turn ${turn}`).toHaveLength(1)
        }
        const isNotifiedNone = passing.includes(code) || expected[op]?.includes(code) || quiet.includes(op)
        expect(notified().length, code).toBeLessThanOrEqual(isNotifiedNone ? 0 : 1)
        for (const { standing } of notified()) expect(standing.error).toMatchObject({ name: 'KeeperError', code })
        const inTheRace = all.filter(({ standing }) => standing.status === 'pending')
        expect(
          inTheRace.every(({ terms }) => terms.length > 0),
          code,
        ).toBe(true)
        expect(scene.ensemble.nodes.ephemerals(), code).toHaveLength(inTheRace.length)
      }
    },
  )

  test('LeaderElection.terms that ended with an error may be called again', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create(PATH)
    const zk = await scene.client()
    scene.ensemble.faults.fail({ op: 'create2', code: 'QuotaExceeded' })
    const first = new Candidate(zk, PATH)
    await scene.world.settle()
    expect(KeeperError.is(first.standing.error, 'QuotaExceeded')).toBe(true)
    const second = new Candidate(zk, PATH)
    await scene.world.settle()
    expect(second.isLeader).toBe(true)
  })
})

describe('LeaderElection.campaign', () => {
  test.each(['create2', 'createContainer', 'getChildren2', 'getData', 'multi'] as const)(
    'LeaderElection.campaign is elected, or rejects, when its %s fails with any error, and leaves nothing (E07)',
    async (op) => {
      for (const code of codes) {
        const scene = new Scene()
        const [leader, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        let leading: Held | undefined
        if (op !== 'createContainer') leading = await scene.done(new LeaderElection(leader, PATH).campaign())
        scene.ensemble.faults.fail({ op, code, session: zk.session.id })
        const campaign: Outcome<Held> = outcome(new LeaderElection(zk, PATH).campaign())
        await scene.world.advance(TURN)
        await scene.done(leading?.release() ?? Promise.resolve())
        await scene.world.advance(TURN)
        if (campaign.status === 'rejected') {
          expect(campaign.error).toMatchObject({ name: 'KeeperError', code })
          expect([...passing, ...(expected[op] ?? [])]).not.toContain(code)
        } else if (campaign.value.isHeld()) await scene.done(campaign.value.release())
        scene.ensemble.faults.clear()
        expect(scene.leftovers(), code).toEqual(nothing)
      }
    },
  )
})

describe('Held.release', () => {
  test.each(['SystemError', 'NoAuth', 'BadArguments'] as const)(
    'Held.release that is refused with %s rejects with it, and goes on in the background: no contender waits for an orphan',
    async (code) => {
      const scene = new Scene()
      const [leader, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const leading = await scene.done(new LeaderElection(leader, PATH).campaign())
      const campaign = await scene.start(new LeaderElection(zk, PATH).campaign())
      scene.ensemble.faults.fail({ op: 'delete', code, times: 3 })
      const releasing = await scene.start(leading.release())
      expect(KeeperError.is(releasing.error, code)).toBe(true)
      await scene.world.advance(5_000)
      expect(campaign.value.isHeld()).toBe(true)
      await scene.done(campaign.value.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('Held.release that is refused for good asks once a second, and stops with its session', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const leading = await scene.done(new LeaderElection(zk, PATH).campaign())
    scene.ensemble.faults.fail({ op: 'delete', code: 'NoAuth', times: Infinity })
    const since = scene.since()
    await scene.start(leading.release())
    await scene.world.advance(10_000)
    expect(since.ops().filter((op) => op === 'delete')).toHaveLength(11)
    await scene.done(zk.close())
    await scene.world.advance(1_000)
    expect(scene.timers).toBe(0)
  })
})
