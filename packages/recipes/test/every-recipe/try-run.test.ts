// L36, L38: tryRun, which runs its body or skips it.
import { describe, expect, test } from 'vitest'
import {
  type Held,
  type HeldWhile,
  KeeperError,
  Lock,
  type LostError,
  type LostErrorCode,
  Semaphore,
  type TryRunOptions,
  type ZooKeeper,
} from '../../src/index.ts'
import { acquirables, PATH } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** A body that goes on until its lock is lost, and resolves with why. */
const untilLost = ({ signal }: Held) =>
  new Promise<LostErrorCode>((resolve) => {
    signal.addEventListener('abort', () => resolve((signal.reason as LostError).code), { once: true })
  })

describe.each(acquirables)('$name.tryRun', ({ name, make, block }) => {
  test(`${name}.tryRun holds while its body runs, releases, and resolves with its result`, async () => {
    const scene = new Scene()
    let held: Held | undefined
    const running = make(await scene.client()).tryRun(async (each) => {
      held = each
      await Promise.resolve()
      return each.isHeld()
    })
    expect(await scene.done(running)).toEqual({ ran: true, result: true })
    expect(held!.signal.reason).toMatchObject({ code: 'Released' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test(`${name}.tryRun skips its body while another contender blocks it (L38)`, async () => {
    const scene = new Scene()
    const [other, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const blocking = await scene.done(block(other))
    let calls = 0
    expect(await scene.done(make(zk).tryRun(() => calls++))).toEqual({ ran: false })
    expect(calls).toBe(0)
    await scene.done(blocking.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test(`${name}.tryRun whose body throws releases, and rejects with its error (L36)`, async () => {
    const scene = new Scene()
    const running = await scene.start(
      make(await scene.client()).tryRun(() => {
        throw new Error('of the body')
      }),
    )
    expect(running.error).toEqual(new Error('of the body'))
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('Lock.tryRun', () => {
  test('Lock.tryRun of five processes at once runs in one of them, and four skip (L38)', async () => {
    const scene = new Scene()
    const clients = await scene.clients(5)
    let end = () => {}
    const ended = new Promise<string>((resolve) => {
      end = () => resolve('done')
    })
    const running = clients.map((zk) => outcome(new Lock(zk, PATH).tryRun(() => ended)))
    await scene.world.settle()
    expect(running.filter(({ status }) => status === 'pending')).toHaveLength(1)
    end()
    await scene.world.settle()
    const results = running.map(({ value }) => value)
    expect(results.filter(({ ran }) => ran)).toEqual([{ ran: true, result: 'done' }])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each<[HeldWhile, LostErrorCode, number]>([
    ['confirmed', 'LeaseLost', 60_000],
    ['connected', 'Disconnected', 0],
  ])(
    'Lock.tryRun that loses its lock rejects with the result of its body, while %s (%s)',
    async (heldWhile, reason, time) => {
      for (const onLost of ['reject', 'ignore'] as const) {
        const scene = new Scene()
        const zk = await scene.client()
        const running = outcome(new Lock(zk, PATH, { heldWhile }).tryRun(untilLost, { onLost }))
        await scene.world.settle()
        scene.refuse()
        scene.cut(zk)
        await scene.world.advance(time)
        scene.accept()
        await scene.world.advance(20_000)
        if (onLost === 'ignore') expect(running.value).toEqual({ ran: true, result: reason })
        else expect(running.error).toMatchObject({ name: 'LostError', code: reason, result: reason })
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('Lock.tryRun rejects if no server answers in time, and does not call its body', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.freeze(zk)
    let calls = 0
    const running = outcome(new Lock(zk, PATH).tryRun(() => calls++, { timeout: 100 }))
    await scene.world.advance(100)
    expect(KeeperError.is(running.error, 'RequestTimeout')).toBe(true)
    expect(calls).toBe(0)
  })

  test.each<[string, unknown, TryRunOptions & { onQueued?: unknown }]>([
    ['no body', undefined, {}],
    ['a body that cannot be called', 42, {}],
    ['an invalid timeout', () => {}, { timeout: -1 }],
    ['the options of a wait', () => {}, { onQueued: () => {} }],
  ])('Lock.tryRun refuses %s, and sends nothing', async (_, body, options) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const { error } = await scene.start(lock.tryRun(body as never, options as never))
    expect(String(error)).toMatch(/^(?:TypeError: tryRun|RangeError: timeout)/)
    expect(since.ops()).toEqual([])
  })
})

test('Semaphore.tryRun takes as many permits as it is asked for, and skips if fewer are free', async () => {
  const scene = new Scene()
  const semaphore = new Semaphore(await scene.client(), PATH, { permits: 3 })
  const both = semaphore.tryRun(async (held) => [held.permits, await semaphore.tryRun(() => 'never', { count: 2 })], {
    count: 2,
  })
  expect(await scene.done(both)).toEqual({ ran: true, result: [[0, 1], { ran: false }] })
})
