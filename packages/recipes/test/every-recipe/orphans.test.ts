// Paths that grant CREATE and not DELETE: which node stays, where that is reported, and what helps.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { KeeperError, Perms } from '@zk/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Lock, WaitTimeoutError, type RecipeMessages, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { PATH, queued } from '../support/every-recipe.ts'
import { Scene } from '../support/scene.ts'

const anyone = { scheme: 'world', id: 'anyone' }
const noDelete = [{ perms: Perms.ALL - Perms.DELETE, id: anyone }]
const all = [{ perms: Perms.ALL, id: anyone }]

type Orphan = RecipeMessages['zk:orphan']

/** A path that grants all but DELETE, and the messages of the channel. */
function withoutDelete(): { readonly scene: Scene; readonly reported: Orphan[] } {
  const scene = new Scene()
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH, { acl: noDelete })
  const reported: Orphan[] = []
  const listener = (message: unknown) => void reported.push(message as Orphan)
  subscribe('zk:orphan', listener)
  onTestFinished(() => void unsubscribe('zk:orphan', listener))
  return { scene, reported }
}

const refused = (node: string) => ({
  name: 'KeeperError',
  code: 'NoAuth',
  op: 'delete',
  path: node,
  message: expect.stringContaining(`grant DELETE on ${PATH}; until then the node stays`) as string,
  cause: expect.objectContaining({ code: 'NoAuth' }) as KeeperError,
})

describe('A path that does not grant DELETE', () => {
  test('Lock that is lost there reports its node, and no rejection is left unhandled', async () => {
    const { scene, reported } = withoutDelete()
    const zk = await scene.client({ sessionTimeout: 6_000 })
    const held = await scene.done(new Lock(zk, PATH).acquire())
    // The lease is over at once; the session lives on. An unhandled rejection fails the whole file.
    scene.world.setWallClock(60_000)
    expect(held.isHeld()).toBe(false)
    await scene.world.advance(100)
    expect(reported).toMatchObject([{ path: PATH, kind: 'lock', node: held.path, error: refused(held.path) }])
  })

  test.each(queued)(
    '$name.release rejects with NoAuth, which says which node stays, and which right to grant',
    async ({ make, contenders: { kind } }) => {
      const { scene, reported } = withoutDelete()
      const zk = await scene.client()
      const held = await scene.done(make(zk).acquire())
      const releasing = await scene.start(held.release())
      expect(held.isHeld()).toBe(false)
      expect(KeeperError.is(releasing.error, 'NoAuth')).toBe(true)
      expect(releasing.error).toMatchObject(refused(held.path))
      expect(reported).toEqual([{ client: 'zk1:2181', path: PATH, kind, node: held.path, error: releasing.error }])
      expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
    },
  )

  test.each(['abort', 'timeout'] as const)(
    'Lock.acquire that ends by %s has the node that stays reported on zk:orphan',
    async (how) => {
      const { scene, reported } = withoutDelete()
      const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const held = await scene.done(new Lock(holder, PATH).acquire())
      const abort = new AbortController()
      const acquiring = await scene.start(new Lock(zk, PATH).acquire({ signal: abort.signal, timeout: 1_000 }))
      const [node] = scene.ensemble.nodes.ephemerals().filter((path) => path !== held.path)
      if (how === 'abort') abort.abort()
      else await scene.world.advance(1_000)
      await scene.world.settle()
      if (how === 'abort') expect(acquiring.error).toBe(abort.signal.reason)
      else expect(WaitTimeoutError.is(acquiring.error)).toBe(true)
      expect(reported).toMatchObject([{ path: PATH, kind: 'lock', node, error: refused(node!) }])
    },
  )

  test('Held.release that is refused reports its node also where it cannot learn whether the node is there', async () => {
    const { scene, reported } = withoutDelete()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const { faults } = scene.ensemble
    faults.fail({ op: 'exists', code: 'SystemError', times: Infinity })
    const releasing = await scene.start(held.release())
    expect(releasing.error).toMatchObject(refused(held.path))
    expect(reported).toMatchObject([{ node: held.path }])
    await scene.done(zk.setACL(PATH, all))
    await scene.world.advance(1_000)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([])
  })

  test('Lock.run whose body has succeeded rejects with the NoAuth of its release', async () => {
    const { scene, reported } = withoutDelete()
    const running = await scene.start(new Lock(await scene.client(), PATH).run(() => 'done'))
    expect(running.error).toMatchObject(refused(reported[0]!.node))
  })

  test('SharedLock.write.downgrade rejects with NoAuth, and the one of its two nodes that exists is reported', async () => {
    const { scene, reported } = withoutDelete()
    const writing = await scene.done(new SharedLock(await scene.client(), PATH).write.acquire())
    const reading = await scene.start(writing.downgrade())
    expect(reading.error).toMatchObject({ code: 'NoAuth', index: 1 })
    expect(reported).toMatchObject([{ kind: 'write', node: writing.path, error: refused(writing.path) }])
    expect(scene.ensemble.nodes.ephemerals()).toEqual([writing.path])
  })

  test('Held.release that was refused deletes its node once DELETE is granted, and has reported it once', async () => {
    const { scene, reported } = withoutDelete()
    const [zk, next] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const waiting = await scene.start(new Lock(next, PATH).acquire())
    await scene.start(held.release())
    await scene.world.advance(5_000)
    expect(waiting.status).toBe('pending')
    await scene.done(next.setACL(PATH, all))
    await scene.world.advance(1_000)
    expect(waiting.value.isHeld()).toBe(true)
    expect(reported).toHaveLength(1)
  })

  test('Held.release that was refused stops when its node was deleted otherwise, though servers answer NoAuth still', async () => {
    const { scene, reported } = withoutDelete()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.start(held.release())
    scene.ensemble.nodes.delete(held.path)
    await scene.world.advance(1_000)
    const since = scene.since()
    await scene.world.advance(10_000)
    expect(since.ops()).toEqual([])
    expect(reported).toHaveLength(1)
  })

  test('Held.release resolves when its node was deleted before, though servers answer NoAuth', async () => {
    const { scene, reported } = withoutDelete()
    const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
    scene.ensemble.nodes.delete(held.path)
    await scene.done(held.release())
    expect(reported).toEqual([])
  })
})
