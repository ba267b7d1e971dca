// R03, R10: the faults of contenders of an exclusive lock, for readers and writers. R09, R12.
import { describe, expect, test } from 'vitest'
import { type Held, WaitTimeoutError, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/catalogue'
const RECONNECTED = 5_000

function write(zk: ZooKeeper): Promise<Held> {
  return new SharedLock(zk, PATH).write.acquire()
}

describe.each(['read', 'write'] as const)('SharedLock.%s', (kind) => {
  test.each([
    ['was lost', loseRequest],
    ['was not answered', loseReply],
  ])(`SharedLock.${kind} has one node, whose create %s (L07, R10)`, async (_, fault) => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(write(holder))
    fault(scene.ensemble.faults, { op: 'create2', session: zk.session.id })
    const ours = outcome(new SharedLock(zk, PATH)[kind].acquire())
    await scene.world.advance(RECONNECTED)
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toHaveLength(1)
    await scene.done(held.release())
    expect(scene.ensemble.nodes.ephemerals()).toEqual([ours.value.path])
    await scene.done(ours.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['was lost', loseRequest],
    ['was not answered', loseReply],
  ])(`SharedLock.${kind} is released once its node is gone, whose delete %s (L13, R10)`, async (_, fault) => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const ours = await scene.done(new SharedLock(zk, PATH)[kind].acquire())
    const next = await scene.start(write(other))
    fault(scene.ensemble.faults, { op: 'delete', session: zk.session.id })
    const releasing = outcome(ours.release())
    await scene.world.advance(RECONNECTED)
    expect([releasing.status, next.status]).toEqual(['fulfilled', 'fulfilled'])
    await scene.done(next.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test(`SharedLock.${kind} released while disconnected does not stand in its own way (L14, R10)`, async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const ours = await scene.done(new SharedLock(zk, PATH)[kind].acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const releasing = outcome(ours.release())
    const next = outcome(write(zk))
    await scene.world.advance(1_000)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.ensemble.nodes.ephemerals()).toEqual([next.value.path])
  })

  test(`SharedLock.${kind} is lost with NodeGone when another client deletes its node, and the next is granted (L15, R10)`, async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const ours = await scene.done(new SharedLock(zk, PATH)[kind].acquire())
    const next = await scene.start(write(other))
    await scene.world.advance(50)
    scene.ensemble.nodes.delete(ours.path)
    await scene.world.settle()
    expect(ours.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(next.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([next.value.path])
  })

  test(`SharedLock.${kind} of a new session is granted on a server that lags behind only by what is committed behind a sync (L25, R10)`, async () => {
    const scene = new Scene({ members: 3 })
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(write(holder))
    await scene.world.advance(100)
    for (const member of scene.ensemble.members) if (member !== scene.ensemble.leader) member.lag(5_000)
    scene.expire(zk)
    await scene.world.advance(100)
    const since = scene.since()
    const ours = outcome(new SharedLock(zk, PATH)[kind].acquire())
    await scene.world.advance(10_000)
    expect(ours.status).toBe('pending')
    outcome(held.release())
    for (let time = 0; ours.status === 'pending' && time < 60_000; time += 100) await scene.world.advance(100)
    expect(ours.value.isHeld()).toBe(true)
    const ops = since.ops(zk.session.id)
    const committed = Math.max(ops.lastIndexOf('multi'), ops.lastIndexOf('create2'))
    expect(ops).toContain('sync')
    expect(committed).toBeGreaterThan(ops.indexOf('sync'))
    expect(scene.ensemble.nodes.get(ours.value.path)!.stat.ephemeralOwner).toBe(zk.session.id)
  })
})

describe('SharedLock', () => {
  test('SharedLock has no way from read to write: a writer waits for its own reader, and says so (R09)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { read, write } = new SharedLock(zk, PATH)
    const held = await scene.done(read.acquire())
    expect('upgrade' in held || 'downgrade' in held).toBe(false)
    expect(await scene.done(write.tryAcquire())).toBeUndefined()
    const upgrading = outcome(write.acquire({ timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(WaitTimeoutError.is(upgrading.error)).toBe(true)
    expect(upgrading.error).toMatchObject({ blocker: { path: held.path, isOwn: true } })
    expect(held.isHeld()).toBe(true)
    await scene.done(held.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test("SharedLock's tokens have a resource refuse a zombie writer, and serve two live readers and the next writer (R12)", async () => {
    // The rules of README: a write is not below any token, a read not below any write's.
    const seen = { write: 0n, any: 0n }
    const accepts = (kind: 'read' | 'write', { fencingToken }: Held) => {
      if (fencingToken < (kind === 'write' ? seen.any : seen.write)) return false
      if (fencingToken > seen.any) seen.any = fencingToken
      if (kind === 'write' && fencingToken > seen.write) seen.write = fencingToken
      return true
    }
    const scene = new Scene()
    const clients = (await scene.clients(4)) as [ZooKeeper, ZooKeeper, ZooKeeper, ZooKeeper]
    const zombie = await scene.done(write(clients[0]))
    expect(accepts('write', zombie)).toBe(true)
    const [older, newer, next] = [
      await scene.start(new SharedLock(clients[1], PATH).read.acquire()),
      await scene.start(new SharedLock(clients[2], PATH).read.acquire()),
      await scene.start(write(clients[3])),
    ]
    scene.expire(clients[0])
    await scene.world.settle()
    // The newer reader comes first: the older one is served still.
    expect(accepts('read', newer.value)).toBe(true)
    expect(accepts('read', older.value)).toBe(true)
    expect(accepts('write', zombie)).toBe(false)
    await scene.done(older.value.release())
    await scene.done(newer.value.release())
    expect(accepts('write', next.value)).toBe(true)
    expect(accepts('read', older.value)).toBe(false)
  })

  test("SharedLock's tokens let a resource serve a downgraded reader, and then contenders waiting behind it (R08, R12)", async () => {
    const scene = new Scene()
    const clients = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const writing = await scene.done(new SharedLock(clients[0], PATH).write.acquire())
    const next = await scene.start(write(clients[1]))
    const reading = await scene.done(writing.downgrade())
    await scene.done(reading.release())
    // Not below any token that was seen.
    expect(next.value.fencingToken).toBeGreaterThan(reading.fencingToken)
  })
})
