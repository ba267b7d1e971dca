import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  type Acquirable,
  type Held,
  LeaderElection,
  Lock,
  LockLostError,
  LockTimeoutError,
  MultiLock,
  Semaphore,
  SharedLock,
} from '@zk/recipes'
import type { ZooKeeper } from '@zk/client'
import { until } from '../src/ensemble/index.ts'
import { OpCode, type Proxy } from '../src/proxy/index.ts'
import { caughtUp, newChroot, newClient, newProxy, rejection } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { Stopwatch } from './support/stopwatch.ts'

const { create2, delete: deleteNode, getChildren2, getData, multi, notification, removeWatches, sync } = OpCode

/** How late a timer may be on a busy machine, in ms. */
const SLACK = 900

describeEnsemble('recipes on the wire', (ensemble) => {
  /** A client behind a proxy and one without, and a path to queue on that is not deleted when it is empty. */
  async function bothSides(options: { readonly sessionTimeout?: number } = {}) {
    const chroot = await newChroot(ensemble)
    const proxy = await newProxy(ensemble.nodes[0]!)
    const zk = await newClient(ensemble, { chroot, servers: [proxy], ...options })
    const other = await newClient(ensemble, { chroot })
    await other.create('/lock')
    await caughtUp(zk)
    return { chroot, proxy, zk, other }
  }

  /** Waits for the expected value; the error shows the last one. */
  async function eventually<T>(what: string, look: () => Promise<T>, expected: T): Promise<void> {
    const isSo = async (): Promise<boolean> => isDeepStrictEqual(await look(), expected)
    await until(what, isSo, { timeout: 10_000, interval: 20, instead: async () => JSON.stringify(await look()) })
  }

  const labels = async (lock: Lock): Promise<string[]> => (await lock.contenders()).map(({ label }) => label)

  describe('what it costs', () => {
    const recipes: [string, (zk: ZooKeeper) => Pick<Acquirable<Held>, 'acquire'>][] = [
      ['Lock.acquire', (zk) => new Lock(zk, '/lock')],
      ['SharedLock.read.acquire', (zk) => new SharedLock(zk, '/lock').read],
      ['SharedLock.write.acquire', (zk) => new SharedLock(zk, '/lock').write],
      [
        'LeaderElection.campaign',
        (zk) => ({ acquire: (options) => new LeaderElection(zk, '/lock').campaign(options) }),
      ],
    ]

    test.each(recipes)('%s without contention is one round trip, and so is the release', async (_, recipe) => {
      const { proxy, zk } = await bothSides()
      const acquirable = recipe(zk)
      const before = proxy.segments.length
      const held = await acquirable.acquire()
      expect(proxy.segments.slice(before)).toEqual([[create2, getChildren2]])
      await held.release()
      expect(proxy.segments.slice(before)).toEqual([[create2, getChildren2], [deleteNode]])
      expect((await zk.getChildren('/lock')).children).toEqual([])
    })

    test.each<[string, number, (zk: ZooKeeper) => Pick<Acquirable<Held>, 'acquire'>]>([
      ['Lock', 1, (zk) => new Lock(zk, '/new')],
      ['MultiLock', 1, (zk) => new MultiLock(zk, ['/new', '/other'])],
      ['Semaphore', 2, (zk) => new Semaphore(zk, '/new', { permits: 2 })],
    ])('%s.acquire on a new path is one segment more than on an old one (%i)', async (_, segments, recipe) => {
      const { proxy, zk, other } = await bothSides()
      const acquirable = recipe(zk)
      for (const expected of [segments + 1, segments]) {
        const before = proxy.segments.length
        const held = await acquirable.acquire()
        expect(proxy.segments.slice(before)).toHaveLength(expected)
        await caughtUp(other)
        for (const path of held.paths) expect((await other.exists(path))?.czxid).toBe(held.fencingToken)
        await held.release()
      }
    })

    test('Lock.acquire without contention takes the time of one round trip, and so does the release', async () => {
      const { proxy, zk } = await bothSides()
      const lock = new Lock(zk, '/lock')
      proxy.delay(400)
      const acquiring = new Stopwatch()
      const held = await lock.acquire()
      expect(acquiring.elapsed).toBeGreaterThanOrEqual(799)
      expect(acquiring.running).toBeLessThan(1_600)
      const releasing = new Stopwatch()
      await held.release()
      expect(releasing.elapsed).toBeGreaterThanOrEqual(799)
      expect(releasing.running).toBeLessThan(1_600)
    })

    test('Held watches its own node and confirms its lease when it is held for long', async () => {
      const { proxy, zk, chroot } = await bothSides()
      const before = proxy.requests.length
      const held = await new Lock(zk, '/lock').acquire()
      const sent = () => proxy.requests.slice(before)
      await until('the watch', async () => sent().includes(getData))
      await until(
        'the first round',
        async () => sent().lastIndexOf(multi) > sent().lastIndexOf(sync) && sent().includes(sync),
      )
      expect(await serverWatches(ensemble, chroot)).toEqual({ data: [held.path], children: 0 })
      const beforeRelease = proxy.requests.length
      await held.release()
      expect(count(proxy.requests.slice(beforeRelease))).toEqual(count([deleteNode, removeWatches]))
      await eventually('no watch', () => serverWatches(ensemble, chroot), noWatches)
    })

    /** Clients at one proxy. Servers take 60 connections from one address, so contenders share a few clients. */
    async function crowdOf(waiters: number) {
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[0]!)
      const connecting = Array.from({ length: Math.min(waiters, 10) + 1 }, () =>
        newClient(ensemble, { chroot, servers: [proxy], sessionTimeout: 10_000 }),
      )
      const [zk, ...clients] = await Promise.all(connecting)
      const clientOf = (waiter: number) => clients[waiter % clients.length]!
      const events = () => proxy.replies.filter((opCode) => opCode === notification).length
      return { chroot, proxy, zk: zk!, clientOf, events }
    }

    /** A lease needs a sync where the last touch is too old. How often that is depends on the speed of the machine. */
    const withoutSyncs = (requests: readonly OpCode[]) => requests.filter((opCode) => opCode !== sync)

    test.each([2, 50, 500])(
      'Lock hands over among %i waiters at the cost of a delete, a check, a list and one event (L02)',
      async (waiters) => {
        const { proxy, zk, clientOf, events } = await crowdOf(waiters)
        // It has no rounds of confirmation, one of which might come while the others queue.
        const first = new Lock(zk, '/lock', { label: 'first', heldWhile: 'sessionAlive' })
        const held = await first.acquire()
        /** The granted contender, and the number of events by then. */
        const granted: { label: string; events: number }[] = []
        const wait = async (label: string, client: ZooKeeper): Promise<void> => {
          const next = await new Lock(client, '/lock', { label }).acquire()
          granted.push({ label, events: events() })
          // Before it would watch its own node.
          await next.release()
        }
        // All of them acquire in one turn.
        const waiting = Array.from({ length: waiters }, (_, index) => wait(`waiter ${index}`, clientOf(index)))
        // Each watches the one before it, the first one the holder.
        const watches = () => proxy.replies.filter((opCode) => opCode === getData).length
        await until('all in line', async () => watches() === waiters + 1)
        const inLine = (await first.contenders()).slice(1).map(({ label }) => label)
        const requests = proxy.requests.length

        await held.release()
        await Promise.all(waiting)
        // Each release has woken one contender, and this one was next.
        expect(granted).toEqual(inLine.map((label, index) => ({ label, events: index + 1 })))
        expect(events()).toBe(waiters)
        // The first in the queue needs no list: its own one names the holder alone. Nor does one behind a contender of its session.
        const sessionOf = (label: string) => clientOf(Number(label.replace('waiter ', ''))).session
        const needsList = (index: number) => sessionOf(inLine[index]!) !== sessionOf(inLine[index - 1]!)
        const lists = (index: number) => (needsList(index) ? [getChildren2] : [])
        const later = inLine.slice(1).flatMap((_, before) => [multi, ...lists(before + 1), deleteNode])
        const asked = count(withoutSyncs(proxy.requests.slice(requests)))
        expect(asked).toEqual(count([removeWatches, deleteNode, multi, deleteNode, ...later]))
      },
    )

    test.each([2, 50, 500])(
      'Semaphore hands over among %i waiters with at most eleven requests and two events each (P14)',
      async (waiters) => {
        const { chroot, proxy, zk, clientOf, events } = await crowdOf(waiters)
        const first = new Semaphore(zk, '/semaphore', { permits: 2 })
        const held = [await first.acquire(), await first.acquire()]
        let most = 0
        let holding = 0
        const wait = (client: ZooKeeper) =>
          new Semaphore(client, '/semaphore').run(() => {
            most = Math.max(most, ++holding)
            return setImmediate().then(() => holding--)
          })
        const waiting = Array.from({ length: waiters }, (_, index) => wait(clientOf(index)))
        await until('all in line', async () => (await first.contenders()).length === waiters, { timeout: 60_000 })
        // Everyone has looked, and the first in line watches.
        await until('the watch', async () => (await serverWatches(ensemble, chroot)).children === 1)
        const requests = proxy.requests.length
        const before = events()

        await Promise.all(held.map((each) => each.release()))
        await Promise.all(waiting)
        expect(most).toBeLessThanOrEqual(2)
        const asked = withoutSyncs(proxy.requests.slice(requests))
        const perTurn = { requests: asked.length / waiters, events: (events() - before) / waiters }
        console.info(`Semaphore, ${waiters} waiters: ${JSON.stringify(perTurn)} per hand-over`)
        expect(perTurn.requests).toBeLessThanOrEqual(11 + 2 / waiters)
        expect(perTurn.events).toBeLessThanOrEqual(2)
        expect(await first.holders()).toEqual([])
      },
    )
  })

  describe('Lock.acquire and lost replies', () => {
    test('Lock.acquire whose create gets no reply has one node, holds once, and keeps its place (L07)', async () => {
      const { proxy, zk, other, chroot } = await bothSides()
      const holder = new Lock(other, '/lock', { label: 'holder' })
      const held = await holder.acquire()
      const order: string[] = []
      const acquire = async (client: ZooKeeper, label: string): Promise<void> => {
        await using _ = await new Lock(client, '/lock', { label }).acquire()
        order.push(label)
      }
      const lost = proxy.loseReplyTo(create2)
      const first = acquire(zk, 'unanswered')
      await lost
      const second = acquire(await newClient(ensemble, { chroot }), 'behind')
      await eventually('the line', () => labels(holder), ['holder', 'unanswered', 'behind'])
      await held.release()
      await Promise.all([first, second])
      expect(order).toEqual(['unanswered', 'behind'])
      expect(proxy.requests.filter((opCode) => opCode === create2)).toHaveLength(1)
      await eventually('an empty queue', () => labels(holder), [])
      await eventually('no watch', () => serverWatches(ensemble, chroot), noWatches)
    })

    test('Held.release whose delete gets no reply resolves when the node is gone (L13)', async () => {
      const { proxy, zk, other, chroot } = await bothSides()
      const lock = new Lock(zk, '/lock', { label: 'mine' })
      const held = await lock.acquire()
      const waiting = new Lock(other, '/lock').acquire()
      const lost = proxy.loseReplyTo(deleteNode)
      await held.release()
      await lost
      expect(await zk.exists(held.path)).toBeUndefined()
      expect(proxy.requests.filter((opCode) => opCode === deleteNode)).toHaveLength(2)
      await (await waiting).release()
      await (await lock.acquire()).release()
      await eventually('no watch', () => serverWatches(ensemble, chroot), noWatches)
    })
  })

  describe('Lock.acquire that is given up', () => {
    interface Scene {
      readonly proxy: Proxy
      readonly zk: ZooKeeper
      /** Held by another client. */
      readonly held: Held
    }
    interface Stage {
      readonly when: string
      /** The fault that makes the moment long enough. */
      readonly prepare?: (scene: Scene) => void
      readonly reach: (scene: Scene) => Promise<unknown>
    }
    const sent = ({ proxy }: Scene, opCode: OpCode): Promise<unknown> =>
      until('the request', async () => proxy.requests.includes(opCode), { interval: 1 })
    const answered = ({ proxy }: Scene, opCode: OpCode): Promise<unknown> =>
      until('the answer', async () => proxy.replies.includes(opCode), { interval: 1 })
    const inLine = async (scene: Scene): Promise<void> => {
      await answered(scene, getData)
      // Behind that reply.
      await scene.zk.exists('/')
    }

    const stages: Stage[] = [
      {
        when: 'while its create is on its way',
        prepare: ({ proxy }) => proxy.freeze('toServer'),
        reach: (scene) => sent(scene, create2),
      },
      {
        when: 'while the answer to its create is on its way',
        prepare: ({ proxy }) => proxy.freeze('toClient'),
        reach: (scene) => answered(scene, getChildren2),
      },
      {
        when: 'while its watch is on its way',
        prepare: ({ proxy }) => proxy.delay(100),
        reach: (scene) => sent(scene, getData),
      },
      { when: 'while it waits', reach: inLine },
      {
        when: 'while it confirms its grant',
        prepare: ({ proxy }) => proxy.delay(100),
        reach: async (scene) => {
          await inLine(scene)
          await scene.held.release()
          await sent(scene, multi)
        },
      },
      {
        when: 'while it is disconnected (L12)',
        reach: async (scene) => {
          const { proxy, zk } = scene
          await inLine(scene)
          proxy.freeze()
          proxy.cut()
          await until('the loss', async () => zk.session.connection === undefined, { interval: 1 })
        },
      },
    ]

    const byName = stages.map((stage) => [stage.when, stage] as const)
    test.each(byName)('Lock.acquire aborted %s leaves nothing behind (L11)', async (_, { prepare, reach }) => {
      const { proxy, zk, other, chroot } = await bothSides()
      const lock = new Lock(zk, '/lock', { label: 'given up' })
      const holder = new Lock(other, '/lock', { label: 'holder' })
      const held = await holder.acquire()
      const abort = new AbortController()
      const scene = { proxy, zk, held }
      prepare?.(scene)
      const given = rejection(lock.acquire({ signal: abort.signal }))
      await reach(scene)
      abort.abort(new Error('enough'))
      // At once: before any socket or timer callback.
      expect(await Promise.race([given, setImmediate('not yet')])).toBe(abort.signal.reason)
      proxy.delay(0)
      proxy.thaw()

      await eventually('the node to go', () => labels(holder), held.isHeld() ? ['holder'] : [])
      // Only what the holder itself needs is left.
      const watched = held.isHeld() ? { data: [held.path], children: 0 } : noWatches
      await eventually('the watch to go', () => serverWatches(ensemble, chroot), watched)
      await held.release()
      await eventually('no watch', () => serverWatches(ensemble, chroot), noWatches)
      await (await lock.acquire()).release()
      expect((await zk.getChildren('/lock')).children).toEqual([])
    })

    test.each([
      ['while the answer to its create is on its way', 'toClient'],
      ['while its create is on its way', 'toServer'],
      ['while it waits', undefined],
    ] as const)('Lock.acquire with a timeout that ends %s leaves nothing behind (L10)', async (_, direction) => {
      const { proxy, zk, other, chroot } = await bothSides()
      const lock = new Lock(zk, '/lock')
      const holder = new Lock(other, '/lock', { label: 'holder' })
      const held = await holder.acquire()
      if (direction !== undefined) proxy.freeze(direction)
      // To time out while it waits, it must be in the queue by then.
      const timeout = direction === undefined ? 1_000 : 200
      const sinceCall = new Stopwatch()
      const error = await rejection(lock.acquire({ timeout }))
      const { elapsed, running } = sinceCall
      expect(elapsed).toBeGreaterThanOrEqual(timeout - 1)
      expect(running).toBeLessThan(timeout + SLACK)
      if (!LockTimeoutError.is(error)) throw error
      expect([error.position, error.ahead]).toEqual(direction === undefined ? [1, [held.path]] : [undefined, []])
      proxy.thaw()
      await eventually('the node to go', () => labels(holder), ['holder'])
      await eventually('the watch to go', () => serverWatches(ensemble, chroot), { data: [held.path], children: 0 })
      await held.release()
      await eventually('no watch', () => serverWatches(ensemble, chroot), noWatches)
      await (await lock.acquire({ timeout: 5_000 })).release()
    })
  })

  describe('a connection that looks alive', () => {
    test.each([
      { heldWhile: 'confirmed', reason: 'LeaseLost', from: 0, to: 3_000 },
      { heldWhile: 'connected', reason: 'Disconnected', from: 2_000 - 100, to: 2_000 + SLACK },
    ] as const)(
      'Held.signal aborts without any packet before another contender is granted, while $heldWhile',
      async (expected) => {
        const sessionTimeout = 3_000
        const { proxy, zk, other } = await bothSides({ sessionTimeout })
        const held = await new Lock(zk, '/lock', { heldWhile: expected.heldWhile }).acquire()
        const waiting = new Lock(other, '/lock').acquire().then((next) => ({ next, at: performance.now() }))
        await zk.exists('/')
        const sinceFreeze = new Stopwatch()
        proxy.freeze()
        await once(held.signal, 'abort')
        const abortedAt = performance.now()
        const { elapsed, running } = sinceFreeze
        expect(held.isHeld()).toBe(false)
        if (!LockLostError.is(held.signal.reason)) throw held.signal.reason
        expect(held.signal.reason.reason).toBe(expected.reason)
        expect(elapsed).toBeGreaterThan(expected.from)
        expect(running).toBeLessThan(expected.to)

        const { next, at } = await waiting
        expect(at).toBeGreaterThan(abortedAt)
        expect(next.fencingToken).toBeGreaterThan(held.fencingToken)
        proxy.thaw()
        await held.release()
        expect(next.isHeld()).toBe(true)
        await next.release()
      },
    )
  })

  describe('Lock.tryAcquire', () => {
    test('Lock.tryAcquire makes no node while another contender is ahead (L38)', async () => {
      const { proxy, zk, other } = await bothSides()
      const held = await new Lock(other, '/lock').acquire()
      await caughtUp(zk)
      const { stat } = await zk.getChildren('/lock')
      const before = proxy.segments.length
      expect(await new Lock(zk, '/lock').tryAcquire()).toBeUndefined()
      expect(proxy.segments.slice(before)).toEqual([[getChildren2]])
      expect((await zk.getChildren('/lock')).stat).toEqual(stat)
      await held.release()
    })

    test('Lock.tryAcquire from many at once: one gets it, and the others leave no node (L38)', async () => {
      const { zk, other } = await bothSides()
      const tries = await Promise.all(
        [zk, other, zk, other, zk].map((client) => new Lock(client, '/lock').tryAcquire()),
      )
      const [held, ...more] = tries.filter((each) => each !== undefined)
      expect(more).toEqual([])
      await eventually(
        'the nodes to go',
        async () => (await zk.getChildren('/lock')).children.map((name) => `/lock/${name}`),
        [held!.path],
      )
      expect(held!.isHeld()).toBe(true)
      await held!.release()
    })
  })
})

function count(opCodes: readonly OpCode[]): Map<OpCode, number> {
  const counts = new Map<OpCode, number>()
  for (const opCode of opCodes) counts.set(opCode, (counts.get(opCode) ?? 0) + 1)
  return counts
}
