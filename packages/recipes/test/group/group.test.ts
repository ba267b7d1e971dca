// A member's node: made, kept, changed, given up.
import { describe, expect, test } from 'vitest'
import { Group, KeeperError, type Membership, LostError, WaitTimeoutError, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'

const PATH = '/workers'
/** Longer than any pause before a new connection or a new session, in ms. */
const RECONNECTED = 2_000
const T = 30_000

async function prepared(count = 2) {
  const scene = new Scene()
  const clients = await scene.clients(count)
  return { scene, zk: clients[0]!, other: clients[1]! }
}

async function joined(scene: Scene, zk: ZooKeeper, name: string, data = ''): Promise<Membership> {
  return await scene.done(new Group(zk, PATH).join({ name, data }))
}

/** Name, data and owner of each node of the group. */
function nodes(scene: Scene): [name: string, data: string, session: bigint][] {
  return scene.children(PATH).map((name) => {
    const { data, stat } = scene.ensemble.nodes.get(`${PATH}/${name}`)!
    return [name, Buffer.from(data).toString(), stat.ephemeralOwner]
  })
}

describe('Group.join', () => {
  test('Group.join makes an ephemeral node with the name and the data of the member', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'host-1:8080')
    expect(nodes(scene)).toEqual([['host-1', 'host-1:8080', zk.session.id]])
    expect([me.name, me.path]).toEqual(['host-1', `${PATH}/host-1`])
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
  })

  test('Group.join takes one round trip where the path exists', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    expect(await scene.roundTrips(new Group(zk, PATH).join())).toBe(1)
  })

  test('Group.join logs at level info that its client was closed, and at level error that its member was refused', async () => {
    for (const [end, expected] of [
      [(scene: Scene, zk: ZooKeeper) => scene.done(zk.close()), 'info member left: its client was closed'],
      [
        async (scene: Scene) => {
          scene.ensemble.faults.fail({ op: 'create2', code: 'NoAuth' })
          scene.ensemble.nodes.delete(`${PATH}/a`)
        },
        'error member lost',
      ],
    ] as const) {
      const scene = new Scene()
      const lines: string[] = []
      const zk = await scene.client({ logger: (level, message) => void lines.push(`${level} ${message}`) })
      await joined(scene, zk, 'a')
      await end(scene, zk)
      await scene.world.advance(RECONNECTED)
      expect(lines.filter((line) => /member (left|lost)/.test(line))).toEqual([expected.replace(' ', ' zk: ')])
    }
  })

  test('Group.join without a name uses a UUID', async () => {
    const { scene, zk } = await prepared()
    const me = await scene.done(new Group(zk, PATH).join())
    expect(me.name).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('Group.join waits for the node of a session that is about to expire: a process that starts again finds its own (G02)', async () => {
    const { scene, zk, other } = await prepared()
    await joined(scene, zk, 'host-1', 'before')
    scene.freeze(zk)
    scene.refuse()
    const joining = outcome(new Group(other, PATH).join({ name: 'host-1', data: 'after' }))
    await scene.world.advance(T - 1_000)
    expect(joining.status).toBe('pending')
    await scene.world.advance(3_000)
    expect(joining.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', 'after', other.session.id]])
  })

  test('Group.join rejects with a WaitTimeoutError after twice the session timeout when another member keeps the name (G03)', async () => {
    const { scene, zk, other } = await prepared()
    await joined(scene, zk, 'host-1')
    const joining = outcome(new Group(other, PATH).join({ name: 'host-1' }))
    await scene.world.advance(2 * T - 1)
    expect(joining.status).toBe('pending')
    await scene.world.advance(1)
    const { error } = joining
    expect(WaitTimeoutError.is(error, 'NameTaken') && error.owner).toMatchObject({
      sessionId: zk.session.id,
      isOwn: false,
    })
    expect(String(error)).toMatch(/session 0x[0-9a-f]+ has had it since 20/)
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', '', zk.session.id]])
    expect(scene.watches(other)).toEqual([])
  })

  test('Group.join waits as long as timeout says, and names a node of no session', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/host-1`)
    const joining = outcome(new Group(zk, PATH).join({ name: 'host-1', timeout: 700 }))
    await scene.world.advance(700)
    expect(WaitTimeoutError.is(joining.error, 'NameTaken') && joining.error.owner.sessionId).toBe(0n)
    expect(String(joining.error)).toContain('belongs to no session')
  })

  test('Group.join takes a name that becomes free, also where it may not read the node that had it', async () => {
    const { scene, zk, other } = await prepared()
    await scene.done(other.addAuth('digest', 'one:secret'))
    scene.ensemble.nodes.create(PATH)
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    const before = await scene.done(new Group(other, PATH, { acl }).join({ name: 'host-1' }))
    const joining = outcome(new Group(zk, PATH).join({ name: 'host-1' }))
    await scene.world.settle()
    await scene.done(before.release())
    await scene.world.advance(2_000)
    expect(joining.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', '', zk.session.id]])
  })

  test('Group.join of a name that the same client has rejects, and says that it is its own', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'first')
    const again = outcome(new Group(zk.withChroot('/'), PATH).join({ name: 'host-1', data: 'second', timeout: 500 }))
    await scene.world.advance(500)
    expect(WaitTimeoutError.is(again.error, 'NameTaken') && again.error.owner.isOwn).toBe(true)
    expect(nodes(scene)).toEqual([['host-1', 'first', zk.session.id]])
    await scene.done(me.release())
    expect(nodes(scene)).toEqual([])
  })

  test('Group.join of a name that the same client gives up gets it', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'first')
    const leaving = outcome(me.release())
    const again = await joined(scene, zk, 'host-1', 'second')
    expect(leaving.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', 'second', zk.session.id]])
    expect(again.state.name).toBe('present')
  })

  test('Group.join that is aborted leaves nothing', async () => {
    const { scene, zk, other } = await prepared()
    await joined(scene, zk, 'host-1')
    const aborting = new AbortController()
    const joining = outcome(new Group(other, PATH).join({ name: 'host-1', signal: aborting.signal }))
    await scene.world.settle()
    const reason = new Error('changed my mind')
    aborting.abort(reason)
    await scene.world.settle()
    expect(joining.error).toBe(reason)
    expect(scene.watches(other)).toEqual([])
    scene.ensemble.nodes.delete(`${PATH}/host-1`)
    await scene.world.settle()
    expect(nodes(scene).map(([, , session]) => session)).toEqual([zk.session.id])
  })

  test('Group.join without the right to create rejects with NoAuth', async () => {
    const { scene, zk } = await prepared()
    await scene.done(zk.create(PATH, '', { acl: [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }] }))
    const joining = await scene.start(new Group(zk, PATH).join())
    expect(KeeperError.is(joining.error, 'NoAuth')).toBe(true)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Group.join rejects with RequestTimeout when no server answers in time', async () => {
    const { scene, zk } = await prepared()
    scene.cut(zk)
    scene.refuse()
    const joining = outcome(new Group(zk, PATH).join({ timeout: 800 }))
    await scene.world.advance(800)
    expect(KeeperError.is(joining.error, 'RequestTimeout')).toBe(true)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([])
  })
})

describe('Membership', () => {
  test('Membership makes its node again in the next session, with the last data', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    await scene.done(me.update('two'))
    const before = zk.session.id
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    expect(zk.session.id).not.toBe(before)
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
    expect(me.signal.aborted).toBe(false)
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
  })

  test('Membership makes its node again at once when another client deletes it (G05)', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
  })

  test('Membership whose node is deleted again and again waits longer each time, up to 10 s', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    const pauses: number[] = []
    for (let times = 0; times < 10; times++) {
      scene.ensemble.nodes.delete(me.path)
      await scene.world.settle()
      let pause = 0
      for (; nodes(scene).length === 0; pause += 50) await scene.world.advance(50)
      pauses.push(pause)
    }
    expect(pauses).toEqual([0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    await scene.world.advance(10_000)
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    expect(nodes(scene)).toHaveLength(1)
  })

  test('Membership makes its path again when its parent is deleted', async () => {
    const { scene, zk } = await prepared()
    await joined(scene, zk, 'host-1', 'one')
    scene.ensemble.nodes.delete(PATH)
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
  })

  test('Membership leaves what another client writes to its node, until the next update', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.ensemble.nodes.setData(me.path, 'foreign')
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', 'foreign', zk.session.id]])
    await scene.done(me.update('two'))
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
  })

  test('Membership waits for the node of its own last session, which the ensemble may keep longer (G10)', async () => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { localExpiry: 1 } })
    const me = await joined(scene, zk, 'host-1', 'one')
    const before = zk.session.id
    scene.freeze(zk, 'replies')
    scene.refuse()
    // Requests arrive as long as the connection stands: the session lives at the server when the client gives it up.
    await scene.world.advance(T)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(zk.session.id).not.toBe(before)
    expect(nodes(scene)).toEqual([['host-1', 'one', before]])
    await scene.world.advance(2 * T)
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
  })

  test('Membership is present as soon as its client reaches a server again after 2 T (G10)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const me = await joined(scene, zk, 'host-1', 'one')
    const before = zk.session.id
    scene.freeze(zk)
    scene.refuse()
    await scene.world.advance(2 * T)
    expect(me.state).toMatchObject({ name: 'absent', cause: 'SessionExpired' })
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(zk.session.id).not.toBe(before)
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
  })

  test('Membership waits at most T and two ticks for its former node after the ensemble was down for 2 T (G10)', async () => {
    const scene = new Scene({ members: 3 })
    const zk = await scene.client()
    const me = await joined(scene, zk, 'host-1', 'one')
    const before = zk.session.id
    for (const member of scene.ensemble.members) member.kill()
    await scene.world.advance(2 * T)
    for (const member of scene.ensemble.members) member.restart()
    // The new leader starts the timeout of the former session over.
    await scene.world.advance(T)
    expect(zk.session.id).not.toBe(before)
    expect(nodes(scene)).toEqual([['host-1', 'one', before]])
    expect(me.state).toMatchObject({ name: 'absent', cause: 'SessionExpired' })
    await scene.world.advance(2 * TICK)
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
  })

  test('Membership ends with NameTaken when another member has its name after an expired session, and keeps it', async () => {
    const { scene, zk, other } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.ensemble.members[0]!.refuse()
    scene.expire(zk)
    await scene.world.settle()
    await joined(scene, other, 'host-1', 'another')
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(me.state).toMatchObject({ name: 'absent', cause: 'SessionExpired' })
    expect(me.signal.aborted).toBe(false)
    await scene.world.advance(2 * T)
    const { reason } = me.signal as { reason: LostError }
    expect(LostError.is(reason) && reason.code).toBe('NameTaken')
    expect(WaitTimeoutError.is(reason.cause, 'NameTaken') && reason.cause.owner.sessionId).toBe(other.session.id)
    expect(nodes(scene)).toEqual([['host-1', 'another', other.session.id]])
    expect(scene.watches(zk)).toEqual([])
  })

  test('Membership ends with Refused when the servers refuse its next node', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    await scene.done(zk.setACL(PATH, [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]))
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    const reason = me.signal.reason as LostError
    expect([reason.code, KeeperError.is(reason.cause, 'NoAuth')]).toEqual(['Refused', true])
    expect(me.state).toMatchObject({ name: 'ended', error: reason })
  })

  test('Membership of a client that is closed ends with Closed, and leaves nothing', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    await scene.done(zk.close())
    expect((me.signal.reason as LostError).code).toBe('Closed')
    expect(nodes(scene)).toEqual([])
    await scene.done(me.release())
    const update = await scene.start(me.update('late'))
    expect(update.error).toBe(me.signal.reason)
  })

  test('Membership of a session that is left ends with Closed, and its node goes before', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    await scene.done(zk.detach())
    expect((me.signal.reason as LostError).code).toBe('Closed')
    expect(nodes(scene)).toEqual([])
  })

  test('Membership costs no request while nothing happens', async () => {
    const { scene, zk } = await prepared()
    await joined(scene, zk, 'host-1')
    const since = scene.since()
    await scene.world.advance(3 * T)
    expect(since.ops()).toEqual([])
    expect(scene.watches(zk)).toEqual([{ table: 'data', path: `${PATH}/host-1`, session: zk.session.id }])
  })

  test('Membership.watchState yields the present state, each new one, and ends with the membership', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    const seen: string[] = []
    const following = outcome(
      (async () => {
        for await (const state of me.watchState()) seen.push(state.name === 'absent' ? state.cause : state.name)
      })(),
    )
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    await scene.done(me.release())
    expect(seen).toEqual(['present', 'SessionExpired', 'present', 'ended'])
    expect(following.status).toBe('fulfilled')
  })

  test('Membership.watchState ends where its signal aborts', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    const stopping = new AbortController()
    const states = me.watchState(stopping)
    await scene.done(states.next())
    const next = outcome(states.next())
    await scene.world.settle()
    stopping.abort()
    await scene.world.settle()
    expect(next.value).toEqual({ value: undefined, done: true })
  })
})

describe('Membership.update', () => {
  test('Membership.update resolves when the node holds the data', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    const update = outcome(me.update('two'))
    expect(nodes(scene)[0]![1]).toBe('one')
    await scene.world.settle()
    expect([update.status, nodes(scene)[0]![1]]).toEqual(['fulfilled', 'two'])
  })

  test('Membership.update keeps the bytes of the call, whatever the caller does with them later', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    const data = new Uint8Array([1])
    const updating = me.update(data)
    data[0] = 2
    await scene.done(updating)
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    expect([...scene.ensemble.nodes.get(me.path)!.data]).toEqual([1])
  })

  test('Membership.update: of several the last wins, and all of them resolve', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    const since = scene.since()
    const updates = ['one', 'two', 'three'].map((data) => outcome(me.update(data)))
    await scene.world.settle()
    expect(updates.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(nodes(scene)[0]![1]).toBe('three')
    expect(since.ops().filter((op) => op === 'setData').length).toBeLessThanOrEqual(2)
  })

  test('Membership.update while the member is absent is in its next node', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.expire(zk)
    await scene.world.settle()
    const update = outcome(me.update('two'))
    await scene.world.advance(RECONNECTED)
    expect(update.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([['host-1', 'two', zk.session.id]])
  })

  test('Membership.update that is too large rejects, and the member keeps what it had', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    const update = await scene.start(me.update(new Uint8Array(2 ** 21)))
    expect(update.error).toBeInstanceOf(RangeError)
    scene.ensemble.nodes.delete(me.path)
    await scene.world.settle()
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
  })

  test('Membership.update that is too large while the member is absent rejects, and the member comes back with what it had (G08)', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.expire(zk)
    await scene.world.settle()
    const update = outcome(me.update(new Uint8Array(2 ** 21)))
    await scene.world.advance(RECONNECTED)
    expect(update.error).toBeInstanceOf(RangeError)
    expect(nodes(scene)).toEqual([['host-1', 'one', zk.session.id]])
  })

  test('Membership.update that has no answer in time rejects with RequestTimeout, and is written later', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1', 'one')
    scene.cut(zk)
    scene.refuse()
    const update = outcome(me.update('two', { timeout: 300 }))
    await scene.world.advance(300)
    expect(KeeperError.is(update.error, 'RequestTimeout')).toBe(true)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(nodes(scene)[0]![1]).toBe('two')
  })
})

describe('Membership.release', () => {
  test('Membership.release resolves when the node is gone, and takes one round trip', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    expect(await scene.roundTrips(me.release())).toBe(1)
    expect(scene.leftovers()).toEqual(nothing)
    expect((me.signal.reason as LostError).code).toBe('Released')
    expect(await scene.roundTrips(me.release())).toBe(0)
  })

  test('Membership.release is called at the end of an await using block', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    await scene.done(me[Symbol.asyncDispose]())
    expect(nodes(scene)).toEqual([])
  })

  test('Membership.release of an absent member makes no node again', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    scene.expire(zk)
    await scene.world.settle()
    const leaving = outcome(me.release())
    await scene.world.advance(RECONNECTED)
    expect(leaving.status).toBe('fulfilled')
    expect(nodes(scene)).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Membership.release never deletes the node of another member', async () => {
    const { scene, zk, other } = await prepared()
    await joined(scene, other, 'host-1', 'another')
    const joining: Outcome<Membership> = outcome(new Group(zk, PATH).join({ name: 'host-1', timeout: 100 }))
    await scene.world.advance(200)
    expect(WaitTimeoutError.is(joining.error)).toBe(true)
    expect(nodes(scene)).toEqual([['host-1', 'another', other.session.id]])
  })

  test('Membership.release without the right to delete rejects with NoAuth, and deletes the node as soon as it may', async () => {
    const { scene, zk } = await prepared()
    const me = await joined(scene, zk, 'host-1')
    const anyone = { scheme: 'world', id: 'anyone' }
    await scene.done(zk.setACL(PATH, [{ perms: 1 | 4 | 16, id: anyone }]))
    const leaving = await scene.start(me.release())
    expect(KeeperError.is(leaving.error, 'NoAuth') && leaving.error.message).toContain('others see the member')
    await scene.done(zk.setACL(PATH, [{ perms: 31, id: anyone }]))
    await scene.world.advance(1_000)
    expect(nodes(scene)).toEqual([])
  })
})
