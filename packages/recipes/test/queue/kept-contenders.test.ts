// Contenders that have left are garbage, however they left. Those that wait keep no list.
import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { LeaderElection, Lock, Semaphore, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { ContenderList } from '../../src/queue/contender-list.ts'
import { QueuePosition } from '../../src/queue/queue-position.ts'
import { acquirables, holdings, PATH } from '../support/every-recipe.ts'
import { Scene } from '../support/scene.ts'

const CYCLES = 10

type Use = [string, (zk: ZooKeeper) => Promise<unknown>]

const uses: readonly Use[] = [
  ...acquirables.map(({ name, make }): Use => [name, (zk) => make(zk).run(() => {})]),
  [
    'SharedLock.write, downgraded',
    async (zk) => {
      const held = await new SharedLock(zk, PATH).write.acquire()
      await (await held.downgrade()).release()
    },
  ],
  ['LeaderElection', (zk) => new LeaderElection(zk, PATH).campaign().then((held) => held.release())],
  ['Semaphore, two permits', (zk) => new Semaphore(zk, PATH, { permits: 2 }).run(() => {}, { count: 2 })],
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
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    // Two at once: one waits for the other.
    await scene.done(Promise.all([use(zk), use(zk)]))
  }
  // What the last call has made may still be referred to.
  expect(queryObjects(QueuePosition, { format: 'count' })).toBeLessThan(CYCLES)
})

const WAITERS = 20

/** Slow: collects garbage, and goes through the whole heap. */
const lists = () => queryObjects(ContenderList, { format: 'count' })

/** A list is as long as the queue: if each waiter kept one, the memory of a queue would grow with the square of its length. */
test.each(holdings)('$name keeps no list while it waits', async ({ make, block }) => {
  const scene = new Scene()
  const zk = await scene.client()
  await scene.done(block(zk))
  const aborting = Array.from({ length: WAITERS }, () => new AbortController())
  for (const { signal } of aborting) await scene.start(make(zk).acquire({ signal }))
  expect(lists()).toBe(0)
  // Those behind a contender that leaves read another list, and wait again.
  for (const [index, each] of aborting.entries()) if (index % 2 === 0) each.abort()
  await scene.world.settle()
  expect(lists()).toBe(0)
})

test.each(holdings)('$name keeps one list of a queue for all waiters with a timeout', async ({ make, block }) => {
  const scene = new Scene()
  const zk = await scene.client()
  await scene.done(block(zk))
  const aborting = new AbortController()
  const options = { signal: aborting.signal, timeout: 60_000 }
  for (let i = 0; i < WAITERS; i++) await scene.start(make(zk).acquire(options))
  // A MultiLock has two queues.
  expect([1, 2]).toContain(lists())
  aborting.abort()
  await scene.world.settle()
  expect(lists()).toBe(0)
})
