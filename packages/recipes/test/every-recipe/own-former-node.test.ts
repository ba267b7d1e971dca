// An acquire whose node is deleted by another client queues again. What is left of its former contender must not block it.
import { describe, expect, test } from 'vitest'
import {
  type Acquirable,
  type Held,
  Lock,
  WaitTimeoutError,
  MultiLock,
  Semaphore,
  type ZooKeeper,
} from '../../src/index.ts'
import { OTHER_PATH, PATH } from '../support/every-recipe.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { ignore, loseReply } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** Longer than any pause before a new connection, in ms. */
const RECONNECTED = 2_000

interface Call {
  readonly call: string
  /** The request that creates what is granted. */
  readonly op: 'create2' | 'multi'
  readonly make: (zk: ZooKeeper) => Pick<Acquirable<Held>, 'acquire'>
}

const calls: readonly Call[] = [
  { call: 'Lock.acquire', op: 'create2', make: (zk) => new Lock(zk, PATH) },
  { call: 'MultiLock.acquire', op: 'multi', make: (zk) => new MultiLock(zk, [PATH, OTHER_PATH]) },
  {
    call: 'Semaphore.acquire of two permits',
    op: 'multi',
    make: (zk) => {
      const semaphore = new Semaphore(zk, PATH, { permits: 2 })
      return { acquire: (options) => semaphore.acquire({ ...options, count: 2 }) }
    },
  },
]

test.each(
  calls.flatMap(({ call, ...others }) => (['first', 'last'] as const).map((which) => [call, which, others] as const)),
)('%s never queues behind its former contender, whenever its %s node is deleted', async (_, which, { op, make }) => {
  let deleted = 0
  for (const isAnswered of [true, false]) {
    await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const zk = await scene.client()
      await scene.done((await scene.done(make(zk).acquire())).release())
      if (!isAnswered) loseReply(scene.ensemble.faults, { op })
      const ahead: string[] = []
      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = acquiring.status === 'pending'
        const node = scene.ensemble.nodes.ephemerals(zk.session.id).at(which === 'first' ? 0 : -1)
        if (!wasPending || node === undefined) return
        scene.ensemble.nodes.delete(node)
        deleted++
      })
      const acquiring = outcome(make(zk).acquire({ timeout: 0, onQueued: (place) => ahead.push(...place.ahead) }))
      await scene.world.settle()
      await scene.world.advance(RECONNECTED)
      expect(ahead).toEqual([])
      await scene.done(acquiring.value.release())
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
  }
  expect(deleted).toBeGreaterThan(2)
})

describe('MultiLock.acquire whose former nodes cannot be deleted', () => {
  const TIMEOUT = 5_000

  /** It has waited, one of its nodes was deleted, and the delete of the other one gets no answer. */
  async function vanished() {
    const scene = new Scene()
    const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, OTHER_PATH).acquire())
    const stopping = new AbortController()
    const { signal } = stopping
    const acquiring = await scene.start(new MultiLock(zk, [PATH, OTHER_PATH]).acquire({ signal, timeout: TIMEOUT }))
    ignore(scene.ensemble.faults, { op: 'multi', session: zk.session.id })
    await scene.world.advance(100)
    scene.ensemble.nodes.delete(`${PATH}/${scene.children(PATH)[0]}`)
    await scene.world.settle()
    expect(scene.ensemble.faults.rules).toEqual([])
    expect([acquiring.status, scene.children(OTHER_PATH)]).toMatchObject(['pending', { length: 2 }])
    return { scene, zk, acquiring, stopping }
  }

  test('MultiLock.acquire rejects at once when it is aborted meanwhile', async () => {
    const { scene, acquiring, stopping } = await vanished()
    stopping.abort()
    await scene.world.settle()
    expect(acquiring.error).toBe(stopping.signal.reason)
  })

  test('MultiLock.acquire rejects when its timeout is over meanwhile', async () => {
    const { scene, acquiring } = await vanished()
    await scene.world.advance(TIMEOUT)
    expect(WaitTimeoutError.is(acquiring.error)).toBe(true)
  })

  test('MultiLock.acquire rejects when its client is closed meanwhile', async () => {
    const { scene, zk, acquiring } = await vanished()
    const closing = outcome(zk.close())
    while (closing.status === 'pending') await scene.world.advance(1)
    expect(acquiring.error).toMatchObject({ code: 'Closed' })
  })
})
