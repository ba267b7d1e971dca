// Barrier: programs wait while a node exists.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Barrier, WaitTimeoutError, type ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { eachFault, loseReply } from '../support/faults.ts'
import { laggard } from '../support/laggard.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene, sceneOfTwo } from '../support/scene.ts'

const PATH = '/app/maintenance'
const T = 4_000
const RECONNECTED = 2_000
const MUCH = 60_000

const prepared = (members?: number) => sceneOfTwo(members, { sessionTimeout: T })

const isSet = (scene: Scene) => scene.ensemble.nodes.get(PATH) !== undefined

describe('Barrier', () => {
  test('Barrier.wait resolves at once where the barrier is open, and when it is removed', async () => {
    const { scene, zk, other } = await prepared()
    const barrier = new Barrier(zk, PATH)
    await scene.done(barrier.wait())
    await scene.done(barrier.set())
    expect(await scene.done(barrier.isSet())).toBe(true)
    const waiting = await Promise.all([zk, other].map((each) => scene.start(new Barrier(each, PATH).wait())))
    expect(waiting.map(({ status }) => status)).toEqual(['pending', 'pending'])
    await scene.done(new Barrier(other, PATH).remove())
    expect(waiting.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(await scene.done(barrier.isSet())).toBe(false)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Barrier.set of a barrier that is set, and Barrier.remove of one that is not, change nothing', async () => {
    const { scene, zk } = await prepared()
    const barrier = new Barrier(zk, PATH)
    await scene.done(barrier.remove())
    await scene.done(barrier.set())
    const { czxid } = scene.ensemble.nodes.get(PATH)!.stat
    await scene.done(barrier.set())
    expect(scene.ensemble.nodes.get(PATH)!.stat).toMatchObject({ czxid, ephemeralOwner: 0n })
  })

  test('Barrier.wait misses no removal, even if the barrier is set again at once (B01)', async () => {
    const { scene, zk } = await prepared()
    const { nodes } = scene.ensemble
    nodes.create(PATH)
    const waiting = await scene.start(new Barrier(zk, PATH).wait())
    nodes.delete(PATH)
    nodes.create(PATH)
    await scene.world.settle()
    expect(waiting.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Barrier.wait misses no removal behind its first request, even if the barrier is set again at once', async () => {
    const { scene, zk } = await prepared()
    const { nodes } = scene.ensemble
    nodes.create(PATH)
    scene.network.latency = () => 50
    for (const removedAfter of [51, 75, 99, 120, 199]) {
      const waiting = outcome(new Barrier(zk, PATH).wait())
      await scene.world.advance(removedAfter)
      nodes.delete(PATH)
      nodes.create(PATH)
      await scene.world.advance(1_000)
      expect([removedAfter, waiting.status]).toEqual([removedAfter, 'fulfilled'])
    }
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each(['cut', 'expire'] as const)(
    'Barrier.wait misses no removal while it has no connection (%s)',
    async (how) => {
      for (const isSetAgain of [true, false]) {
        const { scene, zk } = await prepared()
        const { nodes } = scene.ensemble
        nodes.create(PATH)
        const waiting = await scene.start(new Barrier(zk, PATH).wait())
        scene.refuse()
        scene[how](zk)
        nodes.delete(PATH)
        if (isSetAgain) nodes.create(PATH)
        await scene.world.advance(RECONNECTED)
        scene.accept()
        await scene.world.advance(MUCH)
        expect(waiting.status).toBe('fulfilled')
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('Barrier.wait goes on when only the data of the node changes', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    const waiting = await scene.start(new Barrier(zk, PATH).wait())
    scene.ensemble.nodes.setData(PATH, 'x')
    await scene.world.settle()
    expect(waiting.status).toBe('pending')
    scene.ensemble.nodes.delete(PATH)
    await scene.world.settle()
    expect(waiting.status).toBe('fulfilled')
  })

  test.each(['leader', 'follower'] as const)(
    'Barrier.wait does not pass a barrier that was set before the call, at a %s that lags, and Barrier.remove removes it (B04)',
    async (role) => {
      const { scene, lagging, zk, other } = await laggard(role)
      lagging.lag(1_000)
      const setting = outcome(new Barrier(other, PATH).set())
      while (setting.status === 'pending') await scene.world.advance(1)
      expect(lagging.node(PATH)).toBeUndefined()
      const waiting = outcome(new Barrier(zk, PATH).wait())
      await scene.world.advance(5_000)
      expect(waiting.status).toBe('pending')
      await scene.done(new Barrier(other, PATH).remove())
      await scene.world.advance(5_000)
      expect(waiting.status).toBe('fulfilled')
      const again = outcome(new Barrier(other, PATH).set())
      while (again.status === 'pending') await scene.world.advance(1)
      const removing = outcome(new Barrier(zk, PATH).remove())
      await scene.world.advance(5_000)
      expect([removing.status, isSet(scene)]).toEqual(['fulfilled', false])
    },
  )

  test('Barrier.wait rejects with a WaitTimeoutError, and leaves no watch', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    const waiting = outcome(new Barrier(zk, PATH).wait({ timeout: 1_000 }))
    await scene.world.advance(999)
    expect(waiting.status).toBe('pending')
    await scene.world.advance(1)
    expect(WaitTimeoutError.is(waiting.error)).toBe(true)
    expect(waiting.error).toMatchObject({ path: PATH, present: [PATH] })
    expect(String(waiting.error)).toContain(`${PATH} did not open within 1000 ms: it was not removed`)
    expect(JSON.parse(JSON.stringify(waiting.error))).toMatchObject({ name: 'WaitTimeoutError', present: [PATH] })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Barrier.wait is aborted at every moment: it rejects with the reason, and leaves no watch', async () => {
    const played = await atEveryMoment(async (moment) => {
      const { scene, zk } = await prepared()
      scene.ensemble.nodes.create(PATH)
      const aborting = new AbortController()
      const waiting = outcome(new Barrier(zk, PATH).wait({ signal: aborting.signal }))
      scene.world.interrupt(moment, () => aborting.abort('no'))
      await scene.world.settle()
      if (scene.world.isInterruptionDue) return false
      expect(waiting.error).toBe('no')
      expect(scene.leftovers()).toEqual(nothing)
      return moment.received < 4
    })
    expect(played).toBeGreaterThan(3)
  })
})

describe('A Barrier whose answers are lost', () => {
  test.each(
    (['create2', 'delete', 'exists', 'multi'] as const).flatMap((op) =>
      eachFault.map(([name, fault]) => [op, name, fault] as const),
    ),
  )('Barrier.set, wait and remove outlast a %s that meets %s (B02)', async (op, _, fault) => {
    const { scene, zk } = await prepared()
    const barrier = new Barrier(zk, PATH)
    fault(scene.ensemble.faults, { op })
    const setting = outcome(barrier.set({ timeout: MUCH }))
    await scene.world.advance(10_000)
    expect([setting.status, isSet(scene)]).toEqual(['fulfilled', true])
    const waiting = outcome(barrier.wait())
    await scene.world.advance(10_000)
    const removing = outcome(barrier.remove({ timeout: MUCH }))
    await scene.world.advance(10_000)
    expect([removing.status, waiting.status, isSet(scene)]).toEqual(['fulfilled', 'fulfilled', false])
    scene.ensemble.faults.clear()
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Barrier.remove whose answer is lost does not remove a barrier that another program has set meanwhile (B03)', async () => {
    const { scene, zk } = await prepared()
    const { nodes, faults } = scene.ensemble
    nodes.create(PATH)
    loseReply(faults, { op: 'delete' })
    const removing = await scene.start(new Barrier(zk, PATH).remove())
    expect(isSet(scene)).toBe(false)
    nodes.create(PATH)
    await scene.world.advance(RECONNECTED)
    expect([removing.status, isSet(scene)]).toEqual(['fulfilled', true])
  })

  test('Barrier.set and remove reject with RequestTimeout after the session timeout', async () => {
    const { scene, zk } = await prepared()
    scene.refuse()
    scene.cut(zk)
    const calls = [new Barrier(zk, PATH).set(), new Barrier(zk, PATH).remove()].map(outcome)
    await scene.world.advance(T)
    for (const { error } of calls) expect(error).toMatchObject({ code: 'RequestTimeout', path: PATH })
  })

  test('Barrier.wait rejects with Closed when the client is closed', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    const waiting = await scene.start(new Barrier(zk, PATH).wait())
    await scene.done(zk.close())
    expect(waiting.error).toMatchObject({ code: 'Closed' })
  })
})

describe('What Barrier refuses', () => {
  test.each<[string, (zk: ZooKeeper) => unknown, typeof Error]>([
    ['no client', () => new Barrier({} as ZooKeeper, PATH), TypeError],
    ['the root', (zk) => new Barrier(zk, '/'), TypeError],
    ['an unknown option', (zk) => new Barrier(zk, PATH, { size: 3 } as object), TypeError],
    ['a timeout below 0', (zk) => new Barrier(zk, PATH).wait({ timeout: -1 }), RangeError],
    [
      'a signal that is not an AbortSignal',
      (zk) => new Barrier(zk, PATH).set({ signal: {} as AbortSignal }),
      TypeError,
    ],
    ['an unknown option of a call', (zk) => new Barrier(zk, PATH).remove({ force: true } as object), TypeError],
  ])('Barrier refuses %s before anything is sent', async (_, call, type) => {
    const { scene, zk } = await prepared()
    const since = scene.since()
    const calling = await scene.start((async () => await call(zk))())
    expect(calling.error).toBeInstanceOf(type)
    expect(since.ops()).toEqual([])
  })

  test('Barrier.remove rejects with NotEmpty where the node has children', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(`${PATH}/child`)
    expect((await scene.start(new Barrier(zk, PATH).remove())).error).toMatchObject({ code: 'NotEmpty' })
  })
})

describe('Barrier whose node the waiter may not read', () => {
  const SECRET = [{ perms: 31, id: { scheme: 'digest', id: 'owner:x' } }]

  /** From 3.8.4 and 3.9.2 on servers do not tell either that such a node exists. */
  const releases = [
    ['where servers send no events of it', false],
    ['where servers refuse to show it', true],
  ] as const

  async function closed(isRefused: boolean) {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create('/app')
    scene.ensemble.nodes.create(PATH, { acl: SECRET })
    const rule = { path: PATH, times: Infinity } as const
    if (isRefused) scene.ensemble.faults.fail({ ...rule, op: 'exists', code: 'NoAuth' })
    return { scene, zk }
  }

  /** Without an event. */
  function open(scene: Scene): void {
    scene.ensemble.faults.clear()
    scene.ensemble.faults.loseReply({ op: 'event', path: PATH, times: Infinity })
    scene.ensemble.nodes.delete(PATH)
  }

  test.each(releases)('Barrier.wait ends when it is removed, %s (B14)', async (_, isRefused) => {
    const { scene, zk } = await closed(isRefused)
    const waiting = await scene.start(new Barrier(zk, PATH).wait())
    await scene.world.advance(MUCH)
    expect(waiting.status).toBe('pending')
    open(scene)
    await scene.world.advance(RECONNECTED)
    expect(waiting.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Barrier.wait goes on when it learns which one it is', async () => {
    const { scene, zk } = await closed(true)
    const waiting = await scene.start(new Barrier(zk, PATH).wait())
    await scene.world.advance(RECONNECTED)
    // Servers show its Stat now: of another release, for instance.
    scene.ensemble.faults.clear()
    await scene.world.advance(MUCH)
    expect(waiting.status).toBe('pending')
    await scene.done(new Barrier(zk, PATH).remove())
    await scene.world.advance(RECONNECTED)
    expect([waiting.status, isSet(scene)]).toEqual(['fulfilled', false])
  })

  test('Barrier.remove deletes once, where servers refuse to show which one it is', async () => {
    const { scene, zk } = await closed(true)
    scene.network.latency = () => 10
    const removing = outcome(new Barrier(zk, PATH).remove())
    for (let ms = 0; isSet(scene) && ms < RECONNECTED; ms++) await scene.world.advance(1)
    scene.ensemble.nodes.create(PATH, { acl: SECRET })
    await scene.world.advance(RECONNECTED)
    expect([removing.status, isSet(scene)]).toEqual(['fulfilled', true])
  })

  test('Barrier.isSet is true where servers refuse to show it', async () => {
    const { scene, zk } = await closed(true)
    expect(await scene.done(new Barrier(zk, PATH).isSet())).toBe(true)
    const stopped = await scene.start(new Barrier(zk, PATH).isSet({ signal: AbortSignal.abort('no') }))
    expect(stopped.error).toBe('no')
  })

  test('Barrier.remove goes on when it learns which one it is', async () => {
    const { scene, zk } = await closed(true)
    scene.ensemble.faults.loseRequest({ op: 'delete', session: zk.session.id, connection: 'reset' })
    const removing = outcome(new Barrier(zk, PATH).remove())
    await scene.world.settle()
    scene.ensemble.faults.clear()
    await scene.world.advance(RECONNECTED)
    expect([removing.status, isSet(scene)]).toEqual(['fulfilled', false])
  })

  test.each(releases)('Barrier.remove removes it, %s', async (_, isRefused) => {
    const { scene, zk } = await closed(isRefused)
    await scene.done(new Barrier(zk, PATH).remove())
    expect(isSet(scene)).toBe(false)
  })
})

test.each(['wait', 'remove'] as const)(
  'Barrier.%s has no rejection that its caller does not get, where the client refuses the second of its calls',
  async (call) => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { maxWaiting: 3 } })
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const others = ['/a', '/b'].map((path) => outcome(zk.exists(path)))
    const uncaught: unknown[] = []
    const note = (error: unknown) => void uncaught.push(error)
    process.on('unhandledRejection', note)
    try {
      const calling = outcome(new Barrier(zk, PATH)[call]({ timeout: MUCH }))
      await scene.world.settle()
      await nextTurn()
      scene.accept()
      await scene.world.advance(RECONNECTED)
      expect([calling.status, ...others.map(({ status }) => status)]).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    } finally {
      process.off('unhandledRejection', note)
    }
    expect(uncaught).toEqual([])
  },
)
