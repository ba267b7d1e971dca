// The client may take its session for over before the ensemble ends it. Then the nodes still stand.
import { describe, expect, test } from 'vitest'
import { Counter, type Held, LeaderElection, Lock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { acquirables, holdings, PATH } from '../support/every-recipe.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'

/** Two ticks: here the ensemble keeps a session for up to 1.5 T. */
const T = 2 * TICK

/** Each of them alone. */
const recipes = acquirables.filter(({ isExclusive }) => isExclusive)

/** Lets the client give its session up. The servers have received its last heartbeats, so they keep the session for longer. */
async function giveUp(scene: Scene, zk: ZooKeeper): Promise<void> {
  const { session } = zk
  scene.freeze(zk, 'replies')
  scene.refuse()
  while (zk.session === session) await scene.world.advance(1)
  expect(scene.ensemble.sessions.get(session.id)).toBeDefined()
}

/** A session that is given up while the view /app holds the lock /lock in it. `next` goes on to the next session. */
async function givenUpInView() {
  const scene = new Scene()
  scene.ensemble.nodes.create('/app')
  const zk = await scene.client({ sessionTimeout: T })
  await scene.done(new Lock(zk.withChroot('/app'), '/lock').acquire())
  const first = zk.session.id
  await giveUp(scene, zk)
  const next = async () => {
    scene.accept()
    while (zk.session.connection === undefined) await scene.world.advance(1)
    await scene.world.settle()
  }
  return { scene, zk, first, next }
}

/** The ephemeral nodes of all sessions, but those of writers of counters. */
const nodesOf = (scene: Scene) => scene.ensemble.nodes.ephemerals()

describe('a session that only its client has given up', () => {
  test.each(recipes)('$name.release resolves when the node is gone, and not before', async ({ make }) => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const held = await scene.done(make(zk).acquire())
    await giveUp(scene, zk)
    const releasing = outcome(held.release())
    await scene.world.settle()
    expect([releasing.status, nodesOf(scene).length > 0]).toEqual(['pending', true])
    scene.accept()
    while (nodesOf(scene).length > 0) {
      expect(releasing.status).toBe('pending')
      await scene.world.advance(1)
    }
    await scene.world.settle()
    expect(releasing.status).toBe('fulfilled')
    expect(scene.ensemble.sessions.list()).toHaveLength(2)
  })

  test.each(recipes)('$name.tryAcquire does not see the former contender of its client', async ({ make }) => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    await scene.done(make(zk).acquire())
    const { session } = zk
    const trying: { status: string; value: Held | undefined }[] = []
    // It is called before the holder has learned of its loss.
    session.signal.addEventListener('abort', () => trying.push(outcome(make(zk).tryAcquire({ timeout: 60_000 }))))
    await giveUp(scene, zk)
    scene.accept()
    while (trying[0]!.status === 'pending') await scene.world.advance(1)
    expect(trying[0]!.value?.isHeld()).toBe(true)
    expect(nodesOf(scene)).toEqual(trying[0]!.value!.paths.toSorted())
  })

  test('Lock.tryAcquire does not see its former contender of a view with another chroot', async () => {
    const { scene, zk, first, next } = await givenUpInView()
    // The delete is repeated.
    scene.ensemble.faults.fail({ op: 'delete', code: 'ThrottledOp' })
    const trying = outcome(new Lock(zk, '/app/lock').tryAcquire({ timeout: 60_000 }))
    await next()
    while (trying.status === 'pending') await scene.world.advance(1)
    expect(trying.value?.isHeld()).toBe(true)
    expect(nodesOf(scene)).toEqual([trying.value!.path])
    expect(scene.ensemble.sessions.get(first)).toBeDefined()
  })

  test('Lock.tryAcquire does not wait for a former contender of the same path in another chroot', async () => {
    const { scene, zk, next } = await givenUpInView()
    scene.ensemble.nodes.create('/other')
    // The answer comes later, but the server takes requests meanwhile.
    scene.ensemble.faults.delayReply({ op: 'delete', ms: T })
    const since = scene.since()
    const trying = outcome(new Lock(zk.withChroot('/other'), '/lock').tryAcquire({ timeout: 60_000 }))
    await next()
    expect(trying.status).toBe('pending')
    expect(since.asked).toContainEqual(expect.objectContaining({ op: 'getChildren2', path: '/other/lock' }))
  })

  test.each(recipes)(
    '$name.acquire has one node, and does not wait for that of its former session',
    async ({ make }) => {
      const scene = new Scene()
      const zk = await scene.client({ sessionTimeout: T })
      const holder = await scene.client()
      const held = await scene.done(make(holder).acquire())
      const ahead: (readonly string[])[] = []
      const waiting = await scene.start(make(zk).acquire({ onQueued: (place) => ahead.push(place.ahead) }))
      await giveUp(scene, zk)
      await scene.world.settle()
      const others = nodesOf(scene).filter((path) => !held.paths.includes(path))
      scene.accept()
      while (ahead.length < 2 * held.paths.length) await scene.world.advance(1)
      // The former nodes are gone although the former session still lives.
      for (const path of others) expect(scene.ensemble.nodes.get(path)).toBeUndefined()
      await scene.done(held.release())
      expect(waiting.value.isHeld()).toBe(true)
      expect(ahead.flat().filter((path) => others.includes(path))).toEqual([])
    },
  )

  test.each(holdings.filter(({ isExclusive }) => isExclusive))(
    '$call never queues behind its own former node, whichever answers were missing when its session was given up',
    async ({ make }) => {
      const steps = await atEveryFrame(async (frame) => {
        const scene = new Scene()
        const zk = await scene.client({ sessionTimeout: T })
        await scene.done((await scene.done(make(zk).acquire())).release())
        const ahead: string[] = []
        let wasPending = false
        // What arrives from here on is executed, and not answered.
        scene.network.before(frame, () => {
          wasPending = acquiring.status === 'pending'
          scene.freeze(zk, 'replies')
        })
        const acquiring = outcome(make(zk).acquire({ onQueued: (place) => ahead.push(...place.ahead) }))
        await scene.world.settle()
        if (!wasPending) return false
        if (acquiring.status === 'pending') {
          await giveUp(scene, zk)
          scene.accept()
          while (acquiring.status === 'pending') await scene.world.advance(1)
        }
        expect(ahead).toEqual([])
        expect(nodesOf(scene)).toEqual(acquiring.value.paths.toSorted())
        return true
      })
      expect(steps).toBeGreaterThan(2)
    },
  )

  test('Lock.acquire deletes the node of a create that was not answered', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    await scene.done((await scene.done(new Lock(zk, PATH).acquire())).release())
    scene.freeze(zk, 'replies')
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    expect(nodesOf(scene)).toHaveLength(1)
    await giveUp(scene, zk)
    scene.accept()
    while (acquiring.status === 'pending') await scene.world.advance(1)
    expect(nodesOf(scene)).toEqual([acquiring.value.path])
    expect(scene.ensemble.sessions.list()).toHaveLength(2)
  })

  test('LeaderElection.campaign is granted as soon as the next session is there', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    await scene.done(new LeaderElection(zk, PATH).campaign())
    await giveUp(scene, zk)
    scene.accept()
    const campaigning = outcome(new LeaderElection(zk, PATH).campaign())
    while (zk.session.connection === undefined) await scene.world.advance(1)
    await scene.world.settle()
    expect(campaigning.value.isHeld()).toBe(true)
  })

  test('Counter.add leaves no writer node of the former session', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const counter = new Counter(zk, '/tickets')
    await scene.done(counter.add(1n))
    await giveUp(scene, zk)
    scene.accept()
    while (zk.session.connection === undefined) await scene.world.advance(1)
    await scene.world.settle()
    expect(nodesOf(scene)).toEqual([])
  })

  test('Held.release of a downgraded writer resolves when the node of the reader is gone', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const writer = await scene.done(new SharedLock(zk, PATH).write.acquire())
    const reader = await scene.done(writer.downgrade())
    await giveUp(scene, zk)
    const trying = outcome(new SharedLock(zk, PATH).write.tryAcquire({ timeout: 60_000 }))
    scene.accept()
    while (trying.status === 'pending') await scene.world.advance(1)
    expect(trying.value?.isHeld()).toBe(true)
    await scene.done(reader.release())
    await scene.done(trying.value!.release())
    expect(nodesOf(scene)).toEqual([])
  })

  test.each(recipes)(
    'ZooKeeper.detach of the next session waits until the nodes of the $name are deleted',
    async ({ name, make }) => {
      const scene = new Scene()
      const zk = await scene.client({ sessionTimeout: T })
      await scene.done(make(zk).acquire())
      const former = zk.session.id
      await giveUp(scene, zk)
      // The first delete gets lost with its connection, so the delete is still owed when the session is left.
      scene.ensemble.faults.loseRequest({ op: name === 'MultiLock' ? 'multi' : 'delete' })
      scene.network.latency = () => 5
      scene.accept()
      while (zk.session.connection === undefined) await scene.world.advance(1)
      const started = scene.world.now()
      const detaching = outcome(zk.detach())
      while (detaching.status === 'pending') await scene.world.advance(1)
      expect(detaching.status).toBe('fulfilled')
      expect(scene.world.now() - started).toBeLessThan(T / 2)
      expect(nodesOf(scene)).toEqual([])
      expect(scene.ensemble.sessions.get(former)).toBeDefined()
    },
  )

  test('Held.release leaves nothing when its client is detached or closed meanwhile', async () => {
    for (const end of ['detach', 'close'] as const) {
      const scene = new Scene()
      const zk = await scene.client({ sessionTimeout: T })
      const held = await scene.done(new Lock(zk, PATH).acquire())
      await giveUp(scene, zk)
      scene.accept()
      while (zk.session.connection === undefined) await scene.world.advance(1)
      const releasing = outcome(held.release())
      outcome<unknown>(zk[end]())
      await scene.world.advance(T)
      expect([releasing.status, nodesOf(scene)]).toEqual(['fulfilled', []])
    }
  })

  test('Held.release asks the next session for nothing if a server has said that the session is over', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const { session } = zk
    const since = scene.since()
    scene.expire(zk)
    while (zk.session === session || zk.session.connection === undefined) await scene.world.advance(1)
    await scene.done(held.release())
    expect(since.ops()).not.toContain('delete')
    expect(scene.leftovers()).toEqual(nothing)
  })
})
