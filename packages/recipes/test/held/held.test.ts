// Promises 7 and 8 as far as they go today: notifications when something is no longer held, and fencing.
import { describe, expect, test } from 'vitest'
import {
  fencingText,
  type Held,
  type HeldWhile,
  type KeeperError,
  Lock,
  LostError,
  type LockOptions,
  type LostErrorCode,
  op,
  type ZooKeeper,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

async function holding(options?: LockOptions): Promise<{ scene: Scene; zk: ZooKeeper; held: Held }> {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/data')
  return { scene, zk, held: await scene.done(new Lock(zk, PATH, options).acquire()) }
}

/** Longer than the lease, shorter than it takes to hold the session for dead. */
const AWAY = 35_000

function awayForLong(scene: Scene, zk: ZooKeeper): void {
  scene.refuse()
  scene.cut(zk)
  scene.world.setTimer(AWAY, () => scene.accept())
}

describe('Held', () => {
  test('Held is held until it is released, and never again', async () => {
    const { scene, zk, held } = await holding()
    expect(held.isHeld()).toBe(true)
    expect(held.signal.aborted).toBe(false)
    expect(() => held.throwIfLost()).not.toThrow()
    expect(held.session).toBe(zk.session)
    const releasing = held.release()
    // Not from the answer on, but from the call.
    expect(held.isHeld()).toBe(false)
    await scene.done(releasing)
    await scene.world.advance(600_000)
    expect(held.isHeld()).toBe(false)
    expect(held.signal.reason).toMatchObject({ code: 'Released' })
    expect(() => held.throwIfLost()).toThrow(held.signal.reason as Error)
  })

  test('Held.signal that is looked at only after the release is aborted, with one error for all who look', async () => {
    const { scene, held } = await holding()
    await scene.done(held.release())
    expect(held.signal.aborted).toBe(true)
    expect(held.signal.reason).toMatchObject({ name: 'LostError', code: 'Released', path: held.path })
    expect(held.signal.reason).toBe(held.signal.reason)
    expect(held.signal).toBe(held.signal)
  })

  test('Held.signal has a reason whose stack shows the loss, also where nobody has looked at it before', async () => {
    const { scene, zk, held } = await holding()
    const stackOf = ({ signal }: Held) => (signal.reason as LostError).stack
    /** The name of this function is looked for in stacks. */
    const looksLater = () => stackOf(held)
    scene.expire(zk)
    await scene.world.advance(60_000)
    expect(looksLater()).toMatch(/LeaseKeeper|Held\.lose/)
    expect(looksLater()).not.toContain('looksLater')
  })

  test('Held.signal that was looked at has a reason whose stack shows the release', async () => {
    const { scene, held } = await holding()
    const { signal } = held
    const thisReleases = () => held.release()
    await scene.done(thisReleases())
    expect((signal.reason as LostError).stack).toContain('thisReleases')
  })

  test.each<[LostErrorCode, (scene: Scene, zk: ZooKeeper, held: Held) => unknown, HeldWhile?]>([
    ['Released', (_, __, held) => held.release()],
    ['Disconnected', (scene, zk) => scene.cut(zk), 'connected'],
    ['LeaseLost', awayForLong],
    [
      'SessionExpired',
      (scene, zk) => {
        const { id } = zk.session
        scene.ensemble.faults.fail({ op: 'setData', code: 'SessionExpired' })
        return zk.setData('/data', 'x').catch(() => scene.ensemble.sessions.expire(id))
      },
    ],
    ['Closed', (_, zk) => zk.close()],
    ['NodeGone', (scene, _, held) => scene.ensemble.nodes.delete(held.path)],
  ])(
    'Held is lost with %s once, with a LostError that throwIfLost throws',
    async (reason, lose, heldWhile = 'confirmed') => {
      const { scene, zk, held } = await holding({ heldWhile })
      await scene.world.advance(50)
      const notified: unknown[] = []
      held.signal.addEventListener('abort', () => notified.push(held.signal.reason))
      void Promise.resolve(lose(scene, zk, held)).catch(() => {})
      await scene.world.settle()
      await scene.world.advance(AWAY + 5_000)
      expect(notified).toHaveLength(1)
      expect(LostError.is(notified[0])).toBe(true)
      expect(notified[0]).toMatchObject({ code: reason, path: held.path })
      expect((notified[0] as Error).message).toMatch(new RegExp(`^${held.path} is no longer held: `))
      expect(held.isHeld()).toBe(false)
      expect(() => held.throwIfLost()).toThrow(expect.objectContaining({ code: reason }))
      // Released again, it is still no more than lost.
      await scene.start(held.release())
      expect(held.signal.reason).toBe(notified[0])
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
    },
  )

  test('Held is lost with NodeGone as soon as it is known, from 50 ms of holding on (L15)', async () => {
    const { scene, held } = await holding()
    await scene.world.advance(50)
    scene.ensemble.nodes.delete(held.path)
    await scene.world.settle()
    expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held whose node was deleted before it was watched is lost with NodeGone when it would be watched (L15)', async () => {
    const { scene, held } = await holding()
    scene.ensemble.nodes.delete(held.path)
    await scene.world.advance(49)
    expect(held.isHeld()).toBe(true)
    await scene.world.advance(1)
    expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
  })

  test.each<[string, (scene: Scene, zk: ZooKeeper, replace: () => void) => Promise<unknown>]>([
    [
      'before it was watched',
      async (scene, _, replace) => {
        replace()
        await scene.world.advance(50)
      },
    ],
    [
      'while there was no connection',
      async (scene, zk, replace) => {
        await scene.world.advance(50)
        scene.cut(zk)
        replace()
        await scene.world.advance(1_000)
      },
    ],
  ])(
    'Held in whose place an operator makes a node of that name, %s, is lost with NodeGone, and deletes that node',
    async (_, play) => {
      const { scene, zk, held } = await holding()
      const { nodes } = scene.ensemble
      await play(scene, zk, () => {
        nodes.delete(held.path)
        nodes.create(held.path)
      })
      expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
      expect(await scene.done(new Lock(zk, PATH).run(() => 'next'))).toBe('next')
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('Held is not lost when another client writes to its node, and still notices its deletion', async () => {
    const { scene, held } = await holding()
    await scene.world.advance(50)
    for (const text of ['one', 'two', 'three']) {
      scene.ensemble.nodes.setData(held.path, text)
      await scene.world.settle()
    }
    expect(held.isHeld()).toBe(true)
    scene.ensemble.nodes.delete(held.path)
    await scene.world.settle()
    expect(held.isHeld()).toBe(false)
  })

  test.each(['ThrottledOp', 'OperationTimeout'] as const)(
    'Held watches its node although the first read fails with %s',
    async (code) => {
      const { scene, held } = await holding()
      scene.ensemble.faults.fail({ op: 'getData', code })
      await scene.world.advance(2_000)
      expect(scene.watches()).toMatchObject([{ table: 'data', path: held.path }])
      scene.ensemble.nodes.delete(held.path)
      await scene.world.settle()
      expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
    },
  )

  test('Held whose watch is removed by another caller watches its node again', async () => {
    const { scene, zk, held } = await holding()
    await scene.world.advance(50)
    await scene.done(zk.removeWatches(held.path))
    await scene.world.advance(1_000)
    scene.ensemble.nodes.delete(held.path)
    await scene.world.settle()
    expect(held.signal.reason).toMatchObject({ code: 'NodeGone' })
  })

  test('Held that is released while its node is being watched leaves no watch', async () => {
    const { scene, held } = await holding()
    scene.network.latency = () => 10
    await scene.world.advance(55)
    const releasing = held.release()
    await scene.world.advance(100)
    await releasing
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held that is released while its node is being watched leaves no watch, where it must leave the node', async () => {
    const atRelease = new Set<number>()
    for (let time = 40; time < 80; time += 2) {
      const scene = new Scene()
      const zk = await scene.client()
      // Contenders may create nodes, and not delete them.
      scene.ensemble.nodes.create(PATH, { acl: [{ perms: 31 & ~8, id: { scheme: 'world', id: 'anyone' } }] })
      const held = await scene.done(new Lock(zk, PATH).acquire())
      scene.network.latency = () => 10
      await scene.world.advance(time)
      atRelease.add(scene.watches().length)
      const releasing = outcome(held.release())
      await scene.world.advance(100)
      expect(releasing.error).toMatchObject({ code: 'NoAuth' })
      expect(scene.ensemble.nodes.ephemerals()).toEqual([held.path])
      expect([scene.watches(), scene.watchCount()], `released after ${time} ms`).toEqual([[], 0])
    }
    expect(atRelease).toEqual(new Set([0, 1]))
  })

  test('Held deletes only its own node, also when the parent was made again and numbers come round (L18)', async () => {
    const { scene, zk, held } = await holding()
    scene.ensemble.nodes.delete(PATH)
    const next = await scene.done(new Lock(zk, PATH).acquire())
    expect(next.path.slice(-10)).toBe(held.path.slice(-10))
    await scene.done(held.release())
    expect(next.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([next.path])
  })

  test('Held is disposed of by releasing it', async () => {
    const { scene, held } = await holding()
    await scene.done(held[Symbol.asyncDispose]())
    expect(held.signal.reason).toMatchObject({ code: 'Released' })
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('Held.multi', () => {
  test('Held.multi executes its operations while held, and gives the results by position', async () => {
    const { scene, held } = await holding()
    const [created, stat] = await scene.done(held.multi([op.create('/data/a'), op.setData('/data', 'x')]))
    expect(created.path).toBe('/data/a')
    expect(stat.version).toBe(1)
    expect(scene.ensemble.nodes.get('/data')!.children).toEqual(['a'])
  })

  test.each<[LostErrorCode, (scene: Scene, zk: ZooKeeper, held: Held) => unknown, HeldWhile?]>([
    ['Released', (_, __, held) => held.release()],
    ['Disconnected', (scene, zk) => scene.cut(zk), 'connected'],
    ['LeaseLost', awayForLong],
    ['Closed', (_, zk) => zk.close()],
  ])('Held.multi after %s rejects, and nothing is sent (L34)', async (reason, lose, heldWhile = 'confirmed') => {
    const { scene, zk, held } = await holding({ heldWhile })
    void lose(scene, zk, held)
    await scene.world.advance(AWAY + 5_000)
    const since = scene.since()
    const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
    expect(writing.error).toMatchObject({ name: 'LostError', code: reason })
    expect(since.ops()).toEqual([])
    expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(0)
  })

  test('Held.multi whose node is gone is not applied, and tells NodeGone (L34)', async () => {
    const { scene, held } = await holding()
    scene.ensemble.nodes.delete(held.path)
    const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
    expect(writing.error).toMatchObject({ code: 'NodeGone', path: held.path, cause: { code: 'NoNode' } })
    expect(held.signal.reason).toBe(writing.error)
    expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(0)
  })

  test('Held.multi whose hold ends before it could be sent rejects with the loss', async () => {
    const { scene, zk, held } = await holding()
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
    await scene.world.advance(120_000)
    expect(writing.error).toMatchObject({ name: 'LostError', code: 'LeaseLost', path: held.path })
  })

  test('Held.multi that was sent and not answered says that it may have happened, also when the hold has ended', async () => {
    const { scene, zk, held } = await holding()
    scene.ensemble.faults.loseReply({ op: 'multi' })
    const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(120_000)
    expect(held.isHeld()).toBe(false)
    expect(writing.error).toMatchObject({ name: 'KeeperError', outcomeUnknown: true })
  })

  test('Held.multi that fails by an operation of the caller says which, as the caller counts', async () => {
    const { scene, held } = await holding()
    const ops = [op.setData('/data', 'x'), op.delete('/missing'), op.create('/data/a')] as const
    const writing = await scene.start(held.multi(ops))
    expect(writing.error).toMatchObject({
      code: 'NoNode',
      path: '/missing',
      index: 1,
      results: ['Ok', 'NoNode', 'RuntimeInconsistency'],
      sessionId: expect.any(BigInt),
    })
    expect(held.isHeld()).toBe(true)
    expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(0)
  })

  test('Held.multi that a server cannot do says what it needs, as ZooKeeper.multi does', async () => {
    const { scene, held, zk } = await holding()
    const ops = [op.create('/data/a', '', { mode: 'PERSISTENT_WITH_TTL', ttl: 1_000 })]
    const [guarded, plain] = [await scene.start(held.multi(ops)), await scene.start(zk.multi(ops))]
    const { needs } = plain.error as KeeperError
    expect(needs).toContain('extendedTypes')
    expect(guarded.error).toMatchObject({ code: 'Unimplemented', index: 0, needs })
  })

  test('Held.multi whose check is refused for another reason than a missing node is not taken for a lost lock', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.nodes.create('/locks')
    scene.ensemble.nodes.create(PATH)
    // The owner may not read its own node, so it may not check it.
    const acl = [{ perms: 30, id: { scheme: 'world', id: 'anyone' } }]
    const held = await scene.done(new Lock(zk, PATH, { acl }).acquire())
    const writing = await scene.start(held.multi([op.create('/x')]))
    expect(writing.error).toMatchObject({ code: 'NoAuth', path: held.path, index: undefined })
    expect(held.isHeld()).toBe(true)
  })

  test.each([
    ['confirmed', undefined],
    ['connected', expect.objectContaining({ code: 'Disconnected' })],
  ] as const)(
    'Held.multi that is not answered says that it may have happened, held while %s',
    async (heldWhile, lost) => {
      const { scene, held } = await holding({ heldWhile })
      scene.ensemble.faults.loseReply({ op: 'multi' })
      const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
      expect(writing.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
      expect(held.signal.reason).toEqual(lost)
      expect(held.isHeld()).toBe(lost === undefined)
      expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(1)
    },
  )

  test('Held.checkOp guards a transaction of the caller', async () => {
    const { scene, zk, held } = await holding()
    await scene.done(zk.multi([op.setData('/data', 'x'), held.checkOp]))
    await scene.done(held.release())
    const writing = await scene.start(zk.multi([op.setData('/data', 'y'), held.checkOp]))
    expect(writing.error).toMatchObject({ code: 'NoNode', index: 1, path: held.path })
    expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(1)
  })

  test('Held.multi of a zombie is refused by the ensemble once its session is gone', async () => {
    const { scene, zk, held } = await holding()
    scene.refuse()
    scene.expire(zk)
    const writing = await scene.start(held.multi([op.setData('/data', 'x')]))
    await scene.world.advance(60_000)
    expect(writing.status).toBe('rejected')
    expect(scene.ensemble.nodes.get('/data')!.stat.version).toBe(0)
  })
})

describe('Held.fencingToken', () => {
  test('Held.fencingToken is the czxid of its node', async () => {
    const { scene, held } = await holding()
    expect(held.fencingToken).toBe(scene.ensemble.nodes.get(held.path)!.stat.czxid)
  })

  test('Held.fencingToken rises with every holder, also when the parent is deleted and made again', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const tokens: bigint[] = []
    const numbers: string[] = []
    for (let turn = 0; turn < 9; turn++) {
      const held = await scene.done(new Lock(clients[turn % 3]!, PATH).acquire())
      tokens.push(held.fencingToken)
      numbers.push(held.path.slice(-10))
      await scene.done(held.release())
      if (turn % 3 === 2) scene.ensemble.nodes.delete(PATH)
    }
    expect(numbers.map(Number)).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2])
    expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => (one < other ? -1 : 1)))
  })

  test('fencingText sorts as the tokens do', () => {
    const tokens = [0n, 1n, 15n, 16n, 0xffff_ffffn, 0x1_0000_0000n, 0x7fff_ffff_ffff_ffffn]
    const texts = tokens.map(fencingText)
    expect([...texts].sort()).toEqual(texts)
    expect(new Set(texts.map(({ length }) => length))).toEqual(new Set([16]))
    expect(fencingText(0x1_0000_002an)).toBe('000000010000002a')
  })
})
