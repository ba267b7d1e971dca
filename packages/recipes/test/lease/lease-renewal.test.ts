// One round of confirmation: what it sends, what it proves, and what it does about servers that do not play along.
import { Perms } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { type Held, Lock } from '../../src/index.ts'
import { LeaseRenewal } from '../../src/lease/lease-renewal.ts'
import { fail, type Fault, garbage, ignore, loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const T = 6_000
const WORLD = { scheme: 'world', id: 'anyone' }

async function holding(count: number, scene = new Scene({ members: 3 })) {
  const zk = await scene.client({ sessionTimeout: T })
  const all: Held[] = []
  for (let each = 0; each < count; each++) all.push(await scene.done(new Lock(zk, `/locks/${each}`).acquire()))
  return { scene, zk, all }
}

const rounds = ['sync', 'multi']

describe('LeaseRenewal', () => {
  test('LeaseRenewal is one sync and behind its answer one multi, for all that a session holds (E15)', async () => {
    const { scene, all } = await holding(10)
    await scene.world.advance(100)
    scene.network.latency = () => 10
    const since = scene.since()
    await scene.world.advance(10 * T)
    const asked = since.asked.filter(({ op }) => rounds.includes(op ?? ''))
    expect(since.asked).toEqual(asked)
    expect(asked.map(({ op }) => op)).toEqual(asked.map((_, index) => rounds[index % 2]))
    // 10 session timeouts, a round about every third of one.
    expect(asked.length / 2).toBeGreaterThanOrEqual(28)
    expect(asked.length / 2).toBeLessThanOrEqual(30)
    for (const [index, { at }] of asked.entries()) {
      if (index % 2 === 1) expect(at - asked[index - 1]!.at).toBe(10)
    }
    expect(all.every((held) => held.isHeld())).toBe(true)
  })

  test('LeaseRenewal finds a node that an operator deleted before it was watched (L15)', async () => {
    const { scene, all } = await holding(3)
    // Nobody can watch.
    scene.ensemble.faults.fail({ op: 'getData', code: 'ThrottledOp', times: Infinity })
    scene.ensemble.nodes.delete(all[1]!.path)
    await scene.world.advance(T / 3 + 100)
    expect(all[1]!.signal.reason).toMatchObject({ code: 'NodeGone', cause: { code: 'NoNode' } })
    expect([all[0]!.isHeld(), all[2]!.isHeld()]).toEqual([true, true])
    // The others were looked for again in the same round.
    expect(all[0]!.leaseRemaining()).toBeGreaterThan(T / 2)
  })

  test('LeaseRenewal finds several nodes that an operator deleted before they were watched', async () => {
    const { scene, all } = await holding(4)
    scene.ensemble.faults.fail({ op: 'getData', code: 'ThrottledOp', times: Infinity })
    for (const held of all.slice(1)) scene.ensemble.nodes.delete(held.path)
    const since = scene.since()
    await scene.world.advance(T / 3 + 100)
    for (const held of all.slice(1)) expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(all[0]!.leaseRemaining()).toBeGreaterThan(T / 2)
    // Each check finds one of them, and is sent again without it.
    expect(since.ops().filter((op) => op === 'multi')).toHaveLength(4)
  })

  test('LeaseRenewal that is refused for good ends one hold with its cause, and others live on', async () => {
    const { scene, zk, all } = await holding(2)
    const acl = [{ perms: Perms.ALL & ~Perms.READ, id: WORLD }]
    scene.ensemble.nodes.create('/locks/blind')
    const blind = await scene.done(new Lock(zk, '/locks/blind', { acl }).acquire())
    await scene.world.advance(T / 3 + 100)
    expect(blind.signal.reason).toMatchObject({ code: 'Refused', cause: { code: 'NoAuth' } })
    await scene.world.advance(5 * T)
    expect(all.map((held) => held.isHeld())).toEqual([true, true])
    expect(scene.ensemble.nodes.ephemerals()).toEqual(all.map(({ path }) => path))
  })

  test('Lock.acquire that had to wait rejects where the check is refused for good (L26)', async () => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client({ sessionTimeout: T })
    const holder = await scene.done(new Lock(zk, '/locks/blind').acquire())
    const acl = [{ perms: Perms.ALL & ~Perms.READ, id: WORLD }]
    const acquiring = await scene.start(new Lock(zk, '/locks/blind', { acl }).acquire())
    await scene.done(holder.release())
    expect(acquiring.error).toMatchObject({ code: 'NoAuth' })
    expect(scene.ensemble.nodes.ephemerals()).toEqual([])
  })

  test('LeaseRenewal of a session that was moved costs the connection, and no hold', async () => {
    const scene = new Scene({ members: 3 })
    const { zk, all } = await holding(2, scene)
    await scene.world.advance(100)
    const home = scene.ensemble.members.find(({ connections }) => connections.length > 0)!
    scene.ensemble.sessions.move(
      zk.session.id,
      scene.ensemble.members.find((member) => member !== home)!,
    )
    await scene.world.advance(5 * T)
    expect(all.map((held) => held.isHeld())).toEqual([true, true])
  })

  test.each<[string, Fault]>([
    ['lost before it is done', loseRequest],
    ['done and not answered', loseReply],
    ['answered with garbage', garbage],
    ['throttled', fail('ThrottledOp')],
    ['out of time', fail('OperationTimeout')],
  ])('LeaseRenewal whose sync or check is %s is repeated, and the hold outlasts it', async (_, fault) => {
    for (const op of ['sync', 'multi'] as const) {
      const { scene, all } = await holding(2)
      await scene.world.advance(100)
      fault(scene.ensemble.faults, { op })
      await scene.world.advance(3 * T)
      expect(all.map((held) => held.isHeld())).toEqual([true, true])
      expect(all[0]!.leaseRemaining()).toBeGreaterThan(T / 4)
    }
  })

  test('LeaseRenewal of many holds takes several transactions, far below the longest request', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const parent = `/${'long'.repeat(250)}/locks`
    scene.ensemble.nodes.create(parent)
    const acquiring = Array.from({ length: 240 }, (_, index) => new Lock(zk, `${parent}/${index}`).acquire())
    const all = await scene.done(Promise.all(acquiring))
    const since = scene.since()
    await scene.world.advance(T / 3 + 100)
    const checks = since.ops().filter((op) => op === 'multi').length
    // Each check takes its path and 17 bytes, and the frame takes 17 more.
    const inOne = Math.floor((32 * 1024 - 17) / (all.at(-1)!.path.length + 17))
    expect(checks).toBe(Math.ceil(all.length / inOne))
    expect(checks).toBeGreaterThanOrEqual(6)
    expect(all.filter((held) => !held.isHeld())).toEqual([])
    expect(Math.min(...all.map((held) => held.leaseRemaining()))).toBeGreaterThan(T / 2)
  }, 30_000)

  test('LeaseRenewal begins anew on another connection when the first is lost between sync and check', async () => {
    const { scene, zk, all } = await holding(1)
    await scene.world.advance(100)
    scene.network.latency = () => 10
    const since = scene.since()
    while (since.ops().at(-1) !== 'multi') await scene.world.advance(1)
    scene.cut(zk)
    await scene.world.advance(5_000)
    const asked = since.asked.map(({ op }) => op).filter((op) => rounds.includes(op ?? ''))
    // After the check that was not answered another sync, and behind it another check.
    const second = asked.indexOf('multi') + 1
    expect(asked[second]).toBe('sync')
    expect(asked.indexOf('multi', second)).toBeGreaterThan(second)
    expect(all[0]!.isHeld()).toBe(true)
    expect(all[0]!.leaseRemaining()).toBeGreaterThan(T / 4)
  })

  test.each(['sync', 'multi'] as const)(
    'LeaseRenewal whose %s a server keeps without an answer, on a connection that stands, comes too late',
    async (op) => {
      const { scene, all } = await holding(1)
      await scene.world.advance(100)
      ignore(scene.ensemble.faults, { op })
      await scene.world.advance(T)
      expect(all[0]!.signal.reason).toMatchObject({ code: 'LeaseLost' })
      await scene.world.advance(3 * T)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})

describe('LeaseRenewal.prove of more than one transaction takes', () => {
  const parent = `/${'long'.repeat(250)}`
  const D = T / 3

  async function proving(count: number, maxRequestSize?: number) {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T, advanced: { maxRequestSize } })
    const nodes = Array.from({ length: count }, (_, index) => ({ paths: [`${parent}/${index}`] }))
    for (const { paths } of nodes) scene.ensemble.nodes.create(paths[0]!)
    return { scene, nodes, renewal: new LeaseRenewal(zk, zk.session) }
  }

  test.each([1, 2, 3, 4])(
    'LeaseRenewal.prove proves nothing by a round of which transaction %d of 4 was not executed',
    async (nth) => {
      const { scene, nodes, renewal } = await proving(120)
      scene.ensemble.faults.fail({ op: 'multi', nth, code: 'ThrottledOp' })
      const since = scene.since()
      const proof = outcome(renewal.prove(() => nodes, D))
      await scene.world.advance(T)
      expect(proof.value).toMatchObject({ found: nodes, refused: [] })
      // All of it again, behind another sync.
      const ops = since.ops()
      expect(ops.filter((op) => op === 'sync')).toHaveLength(2)
      expect(ops.slice(ops.lastIndexOf('sync') + 1)).toEqual(['multi', 'multi', 'multi', 'multi'])
    },
  )

  test.each([1, 2, 3, 4, 5])('LeaseRenewal.prove finds %d nodes of which a request may name one', async (count) => {
    const { scene, nodes, renewal } = await proving(count, 1_500)
    const since = scene.since()
    const proof = await scene.done(renewal.prove(() => nodes, D))
    expect(proof).toMatchObject({ found: nodes, refused: [] })
    expect(since.ops().filter((op) => op === 'multi')).toHaveLength(count)
  })
})

describe('LeaseRenewal of a client with a small maxRequestSize', () => {
  test('LeaseRenewal asks in requests that its client may send', async () => {
    const T = 6_000
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T, advanced: { maxRequestSize: 2_048 } })
    const all = await scene.done(
      Promise.all(Array.from({ length: 100 }, (_, index) => new Lock(zk, `/locks/${index}`).acquire())),
    )
    await scene.world.advance(3 * T)
    expect(all.filter((held) => !held.isHeld())).toEqual([])
  })
})

describe('LeaseRenewal of a client that lets one call wait', () => {
  test.each([1, 2])('LeaseRenewal asks for one part after the other, with maxWaiting %i', async (maxWaiting) => {
    const scene = new Scene()
    const zk = await scene.client({
      sessionTimeout: T,
      advanced: { maxRequestSize: 1_024, maxInFlight: 1, maxWaiting },
    })
    const all: Held[] = []
    for (let index = 0; index < 40; index++) all.push(await scene.done(new Lock(zk, `/locks/${index}`).acquire()))
    await scene.world.advance(5 * T)
    expect(all.filter((held) => !held.isHeld())).toEqual([])
  })
})

describe('LeaseRenewal that is answered oddly', () => {
  test.each(['SystemError', 'RuntimeInconsistency', 'DataInconsistency'] as const)(
    'LeaseRenewal is tried again after one %s, and nothing is lost',
    async (code) => {
      const scene = new Scene()
      const zk = await scene.client()
      const held = await scene.done(new Lock(zk, '/locks/report').acquire())
      const rule = scene.ensemble.faults.fail({ op: 'multi', code })
      await scene.world.advance(4 * 30_000)
      expect([rule.count, held.isHeld()]).toEqual([1, true])
    },
  )

  test.each(['sync', 'multi'] as const)(
    'LeaseRenewal whose %s an overloaded server throttles once comes in time, however short the session timeout',
    async (op) => {
      for (let seed = 1; seed <= 20; seed++) {
        const scene = new Scene({ seed })
        const zk = await scene.client({ sessionTimeout: 1_000 })
        const held = await scene.done(new Lock(zk, '/locks/report').acquire())
        await scene.world.advance(1_000 + 37 * seed)
        const rule = scene.ensemble.faults.fail({ op, code: 'ThrottledOp' })
        await scene.world.advance(5_000)
        expect([rule.count, held.isHeld()], `seed ${seed}`).toEqual([1, true])
      }
    },
  )
})
