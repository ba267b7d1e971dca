// A create with parents of the client rejects with NoNode if its time is up before the nodes above exist.
import { expect, test } from 'vitest'
import { Barrier, Counter, DoubleBarrier, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const T = 4_000
const PATH = '/app/of/ours'

test.each<[string, (zk: ZooKeeper) => Promise<unknown>]>([
  ['Counter.add', (zk) => new Counter(zk, PATH).add(1n, { timeout: 60_000 })],
  ['Barrier.set', (zk) => new Barrier(zk, PATH).set({ timeout: 60_000 })],
  ['DoubleBarrier.enter', (zk) => new DoubleBarrier(zk, PATH, { size: 1 }).enter()],
  ['Semaphore.acquire', (zk) => new Semaphore(zk, PATH, { permits: 1 }).acquire()],
])('%s goes on when the process stands still for long at any moment while the path is made (N11)', async (_, call) => {
  const played = await atEveryMoment(async (moment) => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const calling = outcome(call(zk))
    let wasPending = false
    scene.world.interrupt(moment, () => {
      wasPending = calling.status === 'pending'
      scene.world.stall(1.5 * T)
    })
    await scene.world.advance(60_000)
    expect(calling.status === 'rejected' ? calling.error : calling.status).toBe('fulfilled')
    return wasPending
  })
  expect(played).toBeGreaterThan(10)
})
