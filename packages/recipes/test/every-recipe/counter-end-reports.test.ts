// What is reported about contenders that queue where the counter is used up, and about others that may be there.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, LeaderElection, Lock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { countedTo, LAST, paths } from '../support/counters.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, type Scene } from '../support/scene.ts'
import { holders, rises, turns } from '../support/turns.ts'

const PATH = '/locks/report'
const uuid = '64a1d9f2-3c07-4f0e-9d43-0b1a7c55e2f8'

/** Numbers this near to the end are reported. */
const MARGIN = 1_000_000

const overflows = ['stick', 'wrap'] as const

async function locks(scene: Scene, count: number): Promise<Outcome<Held>[]> {
  const asked: Outcome<Held>[] = []
  for (const zk of await scene.clients(count)) asked.push(await scene.start(new Lock(zk, PATH).acquire()))
  return asked
}

describe('Contenders at the end of the counter', () => {
  test.each(overflows)(
    'Lock.contenders are in the order of creation where the counter comes to %s (L20, L22)',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
      await locks(scene, 8)
      const contenders = await scene.done(new Lock(await scene.client(), PATH).contenders())
      expect(contenders.map(({ path, position }) => [path, position])).toEqual(
        paths(scene, PATH).map((path, position) => [path, position]),
      )
    },
  )

  test.each(overflows)(
    'Lock.acquire calls onQueued with all ahead in the order of creation where the counter comes to %s',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
      await locks(scene, 6)
      const created = paths(scene, PATH)
      const places: unknown[] = []
      outcome(new Lock(await scene.client(), PATH).acquire({ onQueued: (place) => places.push(place) }))
      await scene.world.settle()
      expect(places).toEqual([{ position: 6, ahead: created }])
    },
  )

  test('Lock reports once that its counter is used up, and goes on (L23)', async () => {
    const notified: unknown[] = []
    const listener = (message: unknown) => void notified.push(message)
    subscribe('zk:exhausted', listener)
    try {
      const scene = countedTo(PATH, LAST - MARGIN - 1)
      const lock = new Lock(await scene.client(), PATH)
      const take = async () => {
        const held = await scene.done(lock.acquire())
        await scene.done(held.release())
      }
      for (const sequence of [LAST - MARGIN - 1, LAST - MARGIN]) {
        await take()
        expect(notified, `at ${sequence}`).toEqual([])
      }
      for (let turn = 0; turn < 3; turn++) await take()
      expect(notified).toEqual([{ client: 'zk1:2181', path: PATH, kind: 'lock', sequence: LAST - MARGIN + 1 }])
    } finally {
      unsubscribe('zk:exhausted', listener)
    }
  })

  test('SharedLock reports once, whether readers or writers find out (L23)', async () => {
    const notified: unknown[] = []
    const listener = (message: unknown) => void notified.push(message)
    subscribe('zk:exhausted', listener)
    try {
      const scene = countedTo(PATH, LAST)
      const shared = new SharedLock(await scene.client(), PATH)
      await scene.done(shared.write.run(() => {}))
      await scene.done(shared.read.run(() => {}))
      expect(notified).toEqual([{ client: 'zk1:2181', path: PATH, kind: 'write', sequence: LAST }])
    } finally {
      unsubscribe('zk:exhausted', listener)
    }
  })

  test('Lock.tryAcquire is undefined behind a holder, and granted when there is none (L20)', async () => {
    const scene = countedTo(PATH, LAST)
    const [first] = await locks(scene, 1)
    const lock = new Lock(await scene.client(), PATH)
    expect(await scene.done(lock.tryAcquire())).toBeUndefined()
    await scene.done(first!.value.release())
    expect((await scene.done(lock.tryAcquire()))?.isHeld()).toBe(true)
  })

  test.each(overflows)(
    'Lock.acquire is handed over at the same cost as ever where the counter comes to %s',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
      const asked = await locks(scene, 10)
      const since = scene.since()
      await scene.done(holders(asked)[0]!.release())
      expect(since.ops()).toEqual(['delete', 'multi'])
      expect(since.notified).toHaveLength(1)
    },
  )

  test.each(overflows)(
    'Lock.acquire goes on when contenders leave while it reads when they were created (%s)',
    async (sequenceOverflow) => {
      // Before each answer one after the other is gone.
      for (let gone = 0; gone < 4; gone++) {
        const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
        const asked = await locks(scene, 4)
        const zk = await scene.client()
        const victim = paths(scene, PATH)[gone]!
        scene.ensemble.faults.delayRequest({ op: 'exists', session: zk.session.id, ms: 10, times: Infinity })
        asked.push(outcome(new Lock(zk, PATH).acquire()))
        await scene.world.settle()
        scene.ensemble.nodes.delete(victim)
        await scene.world.advance(1_000)
        // A holder whose node was deleted is notified. A waiter goes to the end of the queue.
        const granted = await turns(scene, asked)
        expect(granted).toHaveLength(gone === 0 ? 4 : 5)
        expect(rises(granted.map(({ fencingToken }) => fencingToken))).toBe(true)
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )
})

describe('LeaderElection at the end of the counter', () => {
  test.each(overflows)(
    'LeaderElection.leader, candidates and leaders follow creation where the counter comes to %s (L20, L22, E13)',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
      const campaigns: Outcome<Held>[] = []
      for (const [index, zk] of (await scene.clients(6)).entries()) {
        campaigns.push(await scene.start(new LeaderElection(zk, PATH, { label: `host-${index}` }).campaign()))
      }
      const observer = new LeaderElection(await scene.client(), PATH)
      const stopping = new AbortController()
      const seen: (string | undefined)[] = []
      const watching = outcome(
        (async () => {
          for await (const leader of observer.watchLeader({ signal: stopping.signal })) seen.push(leader?.label)
        })(),
      )
      await scene.world.settle()
      const hosts = ['host-0', 'host-1', 'host-2', 'host-3', 'host-4', 'host-5']
      for (const [index, campaign] of campaigns.entries()) {
        expect((await scene.done(observer.leader()))?.label).toBe(hosts[index])
        expect((await scene.done(observer.contenders())).map(({ label }) => label)).toEqual(hosts.slice(index))
        await scene.done(campaign.value.release())
      }
      expect(seen).toEqual([...hosts, undefined])
      stopping.abort()
      await scene.world.settle()
      expect(watching.status).toBe('fulfilled')
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})

describe('Foreign children at the end of the counter', () => {
  test('Lock, beside unprotected contenders that get NodeExists, goes on (L23)', async () => {
    const scene = countedTo(PATH, LAST)
    const other = await scene.client()
    const unprotected = () => other.create(`${PATH}/lock-`, '', { mode: 'EPHEMERAL_SEQUENTIAL' })
    await scene.done(unprotected())
    expect(KeeperError.is((await scene.start(unprotected())).error, 'NodeExists')).toBe(true)
    const asked = await locks(scene, 3)
    const created = paths(scene, PATH).filter((path) => path.includes('/_c_'))
    expect((await turns(scene, asked)).map(({ path }) => path)).toEqual(created)
  })

  test('Lock ignores what is no rival, with the same number or none (L24)', async () => {
    const scene = countedTo(PATH, LAST - 1)
    for (const name of [
      'readme',
      `${uuid.replaceAll('-', '')}__lock__2147483647`,
      `_c_${uuid}-latch-2147483647`,
      `_c_${uuid}-__WRIT__2147483647`,
    ]) {
      scene.ensemble.nodes.create(`${PATH}/${name}`)
    }
    const asked = await locks(scene, 4)
    const created = paths(scene, PATH).slice(-4)
    expect((await turns(scene, asked)).map(({ path }) => path)).toEqual(created)
  })

  test('Lock waits behind another program with the same number that came before, not behind one that came later (L24)', async () => {
    const scene = countedTo(PATH, LAST)
    const other: ZooKeeper = await scene.client()
    const foreign = (digit: string) => `${PATH}/_c_${uuid.replace('64', digit)}-lock-2147483647`
    await scene.done(other.create(foreign('00'), '', { mode: 'EPHEMERAL' }))
    const [ours] = await locks(scene, 1)
    await scene.done(other.create(foreign('11'), '', { mode: 'EPHEMERAL' }))
    expect(ours!.status).toBe('pending')
    scene.ensemble.nodes.delete(foreign('00'))
    await scene.world.settle()
    expect(ours!.value.isHeld()).toBe(true)
  })
})

describe('SharedLock at the end of the counter', () => {
  test.each(overflows)(
    'SharedLock grants readers together and writers alone, in the order of creation, where the counter comes to %s (R13)',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 2, { sequenceOverflow })
      const kinds = ['read', 'write', 'read', 'read', 'write', 'write', 'read', 'write', 'read', 'read'] as const
      const asked: Outcome<Held>[] = []
      for (const [index, zk] of (await scene.clients(kinds.length)).entries()) {
        asked.push(await scene.start(new SharedLock(zk, PATH)[kinds[index]!].acquire()))
      }
      const notified = await scene.done(new SharedLock(await scene.client(), PATH).contenders())
      expect(notified.map(({ kind }) => kind)).toEqual(kinds)
      const grants: number[][] = []
      for (let holding = holders(asked); holding.length > 0; holding = holders(asked)) {
        grants.push(
          holding.map((held) =>
            asked.findIndex(({ status }, index) => status === 'fulfilled' && asked[index]!.value === held),
          ),
        )
        for (const held of holding) await scene.done(held.release())
      }
      expect(grants).toEqual([[0], [1], [2, 3], [4], [5], [6], [7], [8, 9]])
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test.each(overflows)(
    'SharedLock never has a writer with anyone of fifty simultaneous contenders, where the counter comes to %s (R13)',
    async (sequenceOverflow) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow, members: 3 })
      const clients = await scene.clients(10)
      scene.memberLatency = 1
      const asked = Array.from({ length: 50 }, (_, index) =>
        outcome(new SharedLock(clients[index % 10]!, PATH)[index % 3 === 0 ? 'write' : 'read'].acquire()),
      )
      await scene.world.advance(1_000)
      const created = paths(scene, PATH)
      const granted: string[] = []
      for (let holding = holders(asked); holding.length > 0; holding = holders(asked)) {
        const held = holding.map(({ path }) => path)
        if (held.some((path) => path.includes('__WRIT__'))) expect(held).toHaveLength(1)
        granted.push(...held.toSorted((one, other) => created.indexOf(one) - created.indexOf(other)))
        for (const each of holding) void each.release()
        await scene.world.advance(20)
      }
      expect(granted).toEqual(created)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})
