// Promise 6 for holders: a release is repeated until it is confirmed or the session is over.
import { describe, expect, test } from 'vitest'
import { KeeperError, Lock, type ZooKeeper } from '../../src/index.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { loseReply, loseRequest } from '../support/faults.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const RECONNECTED = 5_000

describe('Held.release', () => {
  test.each([
    ['loseRequest', loseRequest],
    ['loseReply', loseReply],
  ])(
    'Held.release whose delete comes to %s is repeated, and resolves only when the node is gone (L13)',
    async (_, fault) => {
      const scene = new Scene()
      const zk = await scene.client()
      const held = await scene.done(new Lock(zk, PATH).acquire())
      fault(scene.ensemble.faults, { op: 'delete', times: 2 })
      const releasing = await scene.start(held.release())
      expect(releasing.status).toBe('pending')
      await scene.world.advance(RECONNECTED)
      expect(releasing.status).toBe('fulfilled')
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test.each(['ThrottledOp', 'OperationTimeout'] as const)('Held.release is repeated after %s (L13)', async (code) => {
    const scene = new Scene()
    const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
    scene.ensemble.faults.fail({ op: 'delete', code, times: 3 })
    const releasing = outcome(held.release())
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held.release of a node that is gone already resolves (L13)', async () => {
    const scene = new Scene()
    const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
    scene.ensemble.nodes.delete(held.path)
    expect((await scene.start(held.release())).status).toBe('fulfilled')
  })

  test('Held.release twice deletes once, and both resolve', async () => {
    const scene = new Scene()
    const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
    const since = scene.since()
    const both = [outcome(held.release()), outcome(held.release())]
    await scene.world.settle()
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(since.ops()).toEqual(['delete'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held.release resolves when the session ends before it could be confirmed (L13)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.ensemble.faults.loseRequest({ op: 'delete' })
    const releasing = await scene.start(held.release())
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held.release that cannot be confirmed for a session timeout rejects, and goes on in the background', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { timeout } = zk.session
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const [server] = scene.ensemble.members
    server!.kill()
    await scene.world.settle()
    const releasing = outcome(held.release())
    await scene.world.advance(timeout - 1)
    expect(releasing.status).toBe('pending')
    await scene.world.advance(1)
    expect(KeeperError.is(releasing.error, 'RequestTimeout')).toBe(true)
    expect(releasing.error).toMatchObject({ op: 'release', path: held.path })
    // Sessions have all of their time again.
    server!.restart()
    expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
    await scene.world.advance(timeout / 3 - 1)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held.release that is refused rejects with the error', async () => {
    const scene = new Scene()
    const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
    scene.ensemble.faults.fail({ op: 'delete', code: 'NoAuth' })
    const releasing = await scene.start(held.release())
    expect(KeeperError.is(releasing.error, 'NoAuth')).toBe(true)
    expect(held.isHeld()).toBe(false)
  })

  test('Held.release while disconnected does not stand in the way of the next acquire (L14)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH)
    const held = await scene.done(lock.acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const releasing = outcome(held.release())
    const next = outcome(lock.acquire())
    await scene.world.advance(1_000)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(next.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([next.value.path])
  })

  test.each([
    ['disconnected', (scene: Scene, zk: ZooKeeper) => scene.cut(zk)],
    ['expired', (scene: Scene, zk: ZooKeeper) => scene.expire(zk)],
    ['frozen', (scene: Scene, zk: ZooKeeper) => scene.freeze(zk)],
    ['closed', (_: Scene, zk: ZooKeeper) => void zk.close()],
  ])(
    'Held.release resolves, and the next is granted, when the client is %s at any step of it (L13)',
    async (_, strike) => {
      const steps = await atEveryFrame(async (frame) => {
        const scene = new Scene()
        const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        const held = await scene.done(new Lock(zk, PATH).acquire())
        await scene.world.advance(100)
        const next = await scene.start(new Lock(other, PATH).acquire())
        let wasPending = false
        scene.network.before(frame, () => {
          wasPending = releasing.status === 'pending'
          strike(scene, zk)
        })
        const releasing = outcome(held.release())
        await scene.world.advance(45_000)
        expect(releasing.status).toBe('fulfilled')
        expect(next.value.isHeld()).toBe(true)
        await scene.done(next.value.release())
        expect(scene.leftovers()).toEqual(nothing)
        return wasPending
      })
      expect(steps).toBeGreaterThanOrEqual(3)
    },
  )
})
