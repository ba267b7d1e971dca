// Lists of any length are read a window at a time.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { callEach, WINDOW } from '../../src/kernel/call-each.ts'
import { Group, Lock, MultiLock, Semaphore, ServiceDiscovery, type ZooKeeper } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const MANY = 1_000

test('callEach makes the calls in order, a window at a time, and gives the results in order', async () => {
  const begun: number[] = []
  let underWay = 0
  let most = 0
  const calling = callEach(
    Array.from({ length: MANY }, (_, index) => index),
    async (index) => {
      begun.push(index)
      most = Math.max(most, ++underWay)
      for (let turns = index % 7; turns >= 0; turns--) await Promise.resolve()
      underWay--
      return -index
    },
  )
  expect(begun).toHaveLength(WINDOW)
  expect(await calling).toEqual(begun.map((index) => -index))
  expect([begun.every((each, index) => each === index), most]).toEqual([true, WINDOW])
})

test('callEach rejects with the first error, and begins no call after it', async () => {
  const begun: number[] = []
  const failing = callEach(
    Array.from({ length: MANY }, (_, index) => index),
    async (index) => {
      begun.push(index)
      await Promise.resolve()
      if (index === 1) throw new Error('refused')
    },
  )
  await expect(failing).rejects.toThrow('refused')
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun.length).toBeLessThanOrEqual(WINDOW + 1)
})

const contender = (index: number) => `_c_${randomUUID()}-lock-${String(index).padStart(10, '0')}`

const readers: Record<
  string,
  { parent: string; name: (index: number) => string; read: (zk: ZooKeeper) => Promise<unknown> }
> = {
  'Group.members': { parent: '/a', name: String, read: (zk) => new Group(zk, '/a').members() },
  'Group.watchMembers': { parent: '/a', name: String, read: (zk) => new Group(zk, '/a').watchMembers().next() },
  'ServiceDiscovery.instances': {
    parent: '/a/s',
    name: String,
    read: (zk) => new ServiceDiscovery(zk, '/a').instances('s'),
  },
  'Lock.contenders': { parent: '/a', name: contender, read: (zk) => new Lock(zk, '/a').contenders() },
  'Lock.acquire after the end of the counter': {
    parent: '/a',
    name: () => contender(2 ** 31 - 1),
    read: (zk) => new Lock(zk, '/a').acquire({ timeout: 1_000 }),
  },
  'MultiLock.contenders': { parent: '/a', name: contender, read: (zk) => new MultiLock(zk, ['/a', '/b']).contenders() },
  'Semaphore.contenders': { parent: '/a/locks', name: contender, read: (zk) => new Semaphore(zk, '/a').contenders() },
  'Semaphore.holders': {
    parent: '/a/leases',
    name: (index) => `_c_${randomUUID()}-lease-${index}`,
    read: (zk) => new Semaphore(zk, '/a').holders(),
  },
}

test.each(Object.entries(readers))('%s has only a window of reads under way', async (_, { parent, name, read }) => {
  const scene = new Scene()
  const zk = await scene.client()
  for (const path of ['/a', parent]) if (scene.ensemble.nodes.get(path) === undefined) scene.ensemble.nodes.create(path)
  for (let index = 0; index < MANY; index++) scene.ensemble.nodes.create(`${parent}/${name(index)}`, { data: '1234' })
  let most = 0
  const reading = outcome(read(zk))
  scene.network.latency = () => 1
  for (let ms = 0; ms < 100 && reading.status === 'pending'; ms++) {
    await scene.world.advance(1)
    const { inFlight, waiting } = zk.stats().flow
    most = Math.max(most, inFlight + waiting)
  }
  expect(most).toBeGreaterThan(WINDOW / 2)
  expect(most).toBeLessThanOrEqual(WINDOW + 8)
})
