// Calls that wait for servers, and not for other contenders, end within a timeout, whatever the servers do.
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, Lock, SharedLock, type ZooKeeper } from '../src/index.ts'
import { outcome } from './support/outside.ts'
import { nothing, Scene } from './support/scene.ts'

const PATH = '/locks/report'
const T = 2_000

interface Options {
  readonly timeout?: number
  readonly signal?: AbortSignal
}

const calls: [name: string, call: (zk: ZooKeeper, options?: Options) => Promise<unknown>][] = [
  ['Lock.tryAcquire', (zk, options) => new Lock(zk, PATH).tryAcquire(options)],
  ['Lock.contenders', (zk, options) => new Lock(zk, PATH).contenders(options)],
  ['SharedLock.read.tryAcquire', (zk, options) => new SharedLock(zk, PATH).read.tryAcquire(options)],
  ['SharedLock.write.tryAcquire', (zk, options) => new SharedLock(zk, PATH).write.tryAcquire(options)],
  ['SharedLock.contenders', (zk, options) => new SharedLock(zk, PATH).contenders(options)],
  ['LeaderElection.leader', (zk, options) => new LeaderElection(zk, PATH).leader(options)],
  ['LeaderElection.candidates', (zk, options) => new LeaderElection(zk, PATH).candidates(options)],
]

const outages: [name: string, strike: (scene: Scene, zk: ZooKeeper) => Promise<void>][] = [
  [
    'all servers are gone',
    async (scene, zk) => {
      scene.refuse()
      scene.cut(zk)
      await scene.world.settle()
    },
  ],
  [
    'the session has expired, and no server takes the next',
    async (scene, zk) => {
      scene.refuse()
      scene.cut(zk)
      await scene.world.advance(10 * T)
      expect(zk.session.id).toBe(0n)
    },
  ],
  [
    'its server is silent, and no other takes it',
    (scene, zk) => {
      scene.refuse()
      scene.freeze(zk)
      return scene.world.settle()
    },
  ],
  [
    'its server is too busy',
    (scene, zk) => {
      for (const op of ['getChildren2', 'sync'] as const) {
        scene.ensemble.faults.fail({ op, session: zk.session.id, code: 'ThrottledOp', times: 1_000 })
      }
      return scene.world.settle()
    },
  ],
]

describe.each(calls)('%s', (name, call) => {
  test.each(outages)(`${name} rejects with RequestTimeout after the session timeout where %s`, async (_, strike) => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    await strike(scene, zk)
    const calling = outcome(call(zk))
    await scene.world.advance(T - 1)
    expect(calling.status).toBe('pending')
    await scene.world.advance(1)
    expect(calling.error).toMatchObject({ code: 'RequestTimeout', op: name.split('.').at(-1), path: PATH })
    // Nothing of it goes on.
    scene.ensemble.faults.clear()
    const since = scene.since()
    scene.accept()
    await scene.world.advance(20 * T)
    // The session's touch is asked for once for all of its locks, as long as the session lives.
    expect(since.ops().filter((op) => op !== 'sync')).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([0, 500, T + 500])(`${name} takes a timeout of %i ms`, async (timeout) => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    scene.refuse()
    scene.cut(zk)
    const calling = outcome(call(zk, { timeout }))
    await scene.world.advance(Math.max(0, timeout - 1))
    if (timeout > 0) expect(calling.status).toBe('pending')
    await scene.world.advance(1)
    expect(KeeperError.is(calling.error, 'RequestTimeout')).toBe(true)
  })

  test(`${name} ends with its signal while no server answers`, async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    scene.freeze(zk)
    const stopping = new AbortController()
    const calling = outcome(call(zk, { signal: stopping.signal }))
    await scene.world.advance(100)
    stopping.abort(new Error('enough'))
    await scene.world.settle()
    expect(calling.error).toMatchObject({ message: 'enough' })
  })
})

describe('WriteHeld.downgrade', () => {
  const downgraded = async (options?: Options) => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    scene.refuse()
    scene.freeze(zk)
    const downgrading = outcome(write.downgrade(options))
    return { scene, zk, other, downgrading }
  }

  test.each([undefined, 700])(
    'WriteHeld.downgrade rejects with RequestTimeout, and leaves no node, where no server answers (timeout %s)',
    async (timeout) => {
      const { scene, zk, other, downgrading } = await downgraded(timeout === undefined ? {} : { timeout })
      await scene.world.advance((timeout ?? zk.session.timeout) - 1)
      expect(downgrading.status).toBe('pending')
      await scene.world.advance(1)
      expect(downgrading.error).toMatchObject({ code: 'RequestTimeout', op: 'downgrade' })
      scene.accept()
      const next = outcome(new SharedLock(other, PATH).write.acquire())
      await scene.world.advance(90_000)
      await scene.done(next.value.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('WriteHeld.downgrade ends with its signal, and leaves no node', async () => {
    const stopping = new AbortController()
    const { scene, other, downgrading } = await downgraded(stopping)
    await scene.world.advance(100)
    stopping.abort(new Error('enough'))
    await scene.world.settle()
    expect(downgrading.error).toMatchObject({ message: 'enough' })
    scene.accept()
    const next = outcome(new SharedLock(other, PATH).write.acquire())
    await scene.world.advance(90_000)
    await scene.done(next.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.downgrade whose signal is aborted before goes on as a writer', async () => {
    const scene = new Scene()
    const write = await scene.done(new SharedLock(await scene.client(), PATH).write.acquire())
    const refused = await scene.start(write.downgrade({ signal: AbortSignal.abort(new Error('enough')) }))
    expect(refused.error).toMatchObject({ message: 'enough' })
    expect(write.isHeld()).toBe(true)
  })
})
