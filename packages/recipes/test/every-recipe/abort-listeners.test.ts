// However a use of a recipe ends, it leaves no listener behind: at the signals of the session, its detaching, its connections, the
// caller's, and those of the library's own.
import { expect, test } from 'vitest'
import { LeaderElection, Lock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { abortListeners } from '../support/abort-listeners.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const T = 6_000

interface Use {
  readonly scene: Scene
  readonly zk: ZooKeeper
  /** Holds the lock while the use is on, where the use asks for it. */
  readonly other: ZooKeeper
  readonly signal: AbortSignal
  readonly abort: () => void
}

/** Two at once, on two paths. */
const both = <Result>(use: (path: string) => Promise<Result>) => Promise.all([use(PATH), use(`${PATH}-too`)])
const ignored = () => {}

const uses: Record<string, (use: Use) => Promise<unknown>> = {
  'acquire and release': ({ zk, signal }) =>
    both(async (path) => (await new Lock(zk, path).acquire({ signal })).release()),
  run: ({ zk, signal }) => both((path) => new Lock(zk, path).run(() => {}, { signal })),
  'a body of run that throws': ({ zk, signal }) =>
    both((path) => new Lock(zk, path).run(() => Promise.reject(new Error('body')), { signal }).catch(ignored)),
  'a node that was deleted': ({ zk, signal }) =>
    both(async (path) => {
      const held = await new Lock(zk, path).acquire({ signal })
      await zk.delete(held.path)
      await held.release()
    }),
  'a lost connection': async ({ scene, zk, signal }) => {
    const held = await both((path) => new Lock(zk, path).acquire({ signal }))
    for (let time = 0; time < 2; time++) {
      scene.cut(zk)
      await scene.world.advance(T)
    }
    expect(held.map((each) => each.isHeld())).toEqual([true, true])
    await Promise.all(held.map((each) => each.release()))
  },
  'an expired session': async ({ scene, zk, signal }) => {
    const held = await both((path) => new Lock(zk, path).acquire({ signal }))
    scene.expire(zk)
    await scene.world.advance(T)
    await Promise.all(held.map((each) => each.release()))
  },
  'acquire behind another, aborted': async ({ scene, zk, other, signal, abort }) => {
    const held = await both((path) => new Lock(other, path).acquire())
    const acquiring = both((path) => new Lock(zk, path).acquire({ signal }).catch(ignored))
    await scene.world.advance(100)
    abort()
    await acquiring
    await Promise.all(held.map((each) => each.release()))
  },
  'acquire behind another, out of time': async ({ zk, other, signal }) => {
    const held = await both((path) => new Lock(other, path).acquire())
    await both((path) => new Lock(zk, path).acquire({ signal, timeout: 200 }).catch(ignored))
    await Promise.all(held.map((each) => each.release()))
  },
  'tryAcquire of what is free': ({ zk, signal }) =>
    both(async (path) => (await new Lock(zk, path).tryAcquire({ signal }))!.release()),
  'tryAcquire of what is held': async ({ zk, other, signal }) => {
    const held = await both((path) => new Lock(other, path).acquire())
    await both((path) => new Lock(zk, path).tryAcquire({ signal }))
    await Promise.all(held.map((each) => each.release()))
  },
  downgrade: ({ zk, signal }) =>
    both(async (path) => {
      const held = await new SharedLock(zk, path).write.acquire({ signal })
      await (await held.downgrade({ signal })).release()
    }),
  'downgrade, aborted': ({ zk, signal, abort }) =>
    both(async (path) => {
      const held = await new SharedLock(zk, path).write.acquire()
      const reading = held.downgrade({ signal })
      abort()
      await reading.catch(ignored)
      await held.release()
    }),
  'two readers': ({ zk, signal }) =>
    both(async (path) => {
      const lock = new SharedLock(zk, path)
      const readers = await Promise.all([lock.read.acquire({ signal }), lock.read.acquire({ signal })])
      await Promise.all(readers.map((each) => each.release()))
    }),
  'terms, left': ({ zk, signal }) =>
    both(async (path) => {
      for await (const _ of new LeaderElection(zk, path).terms({ signal })) break
    }),
  'leaders, left': ({ zk, signal }) =>
    both(async (path) => {
      for await (const _ of new LeaderElection(zk, path).watchLeader({ signal })) break
    }),
  'leaders, aborted': async ({ scene, zk, signal, abort }) => {
    const watching = both(async (path) => {
      for await (const _ of new LeaderElection(zk, path).watchLeader({ signal }));
    })
    await scene.world.advance(100)
    abort()
    await watching
  },
  'leaders that change': async ({ scene, zk, other, signal }) => {
    const leading = both(async (path) => {
      for (let term = 0; term < 3; term++) {
        const leadership = await new LeaderElection(other, path).campaign()
        await scene.world.advance(50)
        await leadership.release()
      }
    })
    await both(async (path) => {
      let changes = 0
      for await (const _ of new LeaderElection(zk, path).watchLeader({ signal })) if (++changes === 4) break
    })
    await leading
  },
  'contenders, leader and candidates': ({ zk, signal }) =>
    both(async (path) => {
      const election = new LeaderElection(zk, path)
      await Promise.all([new Lock(zk, path).contenders({ signal }), election.leader({ signal }), election.contenders()])
    }),
  'detach while something is held': async ({ zk, signal }) => {
    const held = await both((path) => new Lock(zk, path).acquire({ signal }))
    await zk.detach()
    expect(held.map((each) => each.isHeld())).toEqual([false, false])
  },
}

test.each(Object.entries(uses))('Recipes leave no listener to an abort behind %s', async (_, use) => {
  const scene = new Scene()
  const [zk, other] = [await scene.client({ sessionTimeout: T }), await scene.client({ sessionTimeout: T })]
  const aborting = new AbortController()
  const listeners = abortListeners()
  const using = outcome(use({ scene, zk, other, signal: aborting.signal, abort: () => aborting.abort() }))
  await scene.world.advance(4 * T)
  expect([using.status, listeners()]).toEqual(['fulfilled', 0])
})
