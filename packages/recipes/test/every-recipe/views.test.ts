// Recipes on views of a client, which have its session; and what a detach finds of them.
import { expect, test } from 'vitest'
import { LeaderElection, Lock, SharedLock } from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

test('Lock and SharedLock are held on, on a client and on views of it at the same time', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  for (const path of ['/app', '/other']) scene.ensemble.nodes.create(path)
  const held = [
    await scene.done(new Lock(zk, '/locks/one').acquire()),
    await scene.done(new Lock(zk.withChroot('/app'), '/locks/one').acquire()),
    await scene.done(new SharedLock(zk.withChroot('/other'), '/locks/two').read.acquire()),
  ]
  await scene.world.advance(60_000)
  expect(held.map((each) => [each.isHeld(), each.signal.reason])).toEqual(held.map(() => [true, undefined]))
})

test('LeaderElection on a view is held on where a lock on the client was released before', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/app')
  await scene.done(new Lock(zk, '/locks/one').run(() => {}))
  const leadership = await scene.done(new LeaderElection(zk.withChroot('/app'), '/leader').campaign())
  await scene.world.advance(60_000)
  expect([leadership.isHeld(), leadership.signal.reason]).toEqual([true, undefined])
})

test('Held on a view knows that its node is gone, though one of the same name is elsewhere', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/app')
  await scene.done(new Lock(zk, '/l').run(() => {}))
  const held = await scene.done(new Lock(zk.withChroot('/app'), '/l').acquire())
  scene.ensemble.nodes.create(held.path)
  scene.ensemble.nodes.delete(`/app${held.path}`)
  await scene.world.advance(60_000)
  expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
})

test('Held.release goes before a detach that is called behind it', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const held = await scene.done(new Lock(zk, '/l').acquire())
  void held.release()
  await scene.done(zk.detach())
  expect(scene.ensemble.nodes.ephemerals()).toEqual([])
})
