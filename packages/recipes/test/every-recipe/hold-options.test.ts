// What may be asked for, and what is refused before anything is sent.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type Held, Lock, type HoldOptions, type ZooKeeper } from '../../src/index.ts'
import { holdings, PATH } from '../support/every-recipe.ts'
import { nothing, Scene } from '../support/scene.ts'

const bad: [what: string, options: object, message: RegExp][] = [
  ['heldWhile', { heldWhile: 'always' }, /heldWhile must be one of confirmed, connected, sessionAlive, not always/],
  ['heldWhile null', { heldWhile: null }, /heldWhile must be one of/],
  ['acl', { acl: [] }, /acl must be a list of at least one { perms, id: { scheme, id } }/],
  ['entry of an acl', { acl: [{ perms: 31 }] }, /acl\[0\].id must be { scheme, id } of two strings/],
  ['followerRelayDelay', { followerRelayDelay: -1 }, /followerRelayDelay must be a number of ms, 0 or more, not -1/],
  ['followerRelayDelay', { followerRelayDelay: Number.NaN }, /followerRelayDelay must be a number of ms/],
  [
    'followerRelayDelay',
    { followerRelayDelay: '5' },
    /followerRelayDelay must be a number of ms, 0 or more, not the string "5"/,
  ],
]

describe.each(holdings)('$name', ({ name, make }) => {
  test.each(bad)(`${name} refuses a bad %s`, async (_, options, message) => {
    const zk = await new Scene().client()
    expect(() => make(zk, options as HoldOptions)).toThrow(message)
  })
})

/** Another client of the session that this one leaves, with all that `detach` gave, or with id and password alone. */
async function resumed(scene: Scene, what: 'all' | 'id and password'): Promise<ZooKeeper> {
  const { id, passwd, lastZxid, shortestTimeout } = await scene.done((await scene.client()).detach())
  return await scene.client({ session: { id, passwd, ...(what === 'all' && { lastZxid, shortestTimeout }) } })
}

type Acquire = (zk: ZooKeeper, options?: HoldOptions) => Promise<Held | undefined>

const acquires: [name: string, acquire: Acquire][] = [
  ...holdings.map(({ name, make }): [string, Acquire] => [name, (zk, options) => make(zk, options).acquire()]),
  ['Lock.tryAcquire', (zk, options) => new Lock(zk, PATH, options).tryAcquire()],
]

describe.each(acquires)('%s', (name, acquire) => {
  test(`${name} is not acquired in a session that was resumed without its shortest timeout, and nothing is sent`, async () => {
    const scene = new Scene()
    const zk = await resumed(scene, 'id and password')
    const since = scene.since()
    const refused = await scene.start(acquire(zk))
    expect(refused.error).toBeInstanceOf(TypeError)
    expect(refused.error).toHaveProperty('message', expect.stringMatching(/session\.shortestTimeout.*zk\.detach\(\)/))
    expect(since.ops()).toEqual([])
    const held = await scene.done(acquire(zk, { heldWhile: 'connected' }))
    expect(held?.isHeld()).toBe(true)
  })

  test(`${name} is acquired in a session that was handed on with all that detach gave`, async () => {
    const scene = new Scene()
    const held = await scene.done(acquire(await resumed(scene, 'all')))
    expect(held?.isHeld()).toBe(true)
  })
})

describe('Lock.acquire', () => {
  test.each(['onSuspended', 'onResumed'] as const)('Lock.acquire refuses an %s that is no function', async (name) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const acquiring = await scene.start(lock.acquire({ [name]: 'call me' as never }))
    expect(acquiring.error).toMatchObject({ name: 'TypeError', message: `${name} must be a function` })
    expect(since.ops()).toEqual([])
  })

  test('Lock.tryAcquire that is refused for its follower relay delay listens to no signal any more', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 4_000 })
    const { signal } = new AbortController()
    expect((await scene.start(new Lock(zk, PATH, { followerRelayDelay: 2_001 }).tryAcquire({ signal }))).status).toBe(
      'rejected',
    )
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('Lock.acquire refuses a follower relay delay with which no round would come in time, and sends nothing', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 4_000 })
    const since = scene.since()
    for (const lock of [
      new Lock(zk, PATH, { followerRelayDelay: 2_001 }),
      new Lock(zk, PATH, { followerRelayDelay: Infinity }),
    ]) {
      const expected = { name: 'RangeError', message: expect.stringMatching(/not exceed half .* 2000 ms here/) }
      expect((await scene.start(lock.acquire())).error).toMatchObject(expected)
      expect((await scene.start(lock.tryAcquire())).error).toMatchObject(expected)
    }
    expect(since.ops()).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([0, 100, 1_333, 1_700, 2_000])(
    'Lock.acquire with a follower relay delay of %i ms of T = 4 s is held on, at 7 rounds a T at most',
    async (followerRelayDelay) => {
      const scene = new Scene({ members: 3 })
      const zk = await scene.client({ sessionTimeout: 4_000 })
      const held = await scene.done(new Lock(zk, PATH, { followerRelayDelay }).acquire())
      const since = scene.since()
      await scene.world.advance(40_000)
      expect(held.isHeld()).toBe(true)
      expect(since.ops().filter((op) => op === 'sync').length).toBeLessThanOrEqual(70)
    },
  )
})
