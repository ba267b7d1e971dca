// Servers that take shorter requests than the client sends: they close the connection, without an answer.
import { deleteRecursive, type ZooKeeper } from '@zk/client'
import type { HistoryEntry } from '@zk/testing'
import { describe, expect, test } from 'vitest'
import { DoubleBarrier, Group, LeaderElection, Lock, MultiLock, Semaphore, ServiceDiscovery } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const T = 6_000
const KIB = 1024
const large = 'x'.repeat(70_000)

async function start(juteMaxBuffer: number) {
  const scene = new Scene({ members: 3, juteMaxBuffer })
  const zk = await scene.client({ sessionTimeout: T })
  const held = await scene.done(new Lock(zk, '/mine').acquire())
  /** How many connections were lost by requests over the limit. */
  const losses = () => scene.ensemble.history.entries.filter(isLoss).length
  return { scene, zk, held, losses }
}

const isLoss = (entry: HistoryEntry) => entry.from === 'connection' && /over the limit/.test(entry.reason)

const calls: Record<string, (zk: ZooKeeper) => Promise<unknown>> = {
  'Lock.acquire': (zk) => new Lock(zk, '/a', { label: large }).acquire(),
  'LeaderElection.campaign': (zk) => new LeaderElection(zk, '/a', { label: large }).campaign(),
  'Semaphore.acquire': (zk) => new Semaphore(zk, '/a', { permits: 1, label: large }).acquire(),
  'MultiLock.acquire': (zk) => new MultiLock(zk, ['/a', '/b'], { label: large }).acquire(),
  'Group.join': (zk) => new Group(zk, '/a').join({ name: 'a', data: large }),
  'ServiceDiscovery.register': (zk) =>
    new ServiceDiscovery(zk, '/a').register({ name: 'a', address: 'h', port: 1, payload: { large } }),
  'DoubleBarrier.enter': (zk) => new DoubleBarrier(zk, '/a', { size: 2 }).enter({ data: large }),
}

describe('A call that is over the jute.maxbuffer of the servers', () => {
  test.each(Object.entries(calls))(
    '%s rejects within three connections, and no other lock is lost',
    async (_, call) => {
      const { scene, zk, held, losses } = await start(64 * KIB)
      const calling = outcome(call(zk))
      await scene.world.advance(T / 3)
      expect(calling.error).toMatchObject({ code: 'RequestTooLarge' })
      expect(losses()).toBe(2)
      await scene.world.advance(3 * T)
      expect(losses()).toBe(2)
      expect(held.isHeld()).toBe(true)
      await scene.done(held.release())
      await scene.done(zk.close())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('Lock.acquire rejects even if the session expires after the second loss', async () => {
    const { scene, zk, losses } = await start(64 * KIB)
    scene.network.latency = () => 5
    const calling = outcome(new Lock(zk, '/a', { label: large }).acquire())
    while (losses() < 2) await scene.world.advance(1)
    scene.refuse()
    await scene.world.advance(2 * T)
    for (const member of scene.ensemble.members) member.accept()
    await scene.world.advance(3 * T)
    expect(calling.error).toMatchObject({ code: 'RequestTooLarge' })
    expect(losses()).toBe(2)
  })

  test('Membership.update rejects, and the member keeps its data', async () => {
    const { scene, zk, held, losses } = await start(64 * KIB)
    const member = await scene.done(new Group(zk, '/a').join({ name: 'a', data: 'small' }))
    const updating = outcome(member.update(large))
    await scene.world.advance(T / 3)
    expect(updating.error).toMatchObject({ code: 'RequestTooLarge' })
    await scene.world.advance(3 * T)
    expect([losses(), member.state.name, held.isHeld()]).toEqual([2, 'present', true])
    await scene.done(member.update('other'))
    expect(String(scene.ensemble.nodes.get('/a/a')!.data)).toBe(String(new TextEncoder().encode('other')))
  })
})

describe('A client that finds out the limit of its servers', () => {
  test('ZooKeeper keeps a lock while a caller makes its data shorter by 10 % until it fits', async () => {
    const scene = new Scene({ members: 3, juteMaxBuffer: 64 * KIB })
    const zk = await scene.client({ sessionTimeout: 8_000 })
    const held = await scene.done(new Lock(zk, '/mine').acquire())
    let fits = false
    for (let size = 1_000 * KIB; !fits; size = Math.floor(size * 0.9)) {
      const writing = outcome(zk.create('/big', 'x'.repeat(size)))
      while (writing.status === 'pending') await scene.world.advance(10)
      fits = writing.status === 'fulfilled'
    }
    expect(scene.ensemble.history.entries.filter(isLoss)).toHaveLength(7)
    await scene.world.advance(3 * 8_000)
    expect(held.isHeld()).toBe(true)
  })

  test('Lock.acquire succeeds after two breaks of the network at 5 KiB, and no write is refused', async () => {
    const { scene, zk } = await start(1_024 * KIB)
    await scene.done(zk.create('/a'))
    const lost = scene.ensemble.faults.loseRequest({ op: 'create2', times: 2, connection: 'reset' })
    const acquiring = outcome(new Lock(zk, '/a', { label: 'x'.repeat(5 * KIB) }).acquire())
    await scene.world.advance(T / 3)
    expect([lost.count, acquiring.value.isHeld()]).toEqual([2, true])
    expect(await scene.done(zk.create('/b', 'x'.repeat(6 * KIB)))).toMatchObject({ path: '/b' })
  })
})

describe('Batches at servers that take only 16 KiB', () => {
  test('LeaseRenewal splits its transactions, and every hold is kept', async () => {
    const { scene, zk, losses } = await start(16 * KIB)
    const acquiring = Array.from({ length: 30 }, (_, index) => new Lock(zk, `/${'x'.repeat(1_000)}/${index}`).acquire())
    const all = await scene.done(Promise.all(acquiring))
    await scene.world.advance(10 * T)
    expect(all.filter((each) => !each.isHeld())).toEqual([])
    expect(losses()).toBeLessThanOrEqual(4)
  })

  test('deleteRecursive counts bytes, and splits its batches', async () => {
    const { scene, zk, held, losses } = await start(16 * KIB)
    const name = '漢'.repeat(250)
    for (let index = 0; index < 200; index++) scene.ensemble.nodes.create(`/tree/${name}${index}`)
    const deleting = outcome(deleteRecursive(zk, '/tree'))
    await scene.world.advance(T)
    expect(deleting.value).toBeGreaterThanOrEqual(100)
    expect([losses() <= 6, held.isHeld(), scene.children('/').includes('tree')]).toEqual([true, true, false])
  })

  test('ZooKeeper keeps 200 watches when the connection is lost', async () => {
    const { scene, zk, held } = await start(16 * KIB)
    const watches = []
    for (let index = 0; index < 200; index++) {
      scene.ensemble.nodes.create(`/tree/${'x'.repeat(200)}${index}`)
      watches.push(await scene.done(zk.getDataAndWatch(`/tree/${'x'.repeat(200)}${index}`)))
    }
    scene.cut(zk)
    await scene.world.advance(T)
    expect(zk.state.name).toBe('connected')
    scene.ensemble.nodes.setData(`/tree/${'x'.repeat(200)}7`, 'new')
    expect(await scene.done(watches[7]!.changed)).toMatchObject({ type: 'NodeDataChanged' })
    expect(held.isHeld()).toBe(true)
  })
})
