// Contenders that have left are garbage, however they left.
import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { LeaderElection, Lock, MultiLock, Semaphore, SharedLock, type ZooKeeper } from '../src/index.ts'
import { Line } from '../src/queue/line.ts'
import { Scene } from './support/scene.ts'

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
  const before = queryObjects(Line, { format: 'count' })
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    // Two at once: one waits for the other.
    await scene.done(Promise.all([use(zk), use(zk)]))
  }
  // What the last call has made may still be referred to.
  expect(queryObjects(Line, { format: 'count' }) - before).toBeLessThan(CYCLES)
})
