// Callbacks of a call run in the async context of the call, though a connection serves many callers.
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { type ZooKeeper } from '../../src/index.ts'
import { holdings } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const contexts = new AsyncLocalStorage<string>()

test.each(holdings)('$call calls its listeners in the async context of the call', async ({ make, block }) => {
  const scene = new Scene()
  const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const first = await scene.done(block(other))
  const seen: (readonly [string, string | undefined])[] = []
  const note = (what: string) => () => void seen.push([what, contexts.getStore()])
  const listeners = { onQueued: note('queued'), onSuspended: note('suspended'), onResumed: note('resumed') }
  const acquiring = contexts.run('the call', () => outcome(make(zk).acquire(listeners)))
  await scene.world.settle()
  await scene.done(first.release())
  expect(acquiring.status).toBe('fulfilled')
  scene.cut(zk)
  await scene.world.advance(2_000)
  expect(seen).toEqual(['queued', 'suspended', 'resumed'].map((what) => [what, 'the call']))
})
