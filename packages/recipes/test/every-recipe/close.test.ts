// L28: the client is closed while something is acquired, waited for, held or released.
import { describe, expect, test } from 'vitest'
import { KeeperError, Lock, type ZooKeeper } from '../../src/index.ts'
import { type CallName, calls, holdings, PATH } from '../support/every-recipe.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const gone = { nodes: [], watches: [], timers: 0 }
const callNames = Object.keys(calls) as CallName[]

describe.each(holdings)('$call of a client that is closed', ({ call, make, block }) => {
  test.each([
    ['without contention', false],
    ['behind a holder', true],
  ])(`${call} %s rejects with Closed wherever it strikes, or is lost (L28, P05)`, async (_, waits) => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const obstructing = waits ? await scene.done(block(holder)) : undefined
      let struck: 'never' | 'waiting' | 'holding' = 'never'
      scene.network.before(frame, () => {
        struck = acquiring.status === 'pending' ? 'waiting' : 'holding'
        void zk.close()
      })
      const acquiring = outcome(make(zk).acquire())
      await scene.world.settle()
      await (obstructing && scene.done(obstructing.release()))
      if (struck === 'never') return false
      if (acquiring.status === 'rejected') expect(KeeperError.is(acquiring.error, 'Closed')).toBe(true)
      else expect(acquiring.value.isHeld()).toBe(false)
      expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
      await scene.done(holder.close())
      expect(scene.leftovers()).toEqual(gone)
      return struck === 'waiting'
    })
    expect(steps).toBeGreaterThanOrEqual(4)
  })
})

describe('A client that is closed', () => {
  test.each(callNames)('%s on a closed client rejects at once, and sets no timer (L28)', async (name) => {
    const scene = new Scene()
    const zk = await scene.client()
    await scene.done(zk.close())
    const calling = outcome<unknown>(calls[name](zk))
    await scene.world.settle()
    expect(KeeperError.is(calling.error, 'Closed')).toBe(true)
    expect(scene.timers).toBe(0)
  })

  test.each<CallName>([
    'Lock.acquire',
    'Lock.tryAcquire',
    'SharedLock.read.acquire',
    'LeaderElection.campaign',
    'LeaderElection.watchLeader',
  ])('%s that pauses before it calls again rejects at the close, and leaves no timer (L28)', async (name) => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { maxWaiting: 1 } })
    // It fills the queue of this turn.
    const other = outcome(zk.exists('/a'))
    const calling = outcome<unknown>(calls[name](zk))
    await scene.world.settle()
    expect([other.status, calling.status]).toEqual(['fulfilled', 'pending'])
    await scene.done(zk.close())
    await scene.world.settle()
    expect(KeeperError.is(calling.error, 'Closed')).toBe(true)
    expect(scene.timers).toBe(0)
  })

  test('Held is lost with Closed, and its release resolves (L28)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.done(zk.close())
    expect(held.isHeld()).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'Closed' })
    expect((await scene.start(held.release())).status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(gone)
  })

  test('Held.release resolves while the client is being closed (L28)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const closing = outcome(zk.close())
    const releasing = await scene.start(held.release())
    expect(closing.status).toBe('fulfilled')
    expect(releasing.error).toBeUndefined()
    expect(releasing.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(gone)
  })

  test('Lock.run whose client is closed meanwhile rejects: its lock is lost', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const running = new Lock(zk, PATH).run(() => {
      void zk.close()
      return 'done'
    })
    const { error } = await scene.start(running)
    expect(error).toMatchObject({ name: 'LostError', code: 'Closed', result: 'done' })
  })

  test('Held is not held any more from the moment its client is closed', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const next = await scene.start(new Lock(other, PATH).acquire())
    // The close arrives, its answer does not: the ensemble gives the lock to the next.
    scene.ensemble.faults.loseReply({ op: 'closeSession', connection: 'open' })
    void zk.close()
    await scene.world.settle()
    expect(next.value.isHeld()).toBe(true)
    expect(held.isHeld()).toBe(false)
  })
})
