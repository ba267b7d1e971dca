// L38: tryAcquire, without waiting and without blocking others.
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, Lock, type QueuePlace, type ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { loseReply, loseRequest } from '../support/faults.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

describe('Lock.tryAcquire', () => {
  test('Lock.tryAcquire is granted a free lock', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const held = await scene.done(lock.tryAcquire())
    expect(held?.isHeld()).toBe(true)
    await scene.done(held!.release())
    expect((await scene.done(lock.tryAcquire()))?.fencingToken).toBeGreaterThan(held!.fencingToken)
  })

  test('Lock.tryAcquire makes no node when it sees a contender ahead (L38)', async () => {
    const scene = new Scene()
    const [holder, zk] = await scene.clients(2)
    await scene.start(new Lock(holder!, PATH).acquire())
    const since = scene.since()
    expect(await scene.done(new Lock(zk!, PATH).tryAcquire())).toBeUndefined()
    expect(since.ops()).toEqual(['getChildren2'])
    expect(since.notified).toEqual([])
  })

  test('Lock.tryAcquire that loses a race removes its node, and wakes no contender wrongly (L38)', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const [first, second] = clients.map((zk) => new Lock(zk, PATH))
    await scene.done(first!.run(() => {}))
    // Both see no contender, then both make a node.
    const trying = [first!, second!].map((lock) => outcome(lock.tryAcquire()))
    await scene.world.settle()
    const winners = trying.map(({ value }) => value).filter((held) => held !== undefined)
    expect(winners).toHaveLength(1)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([winners[0]!.path])
    const third = await scene.start(new Lock(clients[2]!, PATH).acquire())
    expect(third.status).toBe('pending')
    await scene.done(winners[0]!.release())
    expect(third.value.isHeld()).toBe(true)
  })

  test('Lock.tryAcquire that loses a race lets a contender behind its node go on (L38)', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const [first, second, third] = clients.map((zk) => new Lock(zk, PATH))
    await scene.done(first!.run(() => {}))
    const trying = [first!, second!].map((lock) => outcome(lock.tryAcquire()))
    let waiting: Outcome<Held> | undefined
    const places: number[] = []
    const onQueued = ({ position }: QueuePlace) => places.push(position)
    // Both have looked, both have made a node: four frames each so far.
    scene.network.before(9, () => (waiting = outcome(third!.acquire({ onQueued }))))
    await scene.world.settle()
    const winner = trying.map(({ value }) => value).find((held) => held !== undefined)
    expect(waiting!.status).toBe('pending')
    // First behind both, then behind the winner.
    expect(places).toEqual([2, 1])
    await scene.done(winner!.release())
    expect(waiting!.value.isHeld()).toBe(true)
  })

  test('Lock.tryAcquire is undefined for as long as its server shows a holder that has left; a sync before it mends that', async () => {
    const scene = new Scene({ members: 3 })
    const { holder, zk } = await atLeaderAndFollower(scene)
    const held = await scene.done(new Lock(holder, PATH).acquire())
    await scene.world.advance(1_000)
    for (const member of scene.ensemble.members) if (member !== scene.ensemble.leader) member.lag(500)
    await scene.done(held.release())
    const lock = new Lock(zk, PATH)
    expect(await scene.done(lock.tryAcquire())).toBeUndefined()
    const synced = outcome(zk.sync(PATH).then(() => lock.tryAcquire()))
    await scene.world.advance(2_000)
    expect(synced.value?.isHeld()).toBe(true)
  })

  test('Lock.tryAcquire sees no contender of its own client that was released, however far its server is behind', async () => {
    const scene = new Scene({ members: 3 })
    const { zk } = await atLeaderAndFollower(scene)
    for (const member of scene.ensemble.members) if (member !== scene.ensemble.leader) member.lag(500)
    const lock = new Lock(zk, PATH)
    const again = outcome(lock.run(() => {}).then(() => lock.tryAcquire()))
    await scene.world.advance(5_000)
    expect(again.value?.isHeld()).toBe(true)
  })

  test('Lock.tryAcquire ignores contenders of other kinds (L24)', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/readme`)
    const held = await scene.done(new Lock(await scene.client(), PATH).tryAcquire())
    expect(held?.isHeld()).toBe(true)
  })

  test.each([
    ['loseRequest', loseRequest],
    ['loseReply', loseReply],
  ])('Lock.tryAcquire holds with one node after its create came to %s (L07)', async (_, fault) => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    fault(scene.ensemble.faults, { op: 'create2' })
    const trying = await scene.start(new Lock(zk, PATH).tryAcquire())
    await scene.world.advance(2_000)
    expect(trying.value?.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([trying.value!.path])
  })

  test('Lock.tryAcquire whose session expires rejects, and leaves nothing', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { session } = zk
    scene.network.before(3, () => scene.ensemble.sessions.expire(session.id))
    const trying = await scene.start(new Lock(zk, PATH).tryAcquire())
    await scene.world.advance(2_000)
    expect(KeeperError.is(trying.error, 'SessionExpired')).toBe(true)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each(
    (['getChildren2', 'create2'] as const).flatMap((op) =>
      (['ThrottledOp', 'OperationTimeout'] as const).map((code) => [op, code] as const),
    ),
  )('Lock.tryAcquire outlasts a %s that fails with %s (L39)', async (op, code) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    scene.ensemble.faults.fail({ op, code })
    const trying = outcome(lock.tryAcquire())
    await scene.world.advance(5_000)
    expect(trying.value?.isHeld()).toBe(true)
  })

  test('Lock.tryAcquire never resolves with something that is lost already', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH, { heldWhile: 'connected' })
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    // Granted and disconnected in one turn: after a list that was refused, a check has the last word.
    scene.ensemble.faults.fail({ op: 'getChildren2', nth: 2, code: 'OperationTimeout' })
    scene.ensemble.faults.merge({ op: 'multi' })
    scene.ensemble.faults.garbage({ op: 'exists' })
    const trying = await scene.start(lock.tryAcquire())
    void zk.exists('/').catch(() => {})
    await scene.world.advance(5_000)
    expect(trying.error).toMatchObject({ name: 'LostError', code: 'Disconnected' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['without contenders', false],
    ['while another contender holds', true],
  ])('Lock.tryAcquire is aborted at every moment, %s: it never holds, and leaves nothing (L11)', async (_, isTaken) => {
    const reason = new Error('changed my mind')
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const obstructing = isTaken ? await scene.done(new Lock(other, PATH).acquire()) : undefined
      const abort = new AbortController()
      const trying = outcome(new Lock(zk, PATH).tryAcquire({ signal: abort.signal }))
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = trying.status === 'pending'
        abort.abort(reason)
      })
      await scene.world.settle()
      if (trying.status === 'rejected') expect(trying.error).toBe(reason)
      else await (trying.value && scene.done(trying.value.release()))
      await (obstructing && scene.done(obstructing.release()))
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
    expect(played).toBeGreaterThan(10)
  })

  test('Lock.tryAcquire with a signal that is aborted already rejects at once and sends nothing (L11)', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const trying = await scene.start(lock.tryAcquire({ signal: AbortSignal.abort(new Error('before')) }))
    expect(trying.error).toEqual(new Error('before'))
    expect(since.ops()).toEqual([])
  })
})

/** A client whose server leads, and one whose server follows. */
async function atLeaderAndFollower(scene: Scene): Promise<{ readonly holder: ZooKeeper; readonly zk: ZooKeeper }> {
  const atLeader = ({ session }: ZooKeeper) => session.connection?.server === scene.ensemble.leader!.address
  const clients: ZooKeeper[] = []
  for (;;) {
    const holder = clients.find(atLeader)
    const zk = clients.find((each) => !atLeader(each))
    if (holder !== undefined && zk !== undefined) return { holder, zk }
    clients.push(await scene.client())
  }
}
