// Locks that are re-entered: a `run` inside a `run` of the same object, in one chain of async calls.
import { describe, expect, test, vi } from 'vitest'
import { type Held, Lock, LostError, RecipeError, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

const storages = vi.hoisted(() => ({ made: 0 }))
vi.mock(import('node:async_hooks'), async (original) => {
  const hooks = await original()
  class AsyncLocalStorage<T> extends hooks.AsyncLocalStorage<T> {
    constructor() {
      super()
      storages.made++
    }
  }
  return { ...hooks, AsyncLocalStorage }
})

async function reentrant(scene: Scene): Promise<Lock> {
  return new Lock(await scene.client(), PATH, { reentrant: true })
}

/** A promise, and what resolves it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** The body of a run that goes on until its lock is lost. */
const untilLost = ({ signal }: Held) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })

describe('Lock.run, re-entrant', () => {
  test('Lock.run inside a run goes on with what the outer one holds, and asks nothing of the ensemble', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    await scene.done(lock.run(() => {}))
    const since = scene.since()
    const helds: Held[] = []
    const value = await scene.done(
      lock.run(async (outer) => {
        helds.push(outer)
        await Promise.resolve()
        return await lock.run(async (middle) => {
          helds.push(middle)
          return await lock.run((inner) => {
            helds.push(inner)
            expect(inner.isHeld()).toBe(true)
            return 42
          })
        })
      }),
    )
    expect(value).toBe(42)
    expect(new Set(helds).size).toBe(1)
    expect(helds).toHaveLength(3)
    expect(since.ops()).toEqual(['create2', 'getChildren2', 'delete'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run inside a run releases nothing when it ends, however it ends', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const running = lock.run(async (held) => {
      await lock.run(() => {})
      expect(held.isHeld()).toBe(true)
      await expect(lock.run(() => Promise.reject(new Error('of the inner body')))).rejects.toThrow('of the inner body')
      await expect(
        lock.run(() => {
          throw new Error('thrown')
        }),
      ).rejects.toThrow('thrown')
      expect(held.isHeld()).toBe(true)
    })
    expect((await scene.start(running)).status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run rejects with the error of an inner body that was not caught, and releases', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const running = await scene.start(lock.run(() => lock.run(() => Promise.reject(new Error('of the inner body')))))
    expect(running.error).toEqual(new Error('of the inner body'))
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run re-enters from a function that knows nothing of the outer run, behind timers and microtasks', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const helper = async () => {
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      return await lock.run(({ path }) => path)
    }
    const paths = await scene.done(
      lock.run(async ({ path }) => [path, await helper(), ...(await Promise.all([helper(), helper()]))]),
    )
    expect(new Set(paths).size).toBe(1)
  })

  test('Lock.run again after its end is a run of its own', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const tokens: bigint[] = []
    for (let each = 0; each < 3; each++)
      await scene.done(lock.run(({ fencingToken }) => void tokens.push(fencingToken)))
    expect(new Set(tokens).size).toBe(3)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run of two chains exclude each other', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const [first, second] = [gate(), gate()]
    const order: string[] = []
    const chain = (name: string, { opened }: { opened: Promise<void> }) =>
      outcome(
        lock.run(() =>
          lock.run(async () => {
            order.push(`${name} in`)
            await opened
            order.push(`${name} out`)
          }),
        ),
      )
    const chains = [chain('one', first), chain('two', second)]
    await scene.world.settle()
    expect(order).toEqual(['one in'])
    second.open()
    await scene.world.settle()
    expect(order).toEqual(['one in'])
    first.open()
    await scene.world.settle()
    expect(order).toEqual(['one in', 'one out', 'two in', 'two out'])
    expect(chains.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })

  test('Lock.run of two objects exclude each other, also inside one another', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const [one, other] = [1, 2].map(() => new Lock(zk, PATH, { reentrant: true })) as [Lock, Lock]
    const running = outcome(one.run(() => other.run(() => {}, { timeout: 1_000 })))
    await scene.world.advance(1_000)
    expect(running.error).toMatchObject({ name: 'WaitTimeoutError', blocker: { isOwn: true } })
    await scene.world.settle()
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run of two paths, inside one another, are two locks', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const [one, other] = ['/locks/a', '/locks/b'].map((path) => new Lock(zk, path, { reentrant: true })) as [Lock, Lock]
    const paths = await scene.done(one.run((a) => other.run((b) => one.run((again) => [a.path, b.path, again.path]))))
    expect(paths[0]).toBe(paths[2])
    expect(paths[1]).toMatch(/^\/locks\/b\//)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run inside a run refuses options that cannot be right, and a signal that is aborted', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const reason = new Error('of the caller')
    const refused = [{ timeout: -1 }, { signal: AbortSignal.abort(reason) }]
    const running = await scene.start(
      lock.run(async () => {
        const inner = refused.map((options) => lock.run(() => 'ran', options).catch((error: unknown) => error))
        return await Promise.all(inner)
      }),
    )
    expect(running.value).toEqual([expect.any(RangeError), reason])
  })

  test('Lock.run inside a run refuses what is no function, as every run does', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const running = await scene.start(lock.run(() => lock.run(undefined as never)))
    expect(running.error).toBeInstanceOf(TypeError)
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('Lock.run, re-entrant, whose tasks outlive it', () => {
  /** A task that a run has left behind: it enters when the gate opens. */
  async function leftBehind(
    scene: Scene,
    lock: Lock,
    opened: Promise<void>,
    isInner: boolean,
  ): Promise<Outcome<unknown>> {
    let task: Outcome<unknown> | undefined
    const leave = () => {
      task = outcome(opened.then(() => lock.run(() => 'entered')))
    }
    await scene.done(lock.run(() => (isInner ? lock.run(leave) : leave())))
    return task!
  }

  test.each([false, true])(
    'Lock.run tells LostError to a task that outlived it (left by an inner run: %s)',
    async (isInner) => {
      const scene = new Scene()
      const lock = await reentrant(scene)
      const { opened, open } = gate()
      const task = await leftBehind(scene, lock, opened, isInner)
      const since = scene.since()
      open()
      await scene.world.settle()
      expect(task.error).toBeInstanceOf(LostError)
      expect(task.error).toMatchObject({ code: 'Released' })
      expect(since.ops()).toEqual([])
    },
  )

  test('Lock.run tells LostError to a task that outlived it also while another chain holds', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const { opened, open } = gate()
    const task = await leftBehind(scene, lock, opened, false)
    await scene.done(lock.acquire())
    open()
    await scene.world.settle()
    expect(task.error).toBeInstanceOf(LostError)
  })

  test('Lock.run grants no other contender between the end of its body and its release', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const entered: Outcome<unknown>[] = []
    await scene.done(
      lock.run(async (held) => {
        // At every hop around the end of the body.
        void (async () => {
          for (let hop = 0; hop < 12; hop++) {
            await Promise.resolve()
            entered.push(outcome(lock.run(() => held.isHeld())))
          }
        })()
        await Promise.resolve()
        await Promise.resolve()
      }),
    )
    const ended = entered.findIndex(({ status }) => status === 'rejected')
    expect(ended).toBeGreaterThan(0)
    expect(entered.slice(0, ended).map((each) => each.value)).toEqual(Array.from({ length: ended }, () => true))
    expect(entered.slice(ended).every(({ error }) => error instanceof LostError)).toBe(true)
  })

  test('Lock.run re-enters from a task that an inner run left while the outer one runs on', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const { opened, open } = gate()
    const running = lock.run(async () => {
      let task: Promise<string> | undefined
      await lock.run(() => {
        task = opened.then(() => lock.run(() => 'entered'))
      })
      open()
      return await task
    })
    expect(await scene.done(running)).toBe('entered')
  })

  test('Lock.acquire in a task that an inner run left is refused while the outer one runs on', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const { opened, open } = gate()
    const running = await scene.start(
      lock.run(async () => {
        let task: Promise<Held> | undefined
        await lock.run(() => {
          task = opened.then(() => lock.acquire())
          task.catch(() => {})
        })
        open()
        await task
      }),
    )
    expect(running.error).toBeInstanceOf(RecipeError)
  })

  test('Lock.acquire in a task that outlived its run waits like any other', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const { opened, open } = gate()
    let task: Outcome<Held> | undefined
    await scene.done(
      lock.run(() => {
        task = outcome(opened.then(() => lock.acquire()))
      }),
    )
    open()
    await scene.world.settle()
    expect(task!.value.isHeld()).toBe(true)
  })
})

describe('Lock.tryRun, re-entrant', () => {
  test('Lock.tryRun inside a run uses the hold of the outer run', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const helds: Held[] = []
    const running = lock.run(async (outer) => {
      helds.push(outer)
      return await lock.tryRun((inner) => helds.push(inner))
    })
    expect(await scene.done(running)).toEqual({ ran: true, result: 2 })
    expect(new Set(helds).size).toBe(1)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.run inside a tryRun uses its hold', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    expect(await scene.done(lock.tryRun(() => lock.run(() => 42)))).toEqual({ ran: true, result: 42 })
  })

  test('Lock.tryRun inside a run refuses a signal that is aborted, and does not call its body', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const reason = new Error('changed my mind')
    let calls = 0
    const running = await scene.start(
      lock.run(() => lock.tryRun(() => void calls++, { signal: AbortSignal.abort(reason) })),
    )
    expect(running.error).toBe(reason)
    expect(calls).toBe(0)
  })
})

describe('Lock.acquire inside a re-entrant run', () => {
  test('Lock.acquire inside a run rejects with RecipeError at once, and sends nothing', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    let ops: unknown[] = []
    const running = await scene.start(
      lock.run(async () => {
        const since = scene.since()
        await lock.run(() => lock.acquire({ timeout: 1_000 })).finally(() => (ops = since.ops()))
      }),
    )
    expect(running.error).toBeInstanceOf(RecipeError)
    expect(running.error).toMatchObject({ code: 'WouldDeadlock', path: PATH })
    expect(String(running.error)).toContain('use run')
    expect(ops).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.tryAcquire inside a run is undefined, as outside', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    expect(await scene.done(lock.run(() => lock.tryAcquire()))).toBeUndefined()
  })

  test('Lock.acquire inside a run whose lock is lost queues anew: it would not wait for itself', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const { opened, open } = gate()
    const running = outcome(
      lock.run(
        async (held) => {
          await opened
          expect(held.isHeld()).toBe(false)
          const again = await lock.acquire()
          await again.release()
          return again.fencingToken > held.fencingToken
        },
        { onLost: 'ignore' },
      ),
    )
    await scene.world.advance(60)
    for (const path of scene.ensemble.nodes.ephemerals()) scene.ensemble.nodes.delete(path)
    await scene.world.settle()
    open()
    await scene.world.settle()
    expect(running.value).toBe(true)
  })

  test('Lock.acquire holds without a run around it: a run meanwhile waits', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const held = await scene.done(lock.acquire())
    const running = await scene.start(lock.run(() => 'entered'))
    expect(running.status).toBe('pending')
    await scene.done(held.release())
    expect(running.value).toBe('entered')
  })
})

describe('Lock.run, re-entrant, that loses its lock', () => {
  test.each<[string, (scene: Scene, zk: ZooKeeper) => unknown, string]>([
    [
      'whose node is deleted',
      ({ ensemble: { nodes } }, zk) => nodes.ephemerals(zk.session.id).forEach((path) => nodes.delete(path)),
      'NodeGone',
    ],
    ['whose client is closed', (_, zk) => zk.close(), 'Closed'],
  ])('Lock.run inside a run %s rejects with LostError, and its body is not called', async (_, strike, reason) => {
    const scene = new Scene()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH, { reentrant: true })
    const { opened, open } = gate()
    let calls = 0
    const running = outcome(lock.run(() => opened.then(() => lock.run(() => calls++))))
    await scene.world.advance(60)
    void strike(scene, zk)
    await scene.world.advance(1_000)
    open()
    await scene.world.settle()
    expect(running.error).toBeInstanceOf(LostError)
    expect(running.error).toMatchObject({ code: reason })
    expect(calls).toBe(0)
  })

  test('Lock.run tells the inner body by the signal of what both hold', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    const running = outcome(lock.run(() => lock.run(untilLost, { onLost: 'ignore' }), { onLost: 'ignore' }))
    await scene.world.advance(60)
    for (const path of scene.ensemble.nodes.ephemerals()) scene.ensemble.nodes.delete(path)
    await scene.world.settle()
    expect(running.value).toMatchObject({ code: 'NodeGone' })
  })

  test('Lock.run inside another rejects when the lock was lost before its body settled', async () => {
    const scene = new Scene()
    const lock = await reentrant(scene)
    let inner: unknown
    const running = outcome(
      lock.run(() => lock.run(untilLost).catch((error: unknown) => (inner = error)), { onLost: 'ignore' }),
    )
    await scene.world.advance(60)
    for (const path of scene.ensemble.nodes.ephemerals()) scene.ensemble.nodes.delete(path)
    await scene.world.settle()
    expect(running.value).toBe(inner)
    expect(inner).toMatchObject({ name: 'LostError', code: 'NodeGone', result: { code: 'NodeGone' } })
  })

  test.each(['reject', 'ignore'] as const)(
    'Lock.run that the outermost does not wait for has lost the lock with its release (onLost: %s)',
    async (onLost) => {
      const scene = new Scene()
      const lock = await reentrant(scene)
      const { opened, open } = gate()
      let inner: Outcome<string> | undefined
      await scene.done(
        lock.run(() => {
          inner = outcome(lock.run(() => opened.then(() => 'late'), { onLost }))
        }),
      )
      open()
      await scene.world.settle()
      if (onLost === 'ignore') expect(inner!.value).toBe('late')
      else expect(inner!.error).toMatchObject({ name: 'LostError', code: 'Released', result: 'late' })
    },
  )
})

describe('AsyncLocalStorage', () => {
  test('AsyncLocalStorage is made for re-entrant locks only: it costs every promise', async () => {
    const before = storages.made
    const scene = new Scene()
    const zk = await scene.client()
    for (const lock of [new Lock(zk, PATH), new Lock(zk, PATH, { reentrant: false })]) {
      await scene.done(lock.run(() => {}))
      await scene.done((await scene.done(lock.acquire())).release())
      await scene.done(lock.tryAcquire().then((held) => held?.release()))
    }
    expect(storages.made - before).toBe(0)
    expect(new Lock(zk, PATH, { reentrant: true }).path).toBe(PATH)
    expect(storages.made - before).toBe(1)
  })

  test('Lock.run that is not re-entrant waits for itself inside a run, until its patience ends', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const running = outcome(lock.run(() => lock.run(() => {}, { timeout: 1_000 })))
    await scene.world.advance(1_000)
    expect(running.error).toMatchObject({ name: 'WaitTimeoutError', blocker: { isOwn: true } })
    await scene.world.settle()
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([1, 'yes', null])('Lock refuses reentrant: %j', async (value) => {
    const zk = await new Scene().client()
    expect(() => new Lock(zk, PATH, { reentrant: value as never })).toThrow('reentrant must be true or false')
  })

  test('Lock.run inside another rejects with LostError where its body stops with the abort of the signal', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const lock = new Lock(zk, PATH, { reentrant: true })
    const stops = ({ signal }: Held) =>
      new Promise<never>((_, reject) => {
        const stop = () => reject(new Error('stopped', { cause: signal.reason }))
        signal.addEventListener('abort', stop)
      })
    let inner: Outcome<unknown> | undefined
    const running = outcome(
      lock.run(async () => {
        const stopped = lock.run(stops)
        inner = outcome(stopped)
        return await stopped
      }),
    )
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(1_000)
    expect([running.status, inner!.status]).toEqual(['rejected', 'rejected'])
    expect(LostError.is(inner!.error)).toBe(true)
  })
})
