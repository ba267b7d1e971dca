// Several locks as one: all or none, in one line with plain locks, and no two of them wait for each other.
import { Perms } from '@zk/client'
import { describe, expect, test } from 'vitest'
import {
  KeeperError,
  Lock,
  LostError,
  WaitTimeoutError,
  MultiLock,
  op,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'
import { heldOf } from '../support/holders.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import type { MultiLockPath } from '../../src/multi-lock/paths.ts'

const A = '/locks/a'
const B = '/locks/b'
const C = '/locks/c'

async function prepared(members = 1) {
  const scene = new Scene({ members })
  scene.ensemble.nodes.create('/locks')
  for (const path of [A, B, C]) scene.ensemble.nodes.create(path)
  const [zk, other, third] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
  return { scene, zk, other, third }
}

describe('MultiLock', () => {
  test('MultiLock.acquire has a node on each path, of one transaction, and a token for each path', async () => {
    const { scene, zk } = await prepared()
    const held = await scene.done(new MultiLock(zk, [B, A]).acquire())
    const nodes = [B, A].map((path) => `${path}/${scene.children(path)[0]}`)
    expect(held.toJSON()).toMatchObject({ kind: 'multi', paths: nodes, isHeld: true })
    const czxids = nodes.map((node) => scene.ensemble.nodes.get(node)!.stat.czxid)
    expect(czxids[0]).toBe(czxids[1])
    expect([...held.fencingTokens]).toEqual([
      [B, czxids[0]],
      [A, czxids[1]],
    ])
    expect(held.fencingToken).toBe(czxids[0])
    await scene.done(held.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('MultiLock is acquired and released in one round trip each', async () => {
    const { scene, zk } = await prepared()
    const lock = new MultiLock(zk, [A, B])
    await scene.done(lock.run(() => {}))
    const since = scene.since()
    const acquiring = lock.acquire()
    expect(await scene.roundTrips(acquiring)).toBe(1)
    expect(since.ops()).toEqual(['multi', 'getChildren2', 'getChildren2'])
    expect(await scene.roundTrips((await acquiring).release())).toBe(1)
    expect(since.ops().slice(3)).toEqual(['multi'])
  })

  test('MultiLock makes the paths that are missing', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new MultiLock(zk, ['/x/one', '/y/two']).acquire())
    expect(scene.children('/x/one')).toHaveLength(1)
    expect(scene.children('/y/two')).toHaveLength(1)
    await scene.done(held.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('MultiLock stands in one line with plain locks of its paths, in the order of asking', async () => {
    const { scene, zk, other, third } = await prepared()
    const first = await scene.start(new Lock(other, B).acquire())
    const both = await scene.start(new MultiLock(zk, [A, B]).acquire())
    const last = [await scene.start(new Lock(third, A).acquire()), await scene.start(new Lock(third, B).acquire())]
    expect([first, both, ...last].map(({ status }) => status)).toEqual(['fulfilled', 'pending', 'pending', 'pending'])
    await scene.done(first.value.release())
    expect(both.value.isHeld()).toBe(true)
    expect(heldOf(last)).toEqual([])
    await scene.done(both.value.release())
    expect(heldOf(last)).toEqual([0, 1])
  })

  test('MultiLock grants two that overlap one after the other, whatever the order of their paths (M01)', async () => {
    const { scene, zk, other, third } = await prepared()
    const orders: [ZooKeeper, string[]][] = [
      [zk, [A, B, C]],
      [other, [C, B, A]],
      [third, [B, C]],
      [zk, [C, A]],
      [other, [B, A]],
    ]
    scene.network.latency = () => Math.floor(scene.world.random() * 4)
    const all = orders.map(([client, paths]) => outcome(new MultiLock(client, paths).acquire()))
    const served: number[] = []
    for (let turn = 0; turn < 200 && served.length < all.length; turn++) {
      await scene.world.advance(5)
      const holders = heldOf(all)
      const held = holders.flatMap((index) => orders[index]![1])
      expect(new Set(held).size).toBe(held.length)
      for (const index of holders) {
        served.push(index)
        void all[index]!.value.release()
      }
    }
    expect(served.sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4])
    scene.network.latency = () => 0
    await scene.world.advance(100)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('MultiLock takes the sides of shared locks: readers stand beside each other, a writer waits for all', async () => {
    const { scene, zk, other, third } = await prepared()
    const reading: MultiLockPath = { path: A, mode: 'read' }
    const reader = await scene.start(new MultiLock(zk, [reading, B]).acquire())
    const beside = await scene.start(new SharedLock(other, A).read.acquire())
    const writer = await scene.start(new MultiLock(third, [{ path: A, mode: 'write' }, C]).acquire())
    expect([reader, beside, writer].map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'pending'])
    const late = await scene.start(new MultiLock(other, [reading]).acquire())
    expect(late.status).toBe('pending')
    await scene.done(reader.value.release())
    expect(writer.status).toBe('pending')
    await scene.done(beside.value.release())
    expect(writer.value.isHeld()).toBe(true)
    await scene.done(writer.value.release())
    expect(late.value.isHeld()).toBe(true)
  })

  test('MultiLock.tryAcquire takes all or none, and leaves nothing', async () => {
    const { scene, zk, other } = await prepared()
    const held = await scene.done(new Lock(other, B).acquire())
    expect(await scene.done(new MultiLock(zk, [A, B]).tryAcquire())).toBeUndefined()
    expect(scene.children(A)).toEqual([])
    await scene.done(held.release())
    const both = await scene.done(new MultiLock(zk, [A, B]).tryAcquire())
    expect(both!.isHeld()).toBe(true)
    expect(await scene.done(new MultiLock(other, [C, B]).tryAcquire())).toBeUndefined()
    await scene.done(both!.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('MultiLock.contenders lists all of all paths', async () => {
    const { scene, zk, other } = await prepared()
    const lock = new MultiLock(zk, [A, B], { label: 'both' })
    const held = await scene.done(lock.acquire())
    await scene.start(new Lock(other, B, { label: 'b' }).acquire())
    const contenders = await scene.done(lock.contenders())
    expect(contenders.map(({ label, position }) => [label, position])).toEqual([
      ['both', 0],
      ['both', 0],
      ['b', 1],
    ])
    await scene.done(held.release())
  })

  test('MultiLock.contenders shows that a MultiLock is not granted while it waits on another path', async () => {
    const { scene, zk, other } = await prepared()
    const blocking = await scene.done(new Lock(other, B, { label: 'b' }).acquire())
    const lock = new MultiLock(zk, [A, B], { label: 'both' })
    const acquiring = await scene.start(lock.acquire())
    const granted = async () =>
      (await scene.done(lock.contenders())).map(({ label, position, isGranted }) => [label, position, isGranted])
    expect(await granted()).toEqual([
      ['both', 0, false],
      ['b', 0, true],
      ['both', 1, false],
    ])
    await scene.done(blocking.release())
    expect(acquiring.value.isHeld()).toBe(true)
    expect(await granted()).toEqual([
      ['both', 0, true],
      ['both', 0, true],
    ])
    await scene.done(acquiring.value.release())
  })

  test('MultiLock.acquire calls onQueued for each path, and its WaitTimeoutError names what is in the way', async () => {
    const { scene, zk, other } = await prepared()
    const [a, b] = [
      await scene.done(new Lock(other, A, { label: 'has a' }).acquire()),
      await scene.done(new Lock(other, B).acquire()),
    ]
    const queued: (readonly string[])[] = []
    const acquiring = outcome(
      new MultiLock(zk, [A, B]).acquire({ timeout: 500, onQueued: ({ ahead }) => void queued.push(ahead) }),
    )
    await scene.world.advance(499)
    expect(queued).toEqual([[a.path], [b.path]])
    await scene.world.advance(2)
    const error = acquiring.error as WaitTimeoutError
    expect(WaitTimeoutError.is(error)).toBe(true)
    expect(error).toMatchObject({ path: `${A}, ${B}`, position: 2, ahead: [a.path, b.path] })
    expect(error.blocker).toMatchObject({ path: a.path, label: 'has a' })
    await scene.world.settle()
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
    expect(scene.watches(zk).filter(({ path }) => path !== a.path && path !== b.path)).toEqual([])
  })

  test('MultiLock waits for a program that takes the same locks one by one, and it for MultiLock: the timeout ends it (M07)', async () => {
    const { scene, zk, other } = await prepared()
    await scene.done(new Lock(other, B).acquire())
    const both = outcome(new MultiLock(zk, [A, B]).acquire({ timeout: 1_000 }))
    await scene.world.settle()
    const second = await scene.start(new Lock(other, A).acquire())
    await scene.world.advance(900)
    expect([both.status, second.status]).toEqual(['pending', 'pending'])
    await scene.world.advance(200)
    expect(WaitTimeoutError.is(both.error)).toBe(true)
    expect(second.value.isHeld()).toBe(true)
  })
})

describe('MultiHeld', () => {
  test('MultiHeld.multi happens only while the nodes of all paths exist', async () => {
    const { scene, zk, other } = await prepared()
    const held = await scene.done(new MultiLock(zk, [A, B]).acquire())
    await scene.done(held.multi([op.create('/result', '1')]))
    expect(held.checkOps).toHaveLength(2)
    await scene.done(other.delete(held.paths[1]!))
    const rejected = await scene.start(held.multi([op.create('/result-2', '')]))
    expect(LostError.is(rejected.error)).toBe(true)
    expect(scene.ensemble.nodes.get('/result-2')).toBeUndefined()
  })

  test.each([0, 1, 2])('MultiHeld is lost when node %i is deleted, and gives up the others', async (index) => {
    const { scene, zk, other } = await prepared()
    const held = await scene.done(new MultiLock(zk, [A, B, C]).acquire())
    await scene.world.advance(100)
    await scene.done(other.delete(held.paths[index]!))
    await scene.world.settle()
    expect(held.isHeld()).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([0, 1, 2])(
    'MultiHeld whose nodes nobody can watch is lost by a round that checks node %i (M05)',
    async (index) => {
      const { scene, zk } = await prepared()
      const held = await scene.done(new MultiLock(zk, [A, B, C]).acquire())
      scene.ensemble.faults.fail({ op: 'getData', code: 'ThrottledOp', times: Infinity })
      scene.ensemble.nodes.delete(held.paths[index]!)
      await scene.world.advance(zk.session.timeout / 3 + 100)
      expect(held.signal.reason).toMatchObject({ code: 'NodeGone', cause: { code: 'NoNode' } })
    },
  )

  test('MultiHeld is held for long, with one round for all of its nodes', async () => {
    const { scene, zk } = await prepared()
    const held = await scene.done(new MultiLock(zk, [A, B, C]).acquire())
    await scene.world.advance(100)
    const since = scene.since()
    await scene.world.advance(10 * zk.session.timeout)
    expect(held.isHeld()).toBe(true)
    const ops = since.ops()
    expect(ops.filter((each) => each === 'multi').length).toBeLessThanOrEqual(30)
    expect(new Set(ops)).toEqual(new Set(['sync', 'multi']))
  })
})

describe('MultiLock that cannot be right', () => {
  test.each<[string, unknown, RegExp]>([
    ['no array', A, /must be an array/],
    ['no path', [], /1 to 100 paths, not 0/],
    ['101 paths', Array.from({ length: 101 }, (_, index) => `/locks/${index}`), /1 to 100 paths, not 101/],
    ['a path twice', [A, B, A], /has \/locks\/a twice/],
    ['a path twice, in another mode', [A, { path: A, mode: 'read' }], /has \/locks\/a twice/],
    ['a path in another', ['/locks/a-b', '/locks/a/x/y', A], /\/locks\/a\/x\/y is below \/locks\/a:/],
    ['a relative path', ['locks'], /locks/],
    ['the root', ['/'], /must not be '\/'/],
    ['an unknown mode', [{ path: A, mode: 'shared' }], /paths\[0\] must be/],
    ['a number', [7], /paths\[0\] must be/],
  ])('MultiLock of %s is refused', async (_, paths, message) => {
    const scene = new Scene()
    const zk = await scene.client()
    expect(() => new MultiLock(zk, paths as string[])).toThrow(message)
  })

  test('MultiLock of 100 paths is acquired and released', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const paths = Array.from({ length: 100 }, (_, index) => `/locks/${index}`)
    const acquiring = outcome(new MultiLock(zk, paths).acquire())
    await scene.world.advance(1_000)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(100)
    await scene.done(acquiring.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each(['acquire', 'tryAcquire'] as const)(
    'MultiLock.%s without the right to create on one path rejects with NoAuth that names it, and leaves nothing (M06)',
    async (how) => {
      const { scene, zk } = await prepared()
      const acl = [{ perms: Perms.ALL - Perms.CREATE, id: { scheme: 'world', id: 'anyone' } }]
      scene.ensemble.nodes.create('/locks/closed', { acl })
      const acquiring: Outcome<unknown> = await scene.start(new MultiLock(zk, [A, '/locks/closed', B])[how]())
      expect(KeeperError.is(acquiring.error, 'NoAuth')).toBe(true)
      expect((acquiring.error as KeeperError).path).toMatch(/^\/locks\/closed/)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})
