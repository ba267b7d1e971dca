// Promise 5: whatever becomes of the reply to a create, there is one node of ours, or none, and we know which.
import { describe, expect, test } from 'vitest'
import { type Held, Lock, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { loseReply, loseRequest } from '../support/faults.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'
/** Longer than any pause before a new connection. */
const RECONNECTED = 2_000

async function prepared(): Promise<{ scene: Scene; zk: ZooKeeper; other: ZooKeeper }> {
  const scene = new Scene()
  scene.ensemble.nodes.create(PATH)
  const [zk, other] = await scene.clients(2)
  return { scene, zk: zk!, other: other! }
}

/** The same with two members; returns also the one where the clients are not. */
async function preparedAt(role: 'leader' | 'follower') {
  const scene = new Scene({ members: 2 })
  const { members, nodes } = scene.ensemble
  const first = members.find((member) => member.role === role)!
  const second = members.find((member) => member !== first)!
  second.refuse()
  nodes.create(PATH)
  const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  second.accept()
  return { scene, zk, other, first, second }
}

/** Acquires behind this contender, and sees that it is behind: its place was kept, and it does not wait on itself. */
async function expectOneNode(scene: Scene, acquiring: Outcome<Held>, other: ZooKeeper): Promise<void> {
  expect(acquiring.value.isHeld()).toBe(true)
  const next = await scene.start(new Lock(other, PATH).acquire())
  expect(next.status).toBe('pending')
  expect(scene.children(PATH)[0]).toBe(acquiring.value.path.slice(PATH.length + 1))
  expect(scene.children(PATH)).toHaveLength(2)
  await scene.done(acquiring.value.release())
  expect(next.value.isHeld()).toBe(true)
  await scene.done(next.value.release())
  expect(scene.leftovers()).toEqual(nothing)
}

describe('Contender whose create was not answered', () => {
  test('Contender finds its node by its uuid, and keeps its place (L07)', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseReply({ op: 'create2' })
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [name] = scene.children(PATH)
    await scene.world.advance(RECONNECTED)
    expect(acquiring.value.path).toBe(`${PATH}/${name}`)
    expect(acquiring.value.fencingToken).toBe(scene.ensemble.nodes.get(acquiring.value.path)!.stat.czxid)
    // A sync before the first look, and a committed check before the grant.
    const ops = since.ops()
    expect(ops.filter((op) => op === 'create2')).toHaveLength(1)
    expect(ops.indexOf('sync')).toBeLessThan(ops.indexOf('getChildren2'))
    expect(ops.indexOf('getChildren2')).toBeLessThan(ops.indexOf('multi'))
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender keeps its place before one that came while it was away (L07)', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseReply({ op: 'create2' })
    const first = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const second = await scene.start(new Lock(other, PATH).acquire())
    expect(second.status).toBe('pending')
    await scene.world.advance(RECONNECTED)
    expect(first.value.isHeld()).toBe(true)
    expect(second.status).toBe('pending')
  })

  test('Contender makes its node when the create never arrived, with the same uuid (L07)', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseRequest({ op: 'create2' })
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    const creates = since.asked.filter(({ op }) => op === 'create2').map(({ path }) => path)
    expect(creates).toHaveLength(2)
    expect(creates[0]).toBe(creates[1])
    await expectOneNode(scene, acquiring, other)
  })

  test.each([
    ['the request and then the reply are lost', loseRequest, loseReply],
    ['both requests are lost', loseRequest, loseRequest],
  ])('Contender has one node when %s (L07)', async (_, first, second) => {
    const { scene, zk, other } = await prepared()
    first(scene.ensemble.faults, { op: 'create2' })
    second(scene.ensemble.faults, { op: 'create2', nth: 2 })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(2 * RECONNECTED)
    expect(scene.ensemble.faults.rules.length).toBe(0)
    await expectOneNode(scene, acquiring, other)
  })

  test.each([
    // The client's own is for `/`.
    ['sync', { op: 'sync', path: PATH }],
    // The first is that of any acquire.
    ['list', { op: 'getChildren2', nth: 2 }],
    ['exists', { op: 'exists' }],
    ['check', { op: 'multi' }],
  ] as const)('Contender goes on when the %s of its search is not answered either (L07)', async (_, request) => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseReply({ op: 'create2' })
    scene.ensemble.faults.loseReply(request)
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(2 * RECONNECTED)
    expect(scene.ensemble.faults.rules.length).toBe(0)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender finds its node where one call may wait, not two (L07)', async () => {
    const { scene } = await prepared()
    const zk = await scene.client({ advanced: { maxWaiting: 1 } })
    scene.ensemble.faults.loseReply({ op: 'create2' })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.children(PATH)).toHaveLength(1)
    const releasing = outcome(acquiring.value.release())
    await scene.world.advance(RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Contender that loses its connection between sync and list does not go by the list of a server that lags (L08)', async () => {
    const { scene, zk, other, first, second } = await preparedAt('leader')
    const { faults } = scene.ensemble
    second.refuse()
    second.lag(60_000)
    faults.loseReply({ op: 'create2' })
    // The first is that of any acquire, the second the search.
    faults.loseReply({ op: 'getChildren2', nth: 2 })
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    while (faults.rules.length > 0) await scene.world.advance(1)
    first.refuse()
    second.accept()
    await scene.world.advance(RECONNECTED)
    expect(acquiring.status).toBe('pending')
    second.catchUp()
    await scene.world.advance(RECONNECTED)
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(1)
    expect(since.asked.at(-1)).toMatchObject({ member: second.name })
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender that reconnects to a server that lags behind finds its node there (L08)', async () => {
    const { scene, zk, other, first, second } = await preparedAt('leader')
    second.lag(100)
    scene.ensemble.faults.loseReply({ op: 'create2' })
    first.refuse()
    const since = scene.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    expect(since.asked.slice(0, 3)).toMatchObject([
      { op: 'create2', member: first.name },
      { op: 'sync', member: second.name },
      { op: 'getChildren2', member: second.name },
    ])
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(1)
    second.catchUp()
    await expectOneNode(scene, acquiring, other)
  })

  // Servers see to it that it has one node at most when it searches. It does not count on that: here a second one is made
  // in its name.
  test('Contender of whose two nodes the search finds both keeps the older (L08)', async () => {
    const { scene, zk, other } = await prepared()
    const since = scene.since()
    scene.freeze(zk, 'replies')
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    const [older] = scene.children(PATH)
    await scene.start(zk.create(since.asked[0]!.path, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    expect(scene.children(PATH)).toHaveLength(2)
    await scene.world.advance(zk.session.timeout)
    expect(acquiring.value.path).toBe(`${PATH}/${older}`)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender that makes a second node, and sees the first one ahead, keeps the older: it never waits on itself (L08)', async () => {
    const { scene, zk, other } = await prepared()
    const since = scene.since()
    scene.ensemble.faults.loseRequest({ op: 'create2' })
    // The first is that of any acquire, the second the search.
    scene.ensemble.faults.delayReply({ op: 'getChildren2', nth: 2, ms: 100 })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    while (since.ops().filter((op) => op === 'getChildren2').length < 2) await scene.world.advance(10)
    await scene.start(zk.create(since.asked[0]!.path, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    const [older] = scene.children(PATH)
    await scene.world.advance(RECONNECTED)
    // Lost, made behind the search, and made by the contender that had found none.
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(3)
    expect(acquiring.value.path).toBe(`${PATH}/${older}`)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender whose session expires meanwhile has a new node, and nothing is left of the old (L09)', async () => {
    const { scene, zk, other } = await prepared()
    const { session } = zk
    scene.ensemble.faults.loseReply({ op: 'create2' })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [old] = scene.ensemble.nodes.ephemerals(session.id)
    scene.ensemble.sessions.expire(session.id)
    await scene.world.advance(RECONNECTED)
    expect(zk.session).not.toBe(session)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
    expect(acquiring.value.path).not.toBe(old)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender takes no node of another session for its own, even with its uuid', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseReply({ op: 'create2' })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [name] = scene.children(PATH)
    scene.ensemble.nodes.delete(`${PATH}/${name}`)
    await scene.done(other.create(`${PATH}/${name}`, '', { mode: 'EPHEMERAL' }))
    await scene.world.advance(RECONNECTED)
    expect(acquiring.status).toBe('pending')
    expect(scene.ensemble.nodes.ephemerals(other.session.id)).toEqual([`${PATH}/${name}`])
    scene.ensemble.nodes.delete(`${PATH}/${name}`)
    await scene.world.settle()
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
  })
})

describe('Contender of a new session', () => {
  test('Contender of a new session is not granted on a node that a lagging server still shows of the old one (L05)', async () => {
    const { scene, zk, first, second } = await preparedAt('leader')
    const lock = new Lock(zk, PATH)
    const old = await scene.done(lock.acquire())
    const { session } = zk
    second.lag(Infinity)
    second.refuse()
    scene.ensemble.sessions.expire(session.id)
    // The next session is made at the first server, and goes on at the second one.
    const made = scene.ensemble.faults.drop({ op: 'connect', session: 0n })
    while (made.count === 0) await scene.world.advance(1)
    first.refuse()
    second.accept()
    await scene.world.advance(RECONNECTED)
    expect(zk.session.connection?.server).toBe(second.address)
    expect(second.node(old.path)).toBeDefined()

    // Without a write of ours the server shows the old node: a contender seems to be ahead.
    expect(await scene.done(lock.tryAcquire())).toBeUndefined()
    const acquiring = await scene.start(lock.acquire())
    expect(acquiring.status).toBe('pending')
    second.catchUp()
    await scene.world.settle()
    expect(acquiring.value.path).not.toBe(old.path)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
    expect(old.isHeld()).toBe(false)
  })

  test('Contender of a new session deletes the old node while the ensemble keeps the old session (L06)', async () => {
    const { scene, zk } = await prepared()
    const lock = new Lock(zk, PATH)
    const old = await scene.done(lock.acquire())
    const { session } = zk
    // The client receives nothing and gives the session up; a server that starts again gives sessions their whole timeout.
    const [server] = scene.ensemble.members
    server!.kill()
    await scene.world.advance(session.timeout * (4 / 3) + 1_000)
    expect(session.signal.aborted).toBe(true)
    expect(old.isHeld()).toBe(false)
    server!.restart()
    expect(scene.ensemble.nodes.ephemerals(session.id)).toEqual([old.path])

    const acquiring = outcome(lock.acquire())
    await scene.world.advance(2_000)
    expect(zk.session.connection).toBeDefined()
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([acquiring.value.path])
    expect(acquiring.value.fencingToken).toBeGreaterThan(old.fencingToken)
  })
})

describe('Lock.acquire whose create a new leader did, looked for at the old one', () => {
  /** The old leader stood still, and answers once more as if it led: a sync, and a list that does not show the node. */
  async function misled(seed: number, end: (abort: AbortController, scene: Scene) => void) {
    const scene = new Scene({ members: 3, seed })
    const { ensemble, world } = scene
    ensemble.nodes.create('/locks')
    ensemble.nodes.create(PATH)
    const old = ensemble.leader!
    const [first, third] = ensemble.members.filter((member) => member !== old)
    old.refuse()
    third!.refuse()
    const zk = await scene.client({ sessionTimeout: 6_000 })
    await world.advance(1_510)
    old.freeze()
    while (ensemble.leader === undefined || ensemble.leader === old) await world.advance(1)
    const lost = ensemble.faults.loseReply({ op: 'create2', connection: 'reset' })
    const abort = new AbortController()
    const acquiring = outcome(new Lock(zk, PATH).acquire({ signal: abort.signal }))
    while (lost.count === 0) await world.advance(1)
    first!.refuse()
    old.accept()
    end(abort, scene)
    await world.advance(1_000)
    old.thaw()
    await world.advance(500)
    first!.accept()
    third!.accept()
    await world.advance(30_000)
    expect(zk.session.signal.aborted).toBe(false)
    return { scene, acquiring }
  }

  test('Lock.acquire that is aborted meanwhile leaves no node (L07, L11)', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { scene, acquiring } = await misled(seed, (abort) => abort.abort())
      expect(acquiring.status).toBe('rejected')
      expect(scene.ensemble.nodes.ephemerals(), `seed ${seed}`).toEqual([])
    }
  })

  test('Lock.acquire whose next create is refused for good has the node all the same, or leaves none (L07)', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { scene, acquiring } = await misled(seed, (_, { ensemble }) => {
        ensemble.faults.fail({ op: 'create2', code: 'NoAuth', times: Infinity })
      })
      const left = acquiring.status === 'fulfilled' ? [acquiring.value.path] : []
      expect(scene.ensemble.nodes.ephemerals(), `seed ${seed}`).toEqual(left)
    }
  })
})

describe('A create that is executed after all', () => {
  /** The first create does not arrive. It is executed when another one has been answered. */
  async function acquiredWithLateNode(make: (zk: ZooKeeper) => Promise<Held>, folder: string) {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.loseRequest({ op: 'create2' })
    const since = scene.since()
    const acquiring = outcome(make(zk))
    await scene.world.advance(2 * RECONNECTED)
    const held = acquiring.value
    const { path } = since.asked.find(({ op }) => op === 'create2')!
    const late = await scene.done(zk.create(path, '', { mode: 'EPHEMERAL_SEQUENTIAL' }))
    expect(late.path.startsWith(`${folder}/_c_`)).toBe(true)
    return { scene, other, held }
  }

  test('Lock.release deletes its node too, so that it does not block the queue (L07)', async () => {
    const { scene, other, held } = await acquiredWithLateNode((zk) => new Lock(zk, PATH).acquire(), PATH)
    const next = await scene.start(new Lock(other, PATH).acquire())
    await scene.done(held.release())
    await scene.world.settle()
    expect(next.value.isHeld()).toBe(true)
    await scene.done(next.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('SemaphoreHeld.release deletes its node too, so that it does not block the queue (L07)', async () => {
    const make = (zk: ZooKeeper) => new Semaphore(zk, PATH, { permits: 1 }).acquire()
    const { scene, other, held } = await acquiredWithLateNode(make, `${PATH}/locks`)
    const next = await scene.start(new Semaphore(other, PATH).acquire())
    await scene.done(held.release())
    await scene.world.settle()
    expect(next.value.isHeld()).toBe(true)
    await scene.done(next.value.release())
    expect([...scene.children(`${PATH}/locks`), ...scene.children(`${PATH}/leases`)]).toEqual([])
  })

  test('Lock.release looks for none if every create was answered', async () => {
    const { scene, zk } = await prepared()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const since = scene.since()
    await scene.done(held.release())
    expect(since.ops()).not.toContain('getChildren2')
  })

  test('Lock.release ends with the session while it looks for them', async () => {
    const { scene, held } = await acquiredWithLateNode((zk) => new Lock(zk, PATH).acquire(), PATH)
    scene.ensemble.faults.loseReply({ op: 'sync' })
    const releasing = outcome(held.release())
    await scene.world.settle()
    scene.ensemble.sessions.expire(held.session.id)
    await scene.world.advance(2 * RECONNECTED)
    expect(releasing.status).toBe('fulfilled')
    expect(scene.children(PATH)).toEqual([])
  })
})
