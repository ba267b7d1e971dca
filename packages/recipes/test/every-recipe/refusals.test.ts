// What servers refuse: temporary refusals are outlasted, others are reported at once, and nothing is left behind.
import { CREATOR_ALL_ACL, Perms } from '@zk/client'
import { describe, expect, test } from 'vitest'
import {
  type Held,
  KeeperError,
  LeaderElection,
  Group,
  Lock,
  Semaphore,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { drop, fail, type Fault, garbage, ignore, loseReply, loseRequest } from '../support/faults.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

function withPath(): Scene {
  const scene = new Scene()
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH)
  return scene
}

/** Every request of an acquire that waits. */
const asked = ['create2', 'createContainer', 'getChildren2', 'getData', 'multi'] as const

describe('A request that fails for now', () => {
  const passing: [string, Fault][] = [
    ['ThrottledOp', fail('ThrottledOp')],
    ['OperationTimeout', fail('OperationTimeout')],
    ['no answer on a standing connection', ignore],
    ['a connection lost before it', loseRequest],
    ['a connection lost behind it', loseReply],
    ['a connection lost behind its answer', drop],
    ['garbage in place of its answer', garbage],
  ]

  test.each(asked.flatMap((op) => passing.map(([name, fault]) => [op, name, fault] as const)))(
    'Lock.acquire outlasts %s that meets %s (L39, E07)',
    async (op, _, fault) => {
      for (const nth of [1, 2]) {
        const scene = new Scene()
        const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        if (op !== 'createContainer') await scene.done(new Lock(holder, PATH).run(() => {}))
        const obstructing = op === 'createContainer' ? undefined : await scene.done(new Lock(holder, PATH).acquire())
        fault(scene.ensemble.faults, { op, nth, session: zk.session.id })
        const acquiring = outcome(new Lock(zk, PATH).acquire())
        await scene.world.advance(2_000)
        await (obstructing && scene.done(obstructing.release()))
        await scene.world.advance(60_000)
        // After the grant it may be that the watch on one's own node is struck, and the hold is lost.
        const held = acquiring.value
        if (held.isHeld()) expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
        await scene.done(held.release())
        scene.ensemble.faults.clear()
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('Lock.acquire gives an overloaded server a pause of at least half a second (L39)', async () => {
    const scene = withPath()
    const zk = await scene.client()
    scene.ensemble.faults.fail({ op: 'create2', code: 'ThrottledOp', times: 3 })
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(10_000)
    expect(acquiring.value.isHeld()).toBe(true)
    const times = since.asked.filter(({ op }) => op === 'create2').map(({ at }) => at)
    expect(times).toHaveLength(4)
    for (const [index, time] of times.slice(1).entries()) expect(time - times[index]!).toBeGreaterThanOrEqual(500)
  })

  test('Lock.acquire that is aborted while it pauses leaves nothing (L39)', async () => {
    const scene = withPath()
    const zk = await scene.client()
    const abort = new AbortController()
    scene.ensemble.faults.fail({ op: 'create2', code: 'ThrottledOp' })
    const acquiring = await scene.start(new Lock(zk, PATH).acquire({ signal: abort.signal }))
    abort.abort()
    await scene.world.settle()
    expect(acquiring.status).toBe('rejected')
    await scene.world.advance(5_000)
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('A request that fails for good', () => {
  test.each(
    (['create2', 'getChildren2', 'getData', 'multi'] as const).flatMap((op) =>
      (['NoAuth', 'QuotaExceeded', 'SystemError', 'Unimplemented'] as const).map((code) => [op, code] as const),
    ),
  )('Lock.acquire whose %s fails with %s rejects with it, and leaves nothing (L26, L39)', async (op, code) => {
    const scene = withPath()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const obstructing = await scene.done(new Lock(holder, PATH).acquire())
    // The first list may fail: another one is asked for.
    scene.ensemble.faults.fail({ op, code, session: zk.session.id, times: op === 'getChildren2' ? 2 : 1 })
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    await scene.done(obstructing.release())
    expect(KeeperError.is(acquiring.error, code)).toBe(true)
    expect(scene.leftovers()).toEqual(nothing)
    expect((await scene.done(new Lock(zk, PATH).acquire())).isHeld()).toBe(true)
  })
})

describe('Rights', () => {
  const open = { scheme: 'world', id: 'anyone' }

  test.each<[string, number]>([
    ['create children', Perms.ALL - Perms.CREATE],
    ['read the list', Perms.ALL - Perms.READ],
  ])(
    'Everything is refused at once with NoAuth, and nothing is left, where no client may %s (L26)',
    async (_, perms) => {
      const scene = new Scene()
      scene.ensemble.nodes.create('/locked', { acl: [{ perms, id: open }] })
      const zk = await scene.client()
      for (const acquire of [
        () => new Lock(zk, '/locked').acquire(),
        () => new Lock(zk, '/locked').tryAcquire(),
        () => new SharedLock(zk, '/locked').write.acquire(),
        () => new LeaderElection(zk, '/locked').campaign(),
      ]) {
        const acquiring = await scene.start<unknown>(acquire())
        expect(KeeperError.is(acquiring.error, 'NoAuth')).toBe(true)
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('Lock and Group are refused at once with NoAuth where the parents may not be made (L26)', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/locked', { acl: [{ perms: Perms.READ, id: open }] })
    const zk = await scene.client()
    const calls = [() => new Lock(zk, '/locked/a/b').acquire(), () => new Group(zk, '/locked/a/b').join()]
    for (const call of calls) {
      const refused = await scene.start<unknown>(call())
      expect(KeeperError.is(refused.error, 'NoAuth')).toBe(true)
    }
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock that may not read the node before it rejects with NoAuth: it would never wake (L26)', async () => {
    const scene = withPath()
    const holder = await scene.client({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    const zk = await scene.client()
    const held = await scene.done(new Lock(holder, PATH, { acl: CREATOR_ALL_ACL }).acquire())
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    expect(KeeperError.is(acquiring.error, 'NoAuth')).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
  })

  test('Lock is handed over between clients of one identity that keep others out (L26)', async () => {
    const scene = withPath()
    const auth = [{ scheme: 'digest', auth: 'ann:secret' }]
    const clients = [await scene.client({ auth }), await scene.client({ auth })]
    const [first, second] = clients.map((zk) => new Lock(zk, PATH, { acl: CREATOR_ALL_ACL }))
    const held = await scene.done(first!.acquire())
    const waiting = await scene.start(second!.acquire())
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock is handed over between different identities by default (L26)', async () => {
    const scene = withPath()
    const identities = ['ann:secret', 'bob:secret', undefined]
    const granted: Held[] = []
    const clients: ZooKeeper[] = []
    for (const auth of identities) {
      clients.push(await scene.client(auth === undefined ? {} : { auth: [{ scheme: 'digest', auth }] }))
    }
    for (const zk of clients) void new Lock(zk, PATH).run((held) => void granted.push(held))
    await scene.world.settle()
    expect(granted).toHaveLength(3)
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('A stranger, a client without the credentials of the contenders', () => {
  const acl = CREATOR_ALL_ACL
  const recipes = [
    { name: 'Lock', below: [''], make: (zk: ZooKeeper) => new Lock(zk, PATH, { acl }) },
    {
      name: 'Semaphore',
      below: ['/locks', '/leases'],
      make: (zk: ZooKeeper) => new Semaphore(zk, PATH, { permits: 1, acl }),
    },
  ]

  test.each(recipes)(
    'cannot delete the node of a $name whose path had the ACL before (L26)',
    async ({ below, make }) => {
      const scene = new Scene()
      const zk = await scene.client({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
      const stranger = await scene.client()
      for (const folder of below) await scene.done(zk.ensurePath(PATH + folder, { acl }))
      const held = await scene.done(make(zk).acquire())
      const nodes = scene.ensemble.nodes.ephemerals()
      expect(nodes).toContain(held.path)
      for (const node of nodes) {
        const deleting = await scene.start(stranger.delete(node))
        expect(deleting.error).toMatchObject({ code: 'NoAuth', needs: 'DELETE on the parent' })
      }
      await scene.world.advance(1_000)
      expect(held.isHeld()).toBe(true)
      await scene.done(held.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )
})
