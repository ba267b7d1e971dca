// A membership under faults: at every frame, and at every moment.
import { describe, expect, test } from 'vitest'
import { MemberNode } from '../../src/group/member-node.ts'
import { Group, type Membership, type ZooKeeper } from '../../src/index.ts'
import { atEveryFrame, atEveryMoment } from '../support/everywhere.ts'
import { drop, type Fault, fail, garbage, loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/workers'
/** Longer than any pause before a new connection or a new session, in ms. */
const RECONNECTED = 3_000
const T = 30_000

function nodes(scene: Scene): [name: string, data: string, session: bigint][] {
  return scene.children(PATH).map((name) => {
    const { data, stat } = scene.ensemble.nodes.get(`${PATH}/${name}`)!
    return [name, Buffer.from(data).toString(), stat.ephemeralOwner]
  })
}

const faults: [string, Fault][] = [
  ['is lost', loseRequest],
  ['has no answer', loseReply],
  ['is the last of its connection', drop],
  ['is answered with garbage', garbage],
  ['is refused by a busy server', fail('ThrottledOp')],
]

describe('Membership', () => {
  test.each(faults)('Membership has one node with its data, where a create %s (G01)', async (_, fault) => {
    for (const times of [1, 2]) {
      const scene = new Scene()
      const [zk] = (await scene.clients(1)) as [ZooKeeper]
      scene.ensemble.nodes.create(PATH)
      fault(scene.ensemble.faults, { op: 'create2', times })
      const joining = outcome(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
      await scene.world.advance(2 * RECONNECTED)
      const me = joining.value
      expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
      // It notices what others do to the node that it found.
      scene.ensemble.nodes.delete(me.path)
      await scene.world.settle()
      expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
      const leaving = outcome(me.release())
      await scene.world.advance(RECONNECTED)
      expect([leaving.status, scene.leftovers()]).toEqual(['fulfilled', nothing])
    }
  })

  test.each(faults)('Membership holds the data of the last update, where a setData %s', async (_, fault) => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
    fault(scene.ensemble.faults, { op: 'setData' })
    const updates = ['two', 'three'].map((data) => outcome(me.update(data)))
    await scene.world.advance(RECONNECTED)
    expect(updates.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(nodes(scene)).toEqual([['host-1', 'three', zk.session.id]])
  })

  test.each(faults)('Membership leaves nothing, where a delete %s', async (_, fault) => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join())
    fault(scene.ensemble.faults, { op: 'delete' })
    const leaving = outcome(me.release())
    await scene.world.advance(RECONNECTED)
    expect([leaving.status, scene.leftovers()]).toEqual(['fulfilled', nothing])
  })

  test.each(['leave', 'update'] as const)(
    'Membership.%s whose request was not answered touches no node of another member that has the name meanwhile (G06)',
    async (call) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
      const next = outcome(new Group(other, PATH).join({ name: 'host-1', data: 'another' }))
      await scene.world.settle()
      scene.refuse()
      scene.ensemble.faults.loseReply({ op: call === 'leave' ? 'delete' : 'setData', connection: 'reset' })
      const calling = outcome(call === 'leave' ? me.release() : me.update('two'))
      await scene.world.settle()
      if (call === 'update') scene.ensemble.nodes.delete(me.path)
      await scene.world.settle()
      expect(next.status).toBe('fulfilled')
      scene.accept()
      const since = scene.since()
      await scene.world.advance(RECONNECTED)
      expect(nodes(scene)).toEqual([['host-1', 'another', other.session.id]])
      expect(since.ops().filter((op) => op === 'delete' || op === 'setData')).toEqual([])
      expect(calling.status).toBe(call === 'leave' ? 'fulfilled' : 'pending')
      outcome(me.release())
    },
  )

  test('Membership.update that a busy server refused is not sent again behind the delete of leave', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
    const next = outcome(new Group(other, PATH).join({ name: 'host-1', data: 'another' }))
    await scene.world.settle()
    scene.ensemble.faults.fail({ op: 'setData', code: 'ThrottledOp' })
    scene.network.latency = () => 2
    const updating = outcome(me.update('two'))
    await scene.world.advance(1)
    const leaving = outcome(me.release())
    await scene.world.advance(RECONNECTED)
    expect([updating.status, leaving.status, next.status]).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(nodes(scene)).toEqual([['host-1', 'another', other.session.id]])
  })

  test('Membership.update that meets the node of another member is not resolved', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
    const next = outcome(new Group(other, PATH).join({ name: 'host-1', data: 'another' }))
    await scene.world.settle()
    // The request is under way while an operator deletes the node, and another member takes the name.
    scene.ensemble.faults.delayRequest({ op: 'setData', ms: 100 })
    scene.network.latency = () => 200
    const update = outcome(me.update('two', { timeout: 1_000 }))
    await scene.world.advance(1)
    scene.network.latency = () => 0
    scene.ensemble.nodes.delete(me.path)
    await scene.world.advance(1_100)
    expect(next.status).toBe('fulfilled')
    expect(update.status).toBe('rejected')
    outcome(me.release())
    await scene.world.settle()
    expect(nodes(scene).map(([, , session]) => session)).toEqual([other.session.id])
  })

  test('Membership whose create was made with earlier data writes the last data (G07)', async () => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
    scene.ensemble.faults.loseReply({ op: 'create2' })
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    // The node is there again, with the first data, and no answer has come.
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
    const update = outcome(me.update('two'))
    await scene.world.advance(RECONNECTED)
    expect(update.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
  })

  test('Membership keeps one node with the last data, whenever the session expires during an update (G04)', async () => {
    const played = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk] = (await scene.clients(1)) as [ZooKeeper]
      const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
      let came = false
      scene.network.before(frame, () => {
        came = true
        scene.expire(zk)
      })
      const update = outcome(me.update('two'))
      await scene.world.settle()
      const wasInTime = came
      await scene.world.advance(RECONNECTED)
      expect(update.status).toBe('fulfilled')
      expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
      return wasInTime
    })
    expect(played).toBeGreaterThan(3)
  })

  const ways: [string, (scene: Scene, zk: ZooKeeper, stop: AbortController) => void, boolean][] = [
    ['aborted', (_, __, stop) => stop.abort(), true],
    ['aborted and disconnected', (scene, zk, stop) => (scene.cut(zk), stop.abort()), true],
    ['closed', (_, zk) => void zk.close(), false],
    ['detached', (_, zk) => void zk.detach(), false],
  ]
  test.each(ways)('Group.join leaves nothing, whenever it is %s (G09)', async (_, act, hasClient) => {
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const stop = new AbortController()
      const joining = outcome(new Group(zk, PATH).join({ name: 'host-1', signal: stop.signal }))
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = joining.status === 'pending'
        act(scene, zk, stop)
      })
      await scene.world.advance(RECONNECTED)
      if (scene.world.isInterruptionDue) return false
      if (joining.status === 'fulfilled') outcome(joining.value.release())
      await scene.world.advance(RECONNECTED)
      expect(nodes(scene)).toEqual([])
      if (hasClient) expect(scene.watches(zk)).toEqual([])
      // The name is free.
      expect((await scene.start(new Group(other, PATH).join({ name: 'host-1' }))).status).toBe('fulfilled')
      return wasPending
    })
    expect(played).toBeGreaterThan(10)
  })

  test('Membership.release leaves nothing, at whatever moment after an operator has deleted the node', async () => {
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const [zk] = (await scene.clients(1)) as [ZooKeeper]
      const me: Membership = await scene.done(new Group(zk, PATH).join({ name: 'host-1' }))
      scene.world.interrupt(moment, () => outcome(me.release()))
      scene.ensemble.nodes.delete(me.path)
      await scene.world.settle()
      if (scene.world.isInterruptionDue) return false
      await scene.world.advance(1_000)
      expect(scene.leftovers()).toEqual(nothing)
      return true
    })
    expect(played).toBeGreaterThan(10)
  })

  test('Membership goes on over a container that is deleted before its node is in it', async () => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    scene.ensemble.faults.fail({ op: 'create2', code: 'NoNode', times: 6 })
    const joining = outcome(new Group(zk, PATH).join({ name: 'host-1' }))
    await scene.world.settle()
    expect(joining.status).toBe('fulfilled')
  })

  test('Membership of a client below a chroot has its node there', async () => {
    const scene = new Scene()
    const zk = (await scene.client()).withChroot('/app')
    scene.ensemble.nodes.create('/app')
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1' }))
    expect(me.path).toBe(`${PATH}/host-1`)
    expect(scene.children('/app/workers')).toEqual(['host-1'])
    scene.ensemble.nodes.delete('/app/workers')
    await scene.world.settle()
    expect(scene.children('/app/workers')).toEqual(['host-1'])
  })

  test('Membership waits at a read-only server until one takes writes', async () => {
    const scene = new Scene({ members: 3, readOnlyMode: true })
    const connecting = scene.client({ readOnly: true })
    await scene.world.advance(2_000)
    const zk = await connecting
    const [one, two] = scene.ensemble.members
    one!.kill()
    two!.kill()
    await scene.world.advance(T / 3)
    const joining = outcome(new Group(zk, PATH).join({ name: 'host-1', timeout: Infinity }))
    await scene.world.advance(T)
    expect(joining.status).toBe('pending')
    one!.restart()
    two!.restart()
    await scene.world.advance(2 * T)
    expect(joining.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', '', zk.session.id]])
  })

  test('Membership waits for its own node of the session before the last one, however short its timeout is', async () => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { localExpiry: 1 } })
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one', timeout: 2_000 }))
    const first = zk.session.id
    scene.freeze(zk, 'replies')
    scene.refuse()
    await scene.world.advance(T)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    const second = zk.session.id
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    expect(new Set([0n, first, second, zk.session.id]).size).toBe(4)
    expect(nodes(scene)).toEqual([['host-1', 'one', first]])
    await scene.world.advance(2 * T)
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
    // The same once more: what was before it was present counts no longer, but its last session does.
    const third = zk.session.id
    scene.freeze(zk, 'replies')
    scene.refuse()
    await scene.world.advance(T)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(nodes(scene)).toEqual([['host-1', 'one', third]])
    await scene.world.advance(2 * T)
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
  })

  test('Membership.update is written, though a later one is refused', async () => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const me = await scene.done(new Group(zk, PATH).join({ name: 'host-1', data: 'one' }))
    const calls = [outcome(me.update('two')), outcome(me.update(new Uint8Array(2 ** 21)))]
    await scene.world.advance(1_000)
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
  })

  test('Group.join that is refused leaves nothing, where servers do not show its own node', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.faults.fail({ op: 'exists', path: `${PATH}/host-1`, code: 'NoAuth', times: Infinity })
    const joining = outcome(new Group(zk, PATH).join({ name: 'host-1' }))
    await scene.world.advance(T)
    expect([joining.status, nodes(scene)]).toEqual(['rejected', []])
  })

  test('Group.join that waits for a name which servers do not show keeps nothing of its looks', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/host-1`)
    scene.ensemble.faults.fail({ op: 'exists', path: `${PATH}/host-1`, code: 'NoAuth', times: Infinity })
    const node = new MemberNode({ zk, path: PATH }, `${PATH}/host-1`, zk.session)
    const looks = [await scene.done(node.create(new Uint8Array(), undefined))]
    looks.push(await scene.done(node.create(new Uint8Array(), undefined)))
    // What waits for a promise that never settles stays for as long as the promise.
    expect(new Set(looks.map(({ watch }) => watch.changed)).size).toBe(2)
  })
})
