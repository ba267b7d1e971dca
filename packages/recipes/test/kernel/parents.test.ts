// The nodes above the contenders: missing, removed at the wrong moment, or unable to have children.
import { Perms } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, Lock, MultiLock, Semaphore, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** How often servers look for empty containers, in ms. */
const CONTAINER_CHECK = 60_000

describe('Parents', () => {
  test('Lock makes what is missing above it, as containers, and leaves alone what is there (L27)', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/a')
    const held = await scene.done(new Lock(await scene.client(), '/a/b/c').acquire())
    expect(held.isHeld()).toBe(true)
    await scene.done(held.release())
    const there = () => ['/a', '/a/b', '/a/b/c'].map((path) => scene.ensemble.nodes.get(path) !== undefined)
    expect(there()).toEqual([true, true, true])
    // Servers remove containers that are empty, one level at a time.
    await scene.world.advance(2 * CONTAINER_CHECK)
    expect(there()).toEqual([true, false, false])
  })

  test('Lock makes the chroot too (L27)', async () => {
    const scene = new Scene()
    const held = await scene.done(new Lock(await scene.client({ chroot: '/app/one' }), '/locks').acquire())
    expect(held.path).toMatch(/^\/locks\/_c_/)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([`/app/one${held.path}`])
    await scene.done(held.release())
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(scene.children('/')).toEqual(['zookeeper'])
  })

  test('Lock creates parents that another client creates at the same time', async () => {
    const scene = new Scene()
    const acquirings = (await scene.clients(3)).map((zk) => outcome(new Lock(zk, '/a/b').run(() => {})))
    await scene.world.settle()
    expect(acquirings.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock is granted although the container is removed ten times before its node is in it (L27)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { network } = scene
    const { nodes } = scene.ensemble
    let removals = 0
    const remove = () => {
      if (removals === 10 || nodes.get('/locks/a')?.children.length !== 0) return
      removals++
      nodes.delete('/locks/a')
    }
    for (let frame = 1; frame <= 200; frame++) network.before(frame, remove)
    const held = await scene.done(new Lock(zk, '/locks/a').acquire())
    expect(removals).toBe(10)
    expect(held.isHeld()).toBe(true)
    expect(nodes.ephemerals()).toEqual([held.path])
  })

  test('Lock.acquire that is given up when it has made its folder for nothing lets servers delete it', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const giving = new AbortController()
    scene.ensemble.faults.fail({ op: 'create2', nth: 2, code: 'ThrottledOp' })
    const acquiring = await scene.start(new Lock(zk, '/locks/a').acquire({ signal: giving.signal }))
    expect(scene.children('/locks')).toEqual(['a'])
    giving.abort()
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(acquiring.status).toBe('rejected')
    expect(scene.children('/')).toEqual(['zookeeper'])
  })

  test('MultiLock.acquire that is given up lets servers delete its folders, although one of them is gone already', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const giving = new AbortController()
    scene.ensemble.faults.fail({ op: 'multi', nth: 2, code: 'ThrottledOp' })
    await scene.start(new MultiLock(zk, ['/locks/a', '/locks/b']).acquire({ signal: giving.signal }))
    expect(scene.children('/locks')).toEqual(['a', 'b'])
    await scene.done(other.delete('/locks/b'))
    giving.abort()
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(scene.children('/')).toEqual(['zookeeper'])
  })

  test('Semaphore.acquire that is given up at any time leaves only the node with the number', async () => {
    const LATENCY = 10
    let isGranted = false
    for (let at = LATENCY / 2; !isGranted; at += LATENCY) {
      const scene = new Scene()
      const zk = await scene.client()
      scene.network.latency = () => LATENCY
      const giving = new AbortController()
      const acquiring = outcome(new Semaphore(zk, '/locks/a', { permits: 1 }).acquire({ signal: giving.signal }))
      await scene.world.advance(at)
      isGranted = acquiring.status === 'fulfilled'
      giving.abort()
      await scene.world.advance(3 * CONTAINER_CHECK)
      if (!isGranted) expect(scene.children('/locks/a')).toEqual([])
    }
  })

  test('MultiLock that may not create in one of its folders leaves no folder', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/locked', { acl: [{ perms: Perms.READ, id: { scheme: 'world', id: 'anyone' } }] })
    const acquiring = await scene.start(new MultiLock(await scene.client(), ['/locks/a', '/locked/b']).acquire())
    expect(KeeperError.is(acquiring.error, 'NoAuth')).toBe(true)
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(scene.children('/')).toEqual(['zookeeper', 'locked'])
  })

  test('Semaphore.acquire that finds no number of permits lets servers delete what it has made above', async () => {
    const scene = new Scene()
    const acquiring = await scene.start(new Semaphore(await scene.client(), '/team/app/permits').acquire())
    expect(acquiring.error).toMatchObject({ code: 'PermitsDiffer' })
    expect(scene.children('/team')).toEqual(['app'])
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(scene.children('/')).toEqual(['zookeeper'])
  })

  test('Lock.acquire that is refused by a quota deletes no node that was there, though it is empty', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/team')
    scene.ensemble.faults.fail({ op: 'createContainer', code: 'QuotaExceeded', times: Infinity })
    // The first one finds no /team/a.
    const refused = scene.ensemble.faults.fail({ op: 'multi', nth: 2, code: 'QuotaExceeded' })
    const acquiring = await scene.start(new Lock(await scene.client(), '/team/a').acquire())
    expect(acquiring.error).toMatchObject({ code: 'QuotaExceeded' })
    await scene.world.advance(3 * CONTAINER_CHECK)
    expect(refused.count).toBe(1)
    expect(scene.children('/')).toEqual(['zookeeper', 'team'])
  })

  test('Lock is granted, and the fence rises, whenever the parent and all below it are deleted (L27)', async () => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const before = await scene.done(new Lock(other, '/locks/a').acquire())
      await scene.done(before.release())
      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = acquiring.status === 'pending'
        scene.ensemble.nodes.delete('/locks')
      })
      const acquiring = outcome(new Lock(zk, '/locks/a').acquire())
      await scene.world.settle()
      // What is granted on a node deleted behind the last answer is found out by the watch on it.
      await scene.world.advance(50)
      const held = acquiring.value
      expect(held.fencingToken).toBeGreaterThan(before.fencingToken)
      expect(scene.ensemble.nodes.ephemerals()).toEqual(held.isHeld() ? [held.path] : [])
      await scene.done(held.release())
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
    expect(steps).toBeGreaterThanOrEqual(4)
  })

  test('Lock queues again when the parent and all nodes below it are deleted', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const acquirings = []
    for (const zk of clients) acquirings.push(await scene.start(new Lock(zk, '/locks/a').acquire()))
    const [first, ...others] = acquirings
    await scene.world.advance(50)
    scene.ensemble.nodes.delete('/locks')
    await scene.world.advance(50)
    expect(first!.value.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (let turn = 0; turn < 2; turn++) {
      const held = others.filter(({ status }) => status === 'fulfilled').find(({ value }) => value.isHeld())!.value
      expect(held.fencingToken).toBeGreaterThan(first!.value.fencingToken)
      await scene.done(held.release())
    }
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['the path itself is an ephemeral node', '/gone'],
    ['a node above it is an ephemeral node', '/gone/locks/a'],
  ])('Lock is refused at once with NoChildrenForEphemerals when %s (L40)', async (_, path) => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(other.create('/gone', '', { mode: 'EPHEMERAL' }))
    for (const acquire of [
      () => new Lock(zk, path).acquire(),
      () => new Lock(zk, path).tryAcquire(),
      () => new SharedLock(zk, path).read.acquire(),
      () => new LeaderElection(zk, path).campaign(),
    ]) {
      const acquiring = await scene.start<unknown>(acquire())
      expect(KeeperError.is(acquiring.error, 'NoChildrenForEphemerals')).toBe(true)
    }
    expect(scene.leftovers()).toEqual({ ...nothing, nodes: ['/gone'] })
  })
})
