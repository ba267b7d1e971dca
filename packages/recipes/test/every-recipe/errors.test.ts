// What the error classes of the recipes have in common.
import { inspect } from 'node:util'
import { beforeAll, describe, expect, expectTypeOf, test, vi } from 'vitest'
import * as first from '../../src/index.ts'
import {
  Barrier,
  type Blocker,
  DoubleBarrier,
  Group,
  Lock,
  LostError,
  type LostErrorCode,
  Mirror,
  RecipeError,
  Semaphore,
  WaitTimeoutError,
  ZkError,
  type ZooKeeper,
} from '../../src/index.ts'
import { Scene } from '../support/scene.ts'
import type { NameOwner, WaitTimeoutErrorWith } from '../../src/errors/wait-timeout-error.ts'

const PATH = '/path'
const taken = { timeout: 5, owner: { sessionId: 1n, since: 0, isOwn: false } }
const errors: readonly ZkError[] = [
  new LostError('LeaseLost', PATH, 'lost'),
  new WaitTimeoutError('NameTaken', PATH, 'taken', taken),
  new RecipeError('PermitsDiffer', PATH, 'differ', { permits: 3, stored: 5 }),
]
const classes = (recipes: typeof first) => [recipes.LostError, recipes.WaitTimeoutError, recipes.RecipeError]

describe('Errors of the recipes', () => {
  test.each(errors)('$name is a ZkError whose stack begins with its name', (error) => {
    expect(error).toBeInstanceOf(ZkError)
    expect(error.path).toBe(PATH)
    expect(error.stack!.split('\n')[0]).toBe(`${error.name}: ${error.message}`)
    expect(inspect(error)).toContain(`code: '${error.code}'`)
    // Only the fields of its code.
    expect(inspect(error)).not.toContain('undefined')
  })

  test('each class knows its own errors, also those of another copy of the package', async () => {
    vi.resetModules()
    const second = await import('../../src/index.ts')
    expect(second.LostError).not.toBe(LostError)
    const others = [
      new second.LostError('LeaseLost', PATH, 'lost'),
      new second.WaitTimeoutError('NameTaken', PATH, 'taken', taken),
      new second.RecipeError('PermitsDiffer', PATH, 'differ'),
    ]
    const itself = [
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]
    for (const made of [errors, others]) {
      for (const known of [classes(first), classes(second)]) {
        expect(made.map((error) => known.map((each) => error instanceof each))).toEqual(itself)
        expect(made.map((error) => known.map((each) => (each as unknown as typeof ZkError).is(error)))).toEqual(itself)
      }
      expect(made.map((error) => second.ZkError.is(error, 'LeaseLost', 'NameTaken'))).toEqual([true, true, false])
    }
    expect(second.WaitTimeoutError.is(errors[1], 'LockHeld')).toBe(false)
  })

  test('a class that a user derives knows its own errors only', () => {
    class BusyError extends WaitTimeoutError {}
    const busy = new BusyError('NameTaken', PATH, 'taken', taken)
    expect([busy instanceof BusyError, BusyError.is(busy, 'NameTaken'), WaitTimeoutError.is(busy)]).toEqual([
      true,
      true,
      true,
    ])
    expect([errors[1] instanceof BusyError, BusyError.is(errors[1])]).toEqual([false, false])
  })

  test('a code narrows the type of the error to the fields that it has', () => {
    const error = errors[1] as unknown
    if (WaitTimeoutError.is(error, 'NameTaken')) expectTypeOf(error.owner).toEqualTypeOf<NameOwner>()
    if (WaitTimeoutError.is(error, 'LockHeld')) {
      expectTypeOf(error.ahead).toEqualTypeOf<readonly string[]>()
      expectTypeOf(error.blocker).toEqualTypeOf<Blocker | undefined>()
    }
    if (WaitTimeoutError.is(error)) {
      switch (error.code) {
        case 'BarrierSet':
        case 'MembersMissing':
        case 'MembersPresent':
          expectTypeOf(error.present).toEqualTypeOf<readonly string[]>()
          break
        case 'NameTaken':
          expectTypeOf(error).toEqualTypeOf<WaitTimeoutErrorWith<'NameTaken'>>()
          expect(error.owner.sessionId).toBe(1n)
          break
        case 'LockHeld':
        case 'SlowAnswers':
          expectTypeOf(error.ahead).toEqualTypeOf<readonly string[]>()
      }
    }
    if (RecipeError.is(error, 'MirrorTooLarge')) expectTypeOf(error.found).toEqualTypeOf<number>()
    if (RecipeError.is(error, 'PermitsDiffer')) expectTypeOf(error.stored).toEqualTypeOf<number | undefined>()
    if (LostError.is(error, 'LeaseLost', 'NodeGone')) expectTypeOf(error.code).toEqualTypeOf<'LeaseLost' | 'NodeGone'>()
    if (error instanceof LostError) expectTypeOf(error.code).toEqualTypeOf<LostErrorCode>()
    // @ts-expect-error no code of a LostError
    expect(LostError.is(error, 'NameTake')).toBe(false)
  })
})

describe('WaitTimeoutError.code', () => {
  let scene: Scene
  let other: ZooKeeper
  let zk: ZooKeeper

  beforeAll(async () => {
    scene = new Scene()
    ;[other, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  })

  /** The error with which the call rejects. */
  async function late(call: (options: { timeout: number }) => Promise<unknown>): Promise<WaitTimeoutError> {
    const calling = await scene.start(call({ timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(calling.error).toBeInstanceOf(WaitTimeoutError)
    expect(calling.error).toMatchObject({ timeout: 1_000 })
    return calling.error as WaitTimeoutError
  }

  test('says for what the caller waited', async () => {
    await scene.done(new Lock(other, '/lock').acquire())
    await scene.done(new Barrier(other, '/barrier').set())
    await scene.done(new Group(other, '/group').join({ name: 'a' }))
    const pair = (client: ZooKeeper) => new DoubleBarrier(client, '/pair', { size: 2 })
    const missing = await late((options) => pair(zk).enter(options))
    expect(missing).toMatchObject({ code: 'MembersMissing', present: [expect.stringContaining('/pair/')] })
    const [entry] = await scene.done(Promise.all([pair(zk).enter(), pair(other).enter()]))
    const waits = [
      await late((options) => new Lock(zk, '/lock').acquire(options)),
      await late((options) => new Barrier(zk, '/barrier').wait(options)),
      await late((options) => entry.leave(options)),
      await late((options) => new Group(zk, '/group').join({ name: 'a', ...options })),
    ]
    expect(waits.map(({ code }) => code)).toEqual(['LockHeld', 'BarrierSet', 'MembersPresent', 'NameTaken'])
  })

  test('says SlowAnswers if no contender was ahead', async () => {
    scene.refuse()
    scene.cut(zk)
    const { code, ahead, position } = await late((options) => new Lock(zk, '/free').acquire(options))
    expect([code, ahead, position]).toEqual(['SlowAnswers', [], undefined])
  })
})

describe('RecipeError.code', () => {
  test('says what cannot be done', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    await scene.done((await scene.done(new Semaphore(zk, '/permits', { permits: 2 }).acquire())).release())
    const lock = new Lock(zk, '/lock', { reentrant: true })
    const failing: Promise<unknown>[] = [
      new Semaphore(zk, '/permits', { permits: 3 }).acquire(),
      new Mirror(zk, '/', { maxNodes: 1 }).open(),
      lock.run(() => lock.acquire()),
    ]
    const rejected = await Promise.all(failing.map((each) => scene.start(each)))
    await scene.world.advance(1_000)
    const codes = rejected.map(({ error }) => RecipeError.is(error) && error.code)
    expect(codes).toEqual(['PermitsDiffer', 'MirrorTooLarge', 'WouldDeadlock'])
  })
})
