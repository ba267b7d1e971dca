// E13: following the leader.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, type Held, type ZooKeeper } from '../../src/index.ts'
import { countedTo, LAST } from '../support/counters.ts'
import { atEveryFrame, atEveryMoment } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/leader'

/** The leaders, by label, as `leaders()` yielded them. */
class Observer {
  readonly seen: (string | undefined)[] = []
  readonly stopping = new AbortController()
  readonly watching: Outcome<void>
  /** The body waits for this after each view. */
  free: Promise<void> = Promise.resolve()

  constructor(zk: ZooKeeper) {
    this.watching = outcome(this.#watch(new LeaderElection(zk, PATH)))
  }

  /** The leaders, one after the other, whether stale or not. */
  get changes(): (string | undefined)[] {
    const labels = this.seen.map((label) => label?.replace(', stale', ''))
    return labels.filter((label, index) => index === 0 || label !== labels[index - 1])
  }

  async #watch(election: LeaderElection): Promise<void> {
    const leaders = election.watchLeader({ signal: this.stopping.signal })
    for await (const leader of leaders) {
      this.seen.push(leaders.isStale ? `${leader?.label}, stale` : leader?.label)
      await this.free
    }
  }
}

async function elect(scene: Scene, zk: ZooKeeper, data: string): Promise<Outcome<Held>> {
  return await scene.start(new LeaderElection(zk, PATH, { label: data }).campaign())
}

/** The only leader has resigned, and the answer that would show the observer who comes next takes a second. */
async function lookingWhoComesNext() {
  const scene = new Scene()
  const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const leading = await elect(scene, one, 'one')
  const observer = new Observer(zk)
  await scene.world.settle()
  scene.ensemble.faults.delayReply({ op: 'getChildren2', session: zk.session.id, ms: 1_000 })
  await scene.done(leading.value.release())
  return { scene, zk, observer }
}

describe('LeaderElection.watchLeader', () => {
  test('LeaderElection.watchLeader yields the leader, every change, and undefined without candidates (E13)', async () => {
    const scene = new Scene()
    const [zk, one, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const observer = new Observer(zk)
    await scene.world.settle()
    expect(observer.seen).toEqual([undefined])
    const first = await elect(scene, one, 'one')
    const second = await elect(scene, other, 'other')
    expect(observer.seen).toEqual([undefined, 'one'])
    await scene.done(first.value.release())
    expect(observer.seen).toEqual([undefined, 'one', 'other'])
    await scene.done(second.value.release())
    expect(observer.seen).toEqual([undefined, 'one', 'other', undefined])
    expect(observer.watching.status).toBe('pending')
  })

  test('LeaderElection.watchLeader that is dropped between two leaders leaves nothing at its signal', async () => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const { signal } = new AbortController()
    const listening = () => getEventListeners(signal, 'abort').length
    const leaders = new LeaderElection(zk, PATH).watchLeader({ signal })
    expect(await scene.done(leaders.next())).toEqual({ value: undefined, done: false })
    expect(listening()).toBe(0)
    outcome(leaders.next())
    await scene.world.settle()
    expect(listening()).toBe(1)
  })

  test('LeaderElection.watchLeader ends where its signal aborts between two leaders', async () => {
    const scene = new Scene()
    const [zk] = (await scene.clients(1)) as [ZooKeeper]
    const stopping = new AbortController()
    const leaders = new LeaderElection(zk, PATH).watchLeader(stopping)
    await scene.done(leaders.next())
    stopping.abort()
    expect(await scene.done(leaders.next())).toEqual({ value: undefined, done: true })
  })

  test('LeaderElection.watchLeader is woken by a change of the leader only, not by candidates that come and go', async () => {
    const scene = new Scene()
    const [zk, ...others] = await scene.clients(6)
    await elect(scene, others[0]!, 'leader')
    const observer = new Observer(zk!)
    await scene.world.settle()
    const since = scene.since()
    const abort = new AbortController()
    for (const other of others.slice(1)) outcome(new LeaderElection(other, PATH).campaign({ signal: abort.signal }))
    await scene.world.settle()
    abort.abort()
    await scene.world.settle()
    expect(since.notified.filter(({ session }) => session === zk!.session.id)).toEqual([])
    expect(since.ops(zk!.session.id)).toEqual([])
    expect(observer.seen).toEqual(['leader'])
  })

  test('LeaderElection.watchLeader yields the same leader once, whatever is written to its node', async () => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const leadership = await elect(scene, one, 'one')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.ensemble.nodes.setData(leadership.value.path, 'changed')
    await scene.world.settle()
    expect(observer.seen).toEqual(['one'])
    await scene.done(leadership.value.release())
    expect(observer.seen).toEqual(['one', undefined])
  })

  test('LeaderElection.watchLeader goes on when the path is deleted and made again', async () => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await elect(scene, one, 'one')
    const observer = new Observer(zk)
    await scene.world.advance(50)
    scene.ensemble.nodes.delete(PATH)
    await scene.world.settle()
    expect(observer.seen).toEqual(['one', undefined])
    await elect(scene, one, 'again')
    expect(observer.seen).toEqual(['one', undefined, 'again'])
  })

  test('LeaderElection.watchLeader ignores children that are no candidates', async () => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/readme`)
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.ensemble.nodes.create(`${PATH}/another`)
    await elect(scene, one, 'one')
    expect(observer.seen).toEqual([undefined, 'one'])
  })

  test('LeaderElection.watchLeader misses no change, whenever the leader goes while it looks (E13)', async () => {
    await atEveryMoment(
      async (moment) => {
        const scene = new Scene()
        const [zk, one, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
        const first = await elect(scene, one, 'one')
        await elect(scene, other, 'other')
        const observer = new Observer(zk)
        scene.world.interrupt(moment, () => scene.ensemble.nodes.delete(first.value.path))
        await scene.world.settle()
        if (scene.world.isInterruptionDue) return false
        expect(observer.seen.at(-1)).toBe('other')
        return true
      },
      { stride: 3 },
    )
  })

  test('LeaderElection.watchLeader misses no candidate of a path that is made while it looks (E13)', async () => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const { nodes } = scene.ensemble
      const candidate = await elect(scene, one, 'one')
      const { path } = candidate.value
      await scene.done(candidate.value.release())
      nodes.delete(PATH)
      let came = false
      scene.network.before(frame, () => {
        came = true
        nodes.create(PATH)
        nodes.create(path, { data: 'one' })
      })
      const observer = new Observer(zk)
      await scene.world.settle()
      if (!came) return false
      expect(observer.seen.at(-1)).toBe('one')
      observer.stopping.abort()
      await scene.world.settle()
      expect(scene.watches()).toEqual([])
      return true
    })
    expect(steps).toBeGreaterThan(3)
  })

  test.each([
    ['a cut connection', (scene: Scene, zk: ZooKeeper) => scene.cut(zk)],
    ['the end of its session', (scene: Scene, zk: ZooKeeper) => scene.expire(zk)],
  ])('LeaderElection.watchLeader goes on after %s, wherever it strikes', async (_, strike) => {
    for (let frame = 1; frame < 20; frame++) {
      const scene = new Scene()
      const [zk, one, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
      const first = await elect(scene, one, 'one')
      await elect(scene, other, 'other')
      scene.network.before(frame, () => strike(scene, zk))
      const observer = new Observer(zk)
      await scene.world.settle()
      await scene.world.advance(3_000)
      expect(observer.watching.error).toBeUndefined()
      expect(observer.changes).toEqual(['one'])
      expect(observer.seen.at(-1)).toBe('one')
      scene.network.calm()
      await scene.done(first.value.release())
      expect(observer.changes).toEqual(['one', 'other'])
      expect(observer.seen.at(-1)).toBe('other')
    }
  })

  test('LeaderElection.watchLeader goes on after a partition that costs the session', async () => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const first = await elect(scene, one, 'one')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.refuse()
    scene.freeze(zk)
    await scene.world.advance(3 * zk.session.timeout)
    await scene.done(first.value.release())
    scene.accept()
    await scene.world.advance(20_000)
    expect(observer.watching.error).toBeUndefined()
    expect(observer.seen).toEqual(['one', 'one, stale', undefined])
  })

  test.each([
    ['while there is a leader', 'one'],
    ['without a leader', undefined],
  ])(
    'LeaderElection.watchLeader tells at once that it has no server, and when it has one again, %s',
    async (_, label) => {
      const scene = new Scene()
      const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      if (label !== undefined) await elect(scene, one, label)
      const observer = new Observer(zk)
      await scene.world.settle()
      scene.refuse()
      scene.cut(zk)
      await scene.world.settle()
      expect(observer.seen).toEqual([label, `${label}, stale`])
      scene.accept()
      await scene.world.advance(5_000)
      expect(observer.seen).toEqual([label, `${label}, stale`, label])
      observer.stopping.abort()
      await scene.world.settle()
      expect(scene.watches().filter(({ session }) => session === zk.session.id)).toEqual([])
    },
  )

  test('LeaderElection.watchLeader tells that it has no server while it looks who comes next (E13)', async () => {
    const { scene, zk, observer } = await lookingWhoComesNext()
    expect(observer.seen).toEqual(['one'])
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    expect(observer.seen).toEqual(['one', 'one, stale'])
    scene.accept()
    await scene.world.advance(5_000)
    expect(observer.seen).toEqual(['one', 'one, stale', undefined])
  })

  test('LeaderElection.watchLeader tells that it has no server, whenever the next connection is lost while its loop is busy', async () => {
    let away = 0
    await atEveryFrame(async (frame) => {
      const { scene, zk, observer } = await lookingWhoComesNext()
      let goOn = () => {}
      observer.free = new Promise((resolve) => (goOn = resolve))
      scene.cut(zk)
      await scene.world.settle()
      expect(observer.seen).toEqual(['one', 'one, stale'])
      let isCut = false
      const cutAgain = () => {
        isCut = true
        scene.refuse()
        scene.cut(zk)
      }
      scene.network.before(frame, cutAgain)
      await scene.world.advance(3_000)
      const isLast = !isCut
      // All is answered on this connection.
      if (isLast) cutAgain()
      await scene.world.settle()
      goOn()
      await scene.world.settle()
      const isAway = zk.session.connection === undefined
      if (isAway) away++
      expect(observer.seen.at(-1)?.endsWith(', stale') ?? false).toBe(isAway)
      scene.accept()
      await scene.world.advance(5_000)
      expect(observer.seen.at(-1)).toBeUndefined()
      return !isLast
    })
    expect(away).toBeGreaterThan(2)
  })

  test.each(['ThrottledOp', 'OperationTimeout'] as const)('LeaderElection.watchLeader outlasts %s', async (code) => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await elect(scene, one, 'one')
    for (const op of ['getChildren2', 'getData'] as const)
      scene.ensemble.faults.fail({ op, code, session: zk.session.id })
    const observer = new Observer(zk)
    await scene.world.advance(5_000)
    expect(observer.seen).toEqual(['one'])
  })

  test.each([
    ['while there is a leader', true],
    ['without a leader', false],
  ])('LeaderElection.watchLeader ends when its signal aborts %s, and leaves no watch', async (_, hasLeader) => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const leading = hasLeader ? await elect(scene, one, 'one') : undefined
    const observer = new Observer(zk)
    await scene.world.settle()
    observer.stopping.abort()
    await scene.world.settle()
    expect(observer.watching.status).toBe('fulfilled')
    await (leading && scene.done(leading.value.release()))
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.watchLeader ends at every moment at which its signal aborts, and leaves no watch', async () => {
    const played = await atEveryMoment(
      async (moment) => {
        const scene = new Scene()
        const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
        const leading = await elect(scene, one, 'one')
        const observer = new Observer(zk)
        scene.world.interrupt(moment, () => observer.stopping.abort())
        await scene.world.settle()
        if (scene.world.isInterruptionDue) return false
        expect(observer.watching.status).toBe('fulfilled')
        await scene.done(leading.value.release())
        expect(scene.leftovers()).toEqual(nothing)
        return true
      },
      { stride: 3 },
    )
    expect(played).toBeGreaterThan(5)
  })

  test('LeaderElection.watchLeader ends at once when its signal aborts while the server is silent', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new LeaderElection(other, PATH).campaign())
    const aborting = new AbortController()
    const watching = outcome(
      (async () => {
        for await (const _ of new LeaderElection(zk, PATH).watchLeader({ signal: aborting.signal })) continue
      })(),
    )
    await scene.world.settle()
    scene.freeze(zk)
    aborting.abort()
    await scene.world.settle()
    expect(watching.status).toBe('fulfilled')
  })

  test('LeaderElection.watchLeader ends at once when its signal aborts while disconnected', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const observer = new Observer(zk)
    await scene.world.settle()
    observer.stopping.abort()
    await scene.world.settle()
    expect(observer.watching.status).toBe('fulfilled')
    scene.accept()
    await scene.world.advance(5_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.watchLeader left by break leaves no watch', async () => {
    const scene = new Scene()
    const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const leading = await elect(scene, one, 'one')
    const first = outcome(
      (async () => {
        for await (const leader of new LeaderElection(zk, PATH).watchLeader()) return leader?.label
        return 'none'
      })(),
    )
    await scene.world.settle()
    expect(first.value).toBe('one')
    await scene.done(leading.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.watchLeader refuses a signal that is not an AbortSignal', async () => {
    const election = new LeaderElection(await new Scene().client(), PATH)
    await expect(election.watchLeader({ signal: {} as AbortSignal }).next()).rejects.toThrow(TypeError)
  })

  test.each(['NoNode', 'ConnectionLoss', 'SessionExpired'] as const)(
    'LeaderElection.watchLeader ends when it is aborted with the %s of another call',
    async (code) => {
      const scene = new Scene()
      const zk = await scene.client()
      const controller = new AbortController()
      const next = outcome(new LeaderElection(zk, PATH).watchLeader({ signal: controller.signal }).next())
      controller.abort(new KeeperError(code))
      await scene.world.settle()
      expect(next.value.done).toBe(true)
    },
  )

  test('LeaderElection.watchLeader with the signal of a session ends with that', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { signal, id } = zk.session
    const next = outcome(new LeaderElection(zk, PATH).watchLeader({ signal }).next())
    scene.ensemble.sessions.expire(id)
    await scene.world.advance(60_000)
    expect(next.value.done).toBe(true)
  })
})

test('LeaderElection.leader at the end of the counter rejects when it is aborted with the ConnectionLoss of another call', async () => {
  const scene = countedTo(PATH, LAST)
  const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  await elect(scene, one, 'one')
  const controller = new AbortController()
  scene.ensemble.faults.loseRequest({ op: 'exists' })
  const asking = outcome(new LeaderElection(zk, PATH).leader({ signal: controller.signal }))
  await scene.world.settle()
  controller.abort(new KeeperError('ConnectionLoss'))
  await scene.world.settle()
  expect(asking.error).toBe(controller.signal.reason)
})

test.each(['leader', 'contenders'] as const)(
  'LeaderElection.%s that is aborted with the NoNode of another call rejects with it, wherever it strikes',
  async (method) => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk, one] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      await elect(scene, one, 'one')
      const controller = new AbortController()
      scene.network.before(frame, () => controller.abort(new KeeperError('NoNode')))
      const asking = outcome<unknown>(new LeaderElection(zk, PATH)[method]({ signal: controller.signal }))
      await scene.world.settle()
      const { aborted, reason } = controller.signal
      if (aborted && asking.status === 'rejected') expect(asking.error).toBe(reason)
      else expect([asking.value].flat()).toMatchObject([{ label: 'one' }])
      return aborted
    })
    expect(steps).toBeGreaterThan(2)
  },
)
