// Promise 5: whatever becomes of the reply to a create, there is one node of ours, or none, and we know which.
import { describe, expect, test } from 'vitest'
import { type Held, Lock, type ZooKeeper } from '../src/index.ts'
import { outcome, type Outcome } from './support/outside.ts'
import { nothing, Scene } from './support/scene.ts'

const PATH = '/locks/report'
/** Longer than any pause before a new connection. */
const RECONNECTED = 2_000

async function prepared(servers = 1): Promise<{ scene: Scene; zk: ZooKeeper; other: ZooKeeper }> {
  const scene = new Scene({ servers })
  // Both at the first server.
  for (const server of scene.ensemble.servers.slice(1)) server.refuse()
  scene.ensemble.create('/locks')
  scene.ensemble.create(PATH)
  const [zk, other] = await scene.clients(2)
  scene.ensemble.listen()
  return { scene, zk: zk!, other: other! }
}

/** Acquires behind this contender, and sees that it is behind: its place was kept, and it does not wait on itself. */
async function expectOneNode(scene: Scene, acquiring: Outcome<Held>, other: ZooKeeper): Promise<void> {
  expect(acquiring.value.isHeld()).toBe(true)
  const next = await scene.start(new Lock(other, PATH).acquire())
  expect(next.status).toBe('pending')
  expect(scene.ensemble.children(PATH)[0]).toBe(acquiring.value.path.slice(PATH.length + 1))
  expect(scene.ensemble.children(PATH)).toHaveLength(2)
  await scene.done(acquiring.value.release())
  expect(next.value.isHeld()).toBe(true)
  await scene.done(next.value.release())
  expect(scene.leftovers()).toEqual(nothing)
}

describe('Contender whose create was not answered', () => {
  test('Contender finds its node by its uuid, and keeps its place (L07)', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.on('create2', 'loseReply')
    const since = scene.ensemble.history.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [name] = scene.ensemble.children(PATH)
    await scene.world.advance(RECONNECTED)
    expect(acquiring.value.path).toBe(`${PATH}/${name}`)
    expect(acquiring.value.fencingToken).toBe(scene.ensemble.node(acquiring.value.path)!.czxid)
    // A sync before the first look, and a committed check before the grant.
    const ops = since.ops()
    expect(ops.filter((op) => op === 'create2')).toHaveLength(1)
    expect(ops.indexOf('sync')).toBeLessThan(ops.indexOf('getChildren2'))
    expect(ops.slice(-2)).toEqual(['multi', 'getData'])
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender keeps its place before one that came while it was away (L07)', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.on('create2', 'loseReply')
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
    scene.ensemble.faults.on('create2', 'loseRequest')
    const since = scene.ensemble.history.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    const creates = since.served.filter(({ op }) => op === 'create2').map(({ path }) => path)
    expect(creates).toHaveLength(2)
    expect(creates[0]).toBe(creates[1])
    await expectOneNode(scene, acquiring, other)
  })

  test.each([
    ['the request and then the reply are lost', 'loseRequest', 'loseReply'],
    ['both requests are lost', 'loseRequest', 'loseRequest'],
  ] as const)('Contender has one node when %s (L07)', async (_, first, second) => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.on('create2', first)
    scene.ensemble.faults.on('create2', second, { nth: 2 })
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(2 * RECONNECTED)
    expect(scene.ensemble.faults.left).toBe(0)
    await expectOneNode(scene, acquiring, other)
  })

  test.each(['sync', 'getChildren2', 'exists', 'multi'] as const)(
    'Contender goes on when the %s of its search is not answered either (L07)',
    async (op) => {
      const { scene, zk, other } = await prepared()
      scene.ensemble.faults.on('create2', 'loseReply')
      const acquiring = outcome(new Lock(zk, PATH).acquire())
      scene.ensemble.faults.on(op, 'loseReply')
      await scene.world.advance(2 * RECONNECTED)
      expect(scene.ensemble.faults.left).toBe(0)
      await expectOneNode(scene, acquiring, other)
    },
  )

  test('Contender that reconnects to a server that lags behind finds its node there (L08)', async () => {
    const { scene, zk, other } = await prepared(2)
    const [first, second] = scene.ensemble.servers
    second!.lag()
    scene.ensemble.faults.on('create2', 'loseReply')
    first!.refuse()
    const since = scene.ensemble.history.since()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    expect(since.served.slice(0, 3)).toMatchObject([
      { op: 'create2', server: first!.address },
      { op: 'sync', server: second!.address },
      { op: 'getChildren2', server: second!.address },
    ])
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(1)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender of whose two nodes the search finds both keeps the older (L08)', async () => {
    const { scene, zk, other } = await prepared(2)
    const [first, second] = scene.ensemble.servers
    // A sync at the second server does not help: its leader is one no more.
    second!.lag({ isCutOff: true })
    let older: string | undefined
    const since = scene.ensemble.history.since()
    scene.ensemble.faults.on('create2', 'loseReply')
    scene.ensemble.faults.on('create2', 'loseReply', { nth: 2 })
    first!.refuse()
    scene.ensemble.network.before(3, () => (older = scene.ensemble.children(PATH)[0]))
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(2)
    expect(acquiring.value.path).toBe(`${PATH}/${older}`)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender that makes a second node, and sees the first one ahead, keeps the older: it never waits on itself (L08)', async () => {
    const { scene, zk, other } = await prepared(2)
    const [first, second] = scene.ensemble.servers
    second!.lag({ isCutOff: true })
    let older: string | undefined
    const since = scene.ensemble.history.since()
    scene.ensemble.faults.on('create2', 'loseReply')
    first!.refuse()
    scene.ensemble.network.before(3, () => (older = scene.ensemble.children(PATH)[0]))
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(RECONNECTED)
    expect(since.ops().filter((op) => op === 'create2')).toHaveLength(2)
    expect(acquiring.value.path).toBe(`${PATH}/${older}`)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender whose session expires meanwhile has a new node, and nothing is left of the old (L09)', async () => {
    const { scene, zk, other } = await prepared()
    const { session } = zk
    scene.ensemble.faults.on('create2', 'loseReply')
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [old] = scene.ensemble.ephemerals(session.id)
    scene.ensemble.expire(session.id)
    await scene.world.advance(RECONNECTED)
    expect(zk.session).not.toBe(session)
    expect(scene.ensemble.ephemerals()).toEqual([acquiring.value.path])
    expect(acquiring.value.path).not.toBe(old)
    await expectOneNode(scene, acquiring, other)
  })

  test('Contender takes no node of another session for its own, even with its uuid', async () => {
    const { scene, zk, other } = await prepared()
    scene.ensemble.faults.on('create2', 'loseReply')
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.settle()
    const [name] = scene.ensemble.children(PATH)
    scene.ensemble.delete(`${PATH}/${name}`)
    scene.ensemble.create(`${PATH}/${name}`, { owner: other.session.id })
    await scene.world.advance(RECONNECTED)
    expect(acquiring.status).toBe('pending')
    expect(scene.ensemble.ephemerals(other.session.id)).toEqual([`${PATH}/${name}`])
    scene.ensemble.delete(`${PATH}/${name}`)
    await scene.world.settle()
    expect(acquiring.value.isHeld()).toBe(true)
    expect(scene.ensemble.ephemerals()).toEqual([acquiring.value.path])
  })
})

describe('Contender of a new session', () => {
  test('Contender of a new session is not granted on a node that a lagging server still shows of the old one (L05)', async () => {
    const { scene, zk } = await prepared(2)
    const [first, second] = scene.ensemble.servers
    const lock = new Lock(zk, PATH)
    const old = await scene.done(lock.acquire())
    const { session } = zk
    second!.lag()
    scene.ensemble.expire(session.id)
    first!.refuse()
    await scene.world.advance(RECONNECTED)
    expect(zk.session.connection?.server).toBe(second!.address)
    expect(second!.tree.get(old.path)).toBeDefined()

    // Without a write of ours the server shows the old node: somebody seems to be in the way.
    expect(await scene.done(lock.tryAcquire())).toBeUndefined()
    const held = await scene.done(lock.acquire())
    expect(held.path).not.toBe(old.path)
    expect(scene.ensemble.ephemerals()).toEqual([held.path])
    expect(old.isHeld()).toBe(false)
  })

  test('Contender of a new session waits for the old node while the ensemble keeps the old session (L06)', async () => {
    const { scene, zk } = await prepared()
    const lock = new Lock(zk, PATH)
    const old = await scene.done(lock.acquire())
    const { session } = zk
    // The client hears nothing and gives the session up; the ensemble has heard of it later.
    scene.ensemble.freeze(session.id)
    scene.ensemble.refuse()
    await scene.world.advance(session.timeout - 1_000)
    scene.ensemble.sessions.touch(scene.ensemble.sessions.get(session.id)!)
    await scene.world.advance(session.timeout / 3 + 2_000)
    expect(session.signal.aborted).toBe(true)
    expect(old.isHeld()).toBe(false)
    expect(scene.ensemble.ephemerals(session.id)).toEqual([old.path])

    scene.ensemble.listen()
    const acquiring = outcome(lock.acquire())
    await scene.world.advance(2_000)
    expect(zk.session.connection).toBeDefined()
    expect(acquiring.status).toBe('pending')
    await scene.world.advance(session.timeout)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(acquiring.value.fencingToken).toBeGreaterThan(old.fencingToken)
  })
})
