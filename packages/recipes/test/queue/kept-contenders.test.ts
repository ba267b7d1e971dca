// Contenders that have left are garbage, however they left. Those that wait keep no list.
import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { LeaderElection, Lock, MultiLock, Semaphore, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { ContenderList } from '../../src/queue/contender-list.ts'
import { QueuePosition } from '../../src/queue/queue-position.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const CYCLES = 10

const uses: readonly [string, (zk: ZooKeeper) => Promise<unknown>][] = [
  ['Lock', (zk) => new Lock(zk, PATH).run(() => {})],
  ['SharedLock.read', (zk) => new SharedLock(zk, PATH).read.run(() => {})],
  ['SharedLock.write', (zk) => new SharedLock(zk, PATH).write.run(() => {})],
  [
    'SharedLock.write, downgraded',
    async (zk) => {
      const held = await new SharedLock(zk, PATH).write.acquire()
      await (await held.downgrade()).release()
    },
  ],
  ['LeaderElection', (zk) => new LeaderElection(zk, PATH).campaign().then((held) => held.release())],
  ['Semaphore', (zk) => new Semaphore(zk, PATH, { permits: 2 }).run(() => {}, { count: 2 })],
  ['MultiLock', (zk) => new MultiLock(zk, [PATH, `${PATH}-too`]).run(() => {})],
  ['Lock.tryAcquire', async (zk) => await (await new Lock(zk, PATH).tryAcquire())?.release()],
  [
    'Lock that is aborted',
    async (zk) => {
      const aborting = new AbortController()
      const acquiring = new Lock(zk, PATH).acquire({ signal: aborting.signal })
      aborting.abort()
      await acquiring.catch(() => {})
    },
  ],
]

test.each(uses)('%s keeps nothing of a contender that has left', async (_, use) => {
  const scene = new Scene()
  const zk = await scene.client()
  const before = queryObjects(QueuePosition, { format: 'count' })
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    // Two at once: one waits for the other.
    await scene.done(Promise.all([use(zk), use(zk)]))
  }
  // What the last call has made may still be referred to.
  expect(queryObjects(QueuePosition, { format: 'count' }) - before).toBeLessThan(CYCLES)
})

const WAITERS = 20

type Acquire = (zk: ZooKeeper, signal?: AbortSignal) => Promise<unknown>

const acquireLock: Acquire = (zk, signal) => new Lock(zk, PATH).acquire({ signal })
const acquireToRead: Acquire = (zk, signal) => new SharedLock(zk, PATH).read.acquire({ signal })
const acquireToWrite: Acquire = (zk, signal) => new SharedLock(zk, PATH).write.acquire({ signal })
const acquirePermit: Acquire = (zk, signal) => new Semaphore(zk, PATH, { permits: 1 }).acquire({ signal })
const campaign: Acquire = (zk, signal) => new LeaderElection(zk, PATH).campaign({ signal })
const acquireAll: Acquire = (zk, signal) => new MultiLock(zk, [PATH, `${PATH}-too`]).acquire({ signal })

/** A list is as long as the queue: if each waiter kept one, the memory of a queue would grow with the square of its length. */
test.each([
  ['Lock', acquireLock, acquireLock],
  ['SharedLock.read', acquireToRead, acquireToWrite],
  ['SharedLock.write', acquireToWrite, acquireToWrite],
  ['Semaphore', acquirePermit, acquirePermit],
  ['LeaderElection', campaign, campaign],
  ['MultiLock', acquireAll, acquireAll],
])('%s keeps no list while it waits', async (_, acquire, acquireFirst) => {
  const scene = new Scene()
  const zk = await scene.client()
  await scene.done(acquireFirst(zk))
  const lists = () => queryObjects(ContenderList, { format: 'count' })
  const before = lists()
  const aborting = Array.from({ length: WAITERS }, () => new AbortController())
  for (const { signal } of aborting) await scene.start(acquire(zk, signal))
  expect(lists() - before).toBe(0)
  // Those behind a contender that leaves read another list, and wait again.
  for (const [index, each] of aborting.entries()) if (index % 2 === 0) each.abort()
  await scene.world.settle()
  expect(lists() - before).toBe(0)
})
