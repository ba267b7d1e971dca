// The code of docs/guide/from-other-locks.md does what that of the other libraries does.
import { once } from 'node:events'
import { hostname } from 'node:os'
import { connect, type Held, LeaderElection, Lock, LostError, WaitTimeoutError, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { control, importOrders, rebuildCache, reportUnlessRunning, settle } from '../src/guide/from-other-locks.ts'

describe('The code of the page about other locks', () => {
  let ensemble: TestEnsemble
  let zk: ZooKeeper

  beforeEach(async () => {
    ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
    zk = await connect(ensemble.connectString)
  })
  afterEach(async () => {
    expect(ensemble.nodes.ephemerals()).toEqual([])
    await zk.close()
    await ensemble.close()
  })

  const isLocked = async (path: string) => (await new Lock(zk, path).contenders()).some(({ isGranted }) => isGranted)
  const expire = (held: { readonly signal: AbortSignal }) => {
    ensemble.sessions.expire(zk.session.id)
    return once(held.signal, 'abort')
  }

  test('holds both locks while it books', async () => {
    const tokens: bigint[] = []
    const book = async (_: AbortSignal, token: bigint) => {
      tokens.push(token)
      expect(await Promise.all(['/locks/invoices', '/locks/orders'].map(isLocked))).toEqual([true, true])
    }
    await settle(zk, book)
    await settle(zk, book)
    expect(tokens[1]! > tokens[0]!).toBe(true)
  })

  test('rebuilds a cache while it holds the lock, and says when it was lost', async () => {
    await rebuildCache(zk, async () => expect(await isLocked('/locks/cache')).toBe(true))
    expect(await isLocked('/locks/cache')).toBe(false)
    await expect(rebuildCache(zk, async (signal) => void (await expire({ signal })))).rejects.toThrow(LostError)
  })

  test('reports, or leaves it to the process that does', async () => {
    const held = await new Lock(zk, '/locks/report').acquire()
    const report = vi.fn(() => Promise.resolve())
    expect(await reportUnlessRunning(zk, report)).toBe(false)
    expect(report).not.toHaveBeenCalled()
    await held.release()
    expect(await reportUnlessRunning(zk, report)).toBe(true)
    expect(report).toHaveBeenCalledTimes(1)
  })

  test('imports, and the others see which host does', async () => {
    await importOrders(zk, async () => {
      const error: unknown = await new Lock(zk, '/locks/import')
        .acquire({ timeout: 0 })
        .catch((reason: unknown) => reason)
      expect(WaitTimeoutError.is(error, 'LockHeld') && error.blocker?.label).toBe(hostname())
    })
  })

  test('controls again after a lost term, and throws the error of the work', async () => {
    const stopping = new AbortController()
    const terms: Held[] = []
    const work = async (held: Held) => {
      expect((await new LeaderElection(zk, '/leaders/controller').leader())?.label).toBe(hostname())
      if (terms.push(held) === 2) return stopping.abort()
      await expire(held)
      held.throwIfLost()
    }
    await control(zk, work, stopping.signal)
    expect(terms).toHaveLength(2)
    const failed = new Error('the work failed')
    await expect(control(zk, () => Promise.reject(failed), new AbortController().signal)).rejects.toBe(failed)
  })
})
