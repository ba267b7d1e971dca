// R08: a writer that goes on as a reader keeps its place.
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, LostError, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import { holders, rises } from '../support/turns.ts'

const PATH = '/locks/catalogue'

type Write = Awaited<ReturnType<SharedLock['write']['acquire']>>
type Kind = 'read' | 'write'

interface Line {
  readonly scene: Scene
  readonly zk: ZooKeeper
  readonly write: Write
  /** Those behind the writer, each of a client of its own. */
  readonly behind: readonly Outcome<Held>[]
}

async function line(kinds: readonly Kind[], options = {}): Promise<Line> {
  const scene = new Scene()
  const zk = await scene.client()
  const write = await scene.done(new SharedLock(zk, PATH, options).write.acquire())
  const behind: Outcome<Held>[] = []
  for (const kind of kinds) behind.push(await scene.start(new SharedLock(await scene.client(), PATH)[kind].acquire()))
  return { scene, zk, write, behind }
}

function states(behind: readonly Outcome<Held>[]): string[] {
  return behind.map(({ status }) => status)
}

describe('WriteHeld.downgrade', () => {
  test('WriteHeld.downgrade lets the readers right behind in, and no writer, until all of them are gone (R08)', async () => {
    const { scene, write, behind } = await line(['read', 'read', 'write', 'read'])
    const read = await scene.done(write.downgrade())
    expect(states(behind)).toEqual(['fulfilled', 'fulfilled', 'pending', 'pending'])
    for (const held of [read, behind[0]!.value, behind[1]!.value]) {
      expect(behind[2]!.status).toBe('pending')
      await scene.done(held.release())
    }
    expect(states(behind)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'pending'])
    await scene.done(behind[2]!.value.release())
    await scene.done(behind[3]!.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.downgrade keeps the place before a writer right behind, which waits for the read to be released (R08)', async () => {
    const { scene, write, behind } = await line(['write', 'read'])
    const read = await scene.done(write.downgrade())
    await scene.world.advance(60_000)
    expect(read.isHeld()).toBe(true)
    expect(states(behind)).toEqual(['pending', 'pending'])
    await scene.done(read.release())
    expect(states(behind)).toEqual(['fulfilled', 'pending'])
  })

  test('WriteHeld.downgrade leaves one node, in the place of the old one, that tells the same label', async () => {
    const { scene, zk, write } = await line(['write'], { label: 'host-1' })
    const read = await scene.done(write.downgrade())
    const notified = await scene.done(new SharedLock(zk, PATH).contenders())
    expect(notified).toMatchObject([
      { kind: 'read', label: 'host-1', path: read.path, position: 0, sessionId: zk.session.id },
      { kind: 'write', position: 1 },
    ])
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([read.path])
    // As Curator sorts them.
    expect(read.path.slice(-10)).toBe(write.path.slice(-10))
  })

  test('WriteHeld.downgrade keeps the fencing token: contenders waiting behind it have higher ones', async () => {
    const { scene, write, behind } = await line(['read', 'write', 'write'])
    const read = await scene.done(write.downgrade())
    const tokens = [write.fencingToken, read.fencingToken]
    expect(tokens[1]).toBe(tokens[0])
    await scene.done(read.release())
    for (const each of behind) {
      tokens.push(each.value.fencingToken)
      await scene.done(each.value.release())
    }
    expect(rises(tokens.slice(1))).toBe(true)
  })

  test('WriteHeld is held no longer from the call on, and a reader behind is granted before the answer is here', async () => {
    const { scene, zk, write, behind } = await line(['read'])
    scene.ensemble.faults.delayReply({ op: 'multi', session: zk.session.id, ms: 1_000 })
    const downgrading = outcome(write.downgrade())
    expect(write.isHeld()).toBe(false)
    expect(write.signal.reason).toMatchObject({ code: 'Downgraded', path: write.path })
    await scene.world.advance(100)
    expect(downgrading.status).toBe('pending')
    expect(holders(behind)).toHaveLength(1)
    await scene.world.advance(1_000)
    expect(downgrading.value.isHeld()).toBe(true)
  })

  test('WriteHeld.downgrade costs one request', async () => {
    const { scene, zk, write } = await line(['write'])
    const since = scene.since()
    expect(await scene.roundTrips(write.downgrade())).toBe(1)
    expect(since.ops(zk.session.id)).toEqual(['multi'])
    expect(since.notified).toHaveLength(1)
  })

  test('WriteHeld.downgrade is refused once it is not held, and sends nothing', async () => {
    const { scene, write } = await line([])
    const first = await scene.start(write.downgrade())
    const since = scene.since()
    const second = await scene.start(write.downgrade())
    expect(second.error).toBeInstanceOf(LostError)
    expect(second.error).toMatchObject({ code: 'Downgraded' })
    expect(since.ops()).toEqual([])
    await scene.done(first.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.release leaves alone what it was downgraded to', async () => {
    const { scene, write, behind } = await line(['write'])
    const read = await scene.done(write.downgrade())
    await scene.done(write.release())
    await scene.world.advance(1_000)
    expect(read.isHeld()).toBe(true)
    expect(states(behind)).toEqual(['pending'])
  })

  test('WriteHeld.release during its downgrade leaves alone what it becomes', async () => {
    const { scene, write } = await line([])
    const downgrading = outcome(write.downgrade())
    await scene.done(write.release())
    expect(downgrading.value.isHeld()).toBe(true)
  })

  test.each<['SessionExpired' | 'Closed', (scene: Scene, zk: ZooKeeper) => unknown]>([
    ['SessionExpired', (scene, zk) => scene.expire(zk)],
    ['Closed', (_, zk) => zk.close()],
  ])('WriteHeld.downgrade tells that the session is over meanwhile: %s', async (reason, strike) => {
    const { scene, zk, write } = await line([])
    scene.ensemble.faults.delayRequest({ op: 'multi', ms: 50 })
    const downgrading = outcome(write.downgrade())
    await scene.world.settle()
    void strike(scene, zk)
    await scene.world.advance(5_000)
    expect(downgrading.error).toMatchObject({ name: 'LostError', code: reason })
  })

  test('SharedLock.write.run leaves held what its body downgraded to', async () => {
    const scene = new Scene()
    const shared = new SharedLock(await scene.client(), PATH)
    const read = await scene.done(shared.write.run((held) => held.downgrade()))
    expect(read.isHeld()).toBe(true)
    await scene.done(read.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Held of a downgrade is notified when its node is deleted, and when its session expires', async () => {
    for (const reason of ['NodeGone', 'SessionExpired'] as const) {
      const { scene, zk, write, behind } = await line(['write'])
      const read = await scene.done(write.downgrade())
      if (reason === 'NodeGone') scene.ensemble.nodes.delete(read.path)
      else scene.expire(zk)
      await scene.world.advance(5_000)
      expect(read.signal.reason).toMatchObject({ code: reason })
      expect(behind[0]!.value.isHeld()).toBe(true)
    }
  })

  test('Held of a downgrade guards what it does', async () => {
    const { scene, write } = await line([])
    scene.ensemble.nodes.create('/report')
    const read = await scene.done(write.downgrade())
    expect((await scene.start(write.multi([]))).error).toMatchObject({ code: 'Downgraded' })
    expect((await scene.start(read.multi([]))).status).toBe('fulfilled')
  })

  test('Held of a downgrade is held as strictly as the lock says', async () => {
    const { scene, zk, write } = await line([], { heldWhile: 'connected' })
    const read = await scene.done(write.downgrade())
    scene.cut(zk)
    await scene.world.settle()
    expect(read.signal.reason).toMatchObject({ code: 'Disconnected' })
  })
})

describe('WriteHeld.downgrade that fails', () => {
  test('WriteHeld.downgrade whose node was deleted rejects with NodeGone, and holds nothing', async () => {
    const { scene, write, behind } = await line(['write'])
    // Before any client can observe it.
    scene.ensemble.nodes.delete(write.path)
    const downgrading = await scene.start(write.downgrade())
    expect(LostError.is(downgrading.error)).toBe(true)
    expect(downgrading.error).toMatchObject({ code: 'NodeGone' })
    expect(behind[0]!.value.isHeld()).toBe(true)
    await scene.done(behind[0]!.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.downgrade whose new node is deleted before its lease is proven rejects with NodeGone', async () => {
    const { scene, zk, write } = await line([])
    // No touch is known to be relayed for so long a time, so the lease is proven behind the transaction.
    Object.defineProperty(zk.session, 'shortestTimeout', { value: 1_000 })
    scene.world.stall(800)
    scene.ensemble.faults.delayRequest({ op: 'sync', session: zk.session.id, ms: 10 })
    const downgrading = outcome(write.downgrade())
    await scene.world.settle()
    for (const path of scene.ensemble.nodes.ephemerals(zk.session.id)) scene.ensemble.nodes.delete(path)
    await scene.world.advance(5_000)
    expect(LostError.is(downgrading.error)).toBe(true)
    expect(downgrading.error).toMatchObject({ code: 'NodeGone' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each(['ThrottledOp', 'OperationTimeout'] as const)('WriteHeld.downgrade outlasts %s (L39)', async (code) => {
    const { scene, write, behind } = await line(['write'])
    scene.ensemble.faults.fail({ op: 'multi', code, times: 3 })
    const downgrading = outcome(write.downgrade())
    await scene.world.advance(5_000)
    expect(downgrading.value.isHeld()).toBe(true)
    expect(states(behind)).toEqual(['pending'])
  })

  test.each(['NoAuth', 'QuotaExceeded', 'SystemError'] as const)(
    'WriteHeld.downgrade that fails with %s tells it, and gives the place up',
    async (code) => {
      const { scene, write, behind } = await line(['write'])
      scene.ensemble.faults.fail({ op: 'multi', code })
      const downgrading = await scene.start(write.downgrade())
      expect(KeeperError.is(downgrading.error, code)).toBe(true)
      expect(behind[0]!.value.isHeld()).toBe(true)
      await scene.done(behind[0]!.value.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('WriteHeld.downgrade that fails logs an error: before, it was reported as no loss', async () => {
    const scene = new Scene()
    const errors: unknown[] = []
    const zk = await scene.client({
      logger: (level, message, { err }) => void (level === 'error' && errors.push([message, err])),
    })
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    scene.ensemble.faults.fail({ op: 'multi', code: 'QuotaExceeded' })
    const downgrading = await scene.start(write.downgrade())
    expect(errors).toEqual([['zk: a lock was not downgraded: it is lost', downgrading.error]])
  })

  test.each(['no session', 'another session'])(
    'WriteHeld.downgrade takes a node of %s in its place for none of its own',
    async (owner) => {
      const { scene, write } = await line([])
      const other = await scene.client()
      const place = write.path.replace(
        /_c_(.*)-__WRIT__/,
        (_, uuid: string) => `_c_${uuid.replaceAll('-', '')}-__READ__`,
      )
      const mode = owner === 'no session' ? 'PERSISTENT' : 'EPHEMERAL'
      await scene.done(other.create(place, '', { mode }))
      scene.network.latency = () => 10
      const downgrading = outcome(write.downgrade({ timeout: 1_000 }))
      await scene.world.advance(2_000)
      expect(KeeperError.is(downgrading.error, 'RequestTimeout')).toBe(true)
      expect(scene.ensemble.nodes.get(write.path)).toBeUndefined()
    },
  )

  test.each<['SessionExpired' | 'Closed', (scene: Scene, zk: ZooKeeper) => unknown]>([
    ['SessionExpired', (scene, zk) => scene.expire(zk)],
    ['Closed', (_, zk) => zk.close()],
    ['Closed', (_, zk) => zk.detach()],
  ])('WriteHeld.downgrade that waits to prove its lease ends with its session, not later: %s', async (reason, end) => {
    const T = 4_000
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: T })
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    const { session } = zk
    // When the answer comes, too little is left of the lease that it gives. So it waits for a third of T, and asks again.
    await scene.world.advance(0.35 * T)
    const { connection } = session
    scene.ensemble.faults.delayRequest({ op: 'multi', session: session.id, ms: 0.5 * T, times: 1 })
    const downgrading = outcome(write.downgrade())
    await scene.world.advance(0.52 * T)
    expect(session.connection).toBe(connection)
    expect(scene.children(PATH)[0]).toContain('__READ__')
    expect(downgrading.status).toBe('pending')
    void end(scene, zk)
    while (!session.signal.aborted) await scene.world.advance(1)
    await scene.world.settle()
    expect(downgrading.error).toMatchObject({ name: 'LostError', code: reason })
  })

  test('WriteHeld.downgrade never resolves with something that is lost already', async () => {
    const { scene, zk, write } = await line([], { heldWhile: 'connected' })
    // Answered and disconnected in one turn.
    scene.ensemble.faults.merge({ op: 'multi' })
    scene.ensemble.faults.garbage({ op: 'exists' })
    const downgrading = outcome(write.downgrade())
    void zk.exists('/').catch(() => {})
    await scene.world.advance(5_000)
    expect(downgrading.error).toMatchObject({ name: 'LostError', code: 'Disconnected' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.downgrade that is aborted between two attempts makes no third', async () => {
    const { scene, zk, write } = await line([])
    scene.network.latency = () => 10
    scene.ensemble.faults.fail({ op: 'multi', code: 'OperationTimeout', times: 3 })
    const abort = new AbortController()
    const downgrading = outcome(write.downgrade({ signal: abort.signal }))
    await scene.world.advance(15)
    const since = scene.since()
    abort.abort(new Error('enough'))
    await scene.world.advance(100)
    expect(downgrading.error).toMatchObject({ message: 'enough' })
    expect(since.ops(zk.session.id)).toEqual(['delete', 'delete'])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('WriteHeld.downgrade rejects when the client is closed meanwhile, and leaves nothing', async () => {
    const { scene, zk, write, behind } = await line(['write'])
    scene.freeze(zk)
    const downgrading = outcome(write.downgrade())
    const closing = outcome(zk.close())
    await scene.world.advance(60_000)
    expect([downgrading.status, closing.status]).toEqual(['rejected', 'fulfilled'])
    expect(behind[0]!.value.isHeld()).toBe(true)
  })
})
