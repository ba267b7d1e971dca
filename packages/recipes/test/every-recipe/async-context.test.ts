// Callbacks of a call run in the async context of the call, though a connection serves many callers.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { LeaderElection, Lock, SharedLock, type Held, type ZooKeeper } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const contexts = new AsyncLocalStorage<string>()

type Listeners = Parameters<Lock['acquire']>[0]
const acquires: readonly (readonly [string, (zk: ZooKeeper, listeners: Listeners) => Promise<Held>])[] = [
  ['Lock.acquire', (zk, listeners) => new Lock(zk, PATH).acquire(listeners)],
  ['SharedLock.write.acquire', (zk, listeners) => new SharedLock(zk, PATH).write.acquire(listeners)],
  ['LeaderElection.campaign', (zk, listeners) => new LeaderElection(zk, PATH).campaign(listeners)],
]

test.each(acquires)('%s calls its listeners in the async context of the call', async (_, acquire) => {
  const scene = new Scene()
  const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const first = await scene.done(acquire(other, {}))
  const seen: (readonly [string, string | undefined])[] = []
  const note = (what: string) => () => void seen.push([what, contexts.getStore()])
  const listeners = { onQueued: note('queued'), onSuspended: note('suspended'), onResumed: note('resumed') }
  const acquiring = contexts.run('the call', () => outcome(acquire(zk, listeners)))
  await scene.world.settle()
  await scene.done(first.release())
  expect(acquiring.status).toBe('fulfilled')
  scene.cut(zk)
  await scene.world.advance(2_000)
  expect(seen).toEqual(['queued', 'suspended', 'resumed'].map((what) => [what, 'the call']))
})
