import { describe, expect, test } from 'vitest'
import {
  type AcquireOptions,
  type Held,
  type HeldWhile,
  KeeperError,
  Lock,
  type LostError,
  WaitTimeoutError,
  type LostErrorCode,
  type ZooKeeper,
} from '../../src/index.ts'
import { acquirables, PATH } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

describe.each(acquirables)('$name.run', ({ name, make }) => {
  test(`${name}.run holds while its body runs, releases, and gives what the body gives`, async () => {
    const scene = new Scene()
    let held: Held | undefined
    const running = make(await scene.client()).run(async (each) => {
      held = each
      await Promise.resolve()
      expect(each.isHeld()).toBe(true)
      return 42
    })
    expect(await scene.done(running)).toBe(42)
    expect(held!.signal.reason).toMatchObject({ code: 'Released' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('of the body'))],
    [
      'throws',
      () => {
        throw new Error('of the body')
      },
    ],
  ])(`${name}.run whose body %s releases, and rejects with the body's error (L36)`, async (_, body) => {
    const scene = new Scene()
    const running = await scene.start(make(await scene.client()).run(body))
    expect(running.error).toEqual(new Error('of the body'))
    expect(scene.leftovers()).toEqual(nothing)
  })

  test(`${name}.run rejects with the body's error also when the release fails (L36)`, async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.faults.fail({ op: 'delete', code: 'NoAuth' })
    const running = await scene.start(make(zk).run(() => Promise.reject(new Error('of the body'))))
    expect(running.error).toEqual(new Error('of the body'))
  })
})

describe('Lock.run', () => {
  test('Lock.run rejects when only the release fails', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.faults.fail({ op: 'delete', code: 'NoAuth' })
    const running = await scene.start(new Lock(zk, PATH).run(() => 1))
    expect(KeeperError.is(running.error, 'NoAuth')).toBe(true)
  })

  test('Lock.run does not fail because its release is late: that goes on in the background', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { timeout } = zk.session
    const running = outcome(
      new Lock(zk, PATH).run(() => {
        scene.refuse()
        scene.cut(zk)
        return 'done'
      }),
    )
    await scene.world.advance(timeout - 1)
    expect(running.status).toBe('pending')
    await scene.world.advance(1)
    expect(running.value).toBe('done')
  })

  test.each<[HeldWhile, LostErrorCode, number]>([
    ['confirmed', 'LeaseLost', 60_000],
    ['connected', 'Disconnected', 0],
  ])(
    'Lock.run whose lock is lost meanwhile rejects with what its body gave, while %s (%s)',
    async (heldWhile, reason, time) => {
      const scene = new Scene()
      const zk = await scene.client()
      const running = outcome(
        new Lock(zk, PATH, { heldWhile }).run(
          (held) =>
            new Promise((resolve) =>
              held.signal.addEventListener('abort', () => resolve((held.signal.reason as LostError).code), {
                once: true,
              }),
            ),
        ),
      )
      await scene.world.settle()
      scene.refuse()
      scene.cut(zk)
      await scene.world.advance(time)
      scene.accept()
      await scene.world.advance(20_000)
      expect(running.error).toMatchObject({ name: 'LostError', code: reason, result: reason })
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  /** What a call rejects with that was given the signal: its reason, or an error of Node's with that as its cause. */
  const aborted: [string, (signal: AbortSignal) => unknown][] = [
    ['the reason of the signal', (signal) => signal.reason],
    ["Node's AbortError", (signal) => new Error('The operation was aborted', { cause: signal.reason })],
  ]
  test.each(aborted)('Lock.run whose body rejects with %s rejects with the loss', async (_, failure) => {
    for (const onLost of ['reject', 'ignore'] as const) {
      const scene = new Scene()
      const zk = await scene.client()
      let held: Held | undefined
      const body = (each: Held) => {
        held = each
        return new Promise((_, reject) => {
          each.signal.addEventListener('abort', () => reject(failure(each.signal)))
        })
      }
      const running = outcome(new Lock(zk, PATH).run(body, { onLost }))
      await scene.world.settle()
      scene.expire(zk)
      await scene.world.advance(10_000)
      if (onLost === 'ignore') {
        expect(running.error).toEqual(failure(held!.signal))
        continue
      }
      const reason = (held!.signal.reason as LostError).code
      expect(running.error).toMatchObject({ name: 'LostError', code: reason, result: undefined })
      expect(running.error).not.toBe(held!.signal.reason)
    }
  })

  test("Lock.run rejects with the body's own error, though the lock was lost too", async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const body = (held: Held) =>
      new Promise((_, reject) => {
        const own = new Error('of the body', { cause: new Error('its cause') })
        held.signal.addEventListener('abort', () => reject(own))
      })
    const running = outcome(new Lock(zk, PATH).run(body))
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(10_000)
    expect(running.error).toEqual(new Error('of the body'))
  })

  test('Lock.run does not call its body when it does not get the lock', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH).acquire())
    let calls = 0
    const running = outcome(new Lock(zk, PATH).run(() => calls++, { timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(WaitTimeoutError.is(running.error)).toBe(true)
    expect(calls).toBe(0)
  })

  test('Lock.run counts its timeout for the acquire only', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const running = outcome(
      new Lock(zk, PATH).run(
        (held) => new Promise((resolve) => zk.runtime.setTimer(10_000, () => resolve(held.isHeld()))),
        {
          timeout: 1_000,
        },
      ),
    )
    await scene.world.advance(11_000)
    expect(running.value).toBe(true)
  })

  test('Lock.run excludes every other run', async () => {
    const scene = new Scene()
    let running = 0
    let most = 0
    const clients = await scene.clients(3)
    const all = Array.from({ length: 12 }, (_, index) =>
      outcome(
        new Lock(clients[index % 3]!, PATH).run(async () => {
          most = Math.max(most, ++running)
          await clients[0]!.sync('/')
          running--
        }),
      ),
    )
    await scene.world.settle()
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'fulfilled'))
    expect(most).toBe(1)
  })

  test.each([
    ['no body', undefined, {}],
    ['a body that cannot be called', 42, {}],
    ['an option that cannot be', () => {}, { timeout: -1 }],
  ])('Lock.run refuses %s, and sends nothing', async (_, body, options: AcquireOptions) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const running = await scene.start(lock.run(body as never, options))
    expect(running.error).toBeInstanceOf(body === undefined || body === 42 ? TypeError : RangeError)
    expect(since.ops()).toEqual([])
  })
})
