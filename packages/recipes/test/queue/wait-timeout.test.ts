// The error of an acquire that timed out: how far it came, and which contender was ahead.
import { describe, expect, test } from 'vitest'
import { type Held, LeaderElection, Lock, WaitTimeoutError, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { notGranted } from '../../src/queue/not-granted.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const TIMEOUT = 5_000

/** What an acquire rejects with when it has waited for as long as it may. */
async function timedOut(scene: Scene, acquiring: Promise<Held>): Promise<WaitTimeoutError> {
  const started = outcome(acquiring)
  await scene.world.advance(TIMEOUT)
  expect(WaitTimeoutError.is(started.error)).toBe(true)
  return started.error as WaitTimeoutError
}

function hex(zk: ZooKeeper): string {
  return `0x${zk.session.id.toString(16)}`
}

describe('WaitTimeoutError', () => {
  test('WaitTimeoutError states the place reached, which contenders are ahead, and which one was waited for', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    await scene.done(new Lock(clients[0]!, PATH, { label: 'host-0' }).acquire())
    await scene.world.advance(1_000)
    const second = await scene.start(new Lock(clients[1]!, PATH, { label: 'host-1' }).acquire())
    const since = scene.world.wallNow()
    await scene.world.advance(1_000)
    const error = await timedOut(scene, new Lock(clients[2]!, PATH).acquire({ timeout: TIMEOUT }))
    const [first, next] = scene.children(PATH).map((name) => `${PATH}/${name}`)
    expect(error).toMatchObject({
      name: 'WaitTimeoutError',
      path: PATH,
      position: 2,
      ahead: [first, next],
      blocker: { path: next, label: 'host-1', sessionId: clients[1]!.session.id, since, isOwn: false },
    })
    const ago = (scene.world.wallNow() - since) / 1_000
    expect(error.message).toBe(
      `${PATH} was not granted within ${TIMEOUT} ms: 2 ahead; waited for session ${hex(clients[1]!)} ("host-1"), ` +
        `queued since ${new Date(since).toISOString()} (${ago} s ago) as ${next}`,
    )
    expect(second.status).toBe('pending')
  })

  test('WaitTimeoutError says that no client will release a node that belongs to no session', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    await scene.done(zk.ensurePath(PATH))
    scene.ensemble.nodes.create(`${PATH}/_c_00000000-0000-4000-8000-000000000000-lock-0000000000`)
    await scene.done(zk.create(`${PATH}/counts`, '', { mode: 'PERSISTENT_SEQUENTIAL' }))
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(error.message).toContain('waited for a node without a session, which no client releases, queued since')
  })

  test('WaitTimeoutError states when the contender ahead is of the same client', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const error = await timedOut(
      scene,
      lock.run(() => lock.acquire({ timeout: TIMEOUT })),
    )
    expect(error.blocker).toMatchObject({ label: '', isOwn: true })
    expect(error.message).toContain('1 ahead; waited for this same client, queued since ')
  })

  test('WaitTimeoutError says what was ahead in the last session, not in one that has expired', async () => {
    const scene = new Scene()
    const clients = await scene.clients(4)
    const [holder, waiter, zk, later] = clients as [ZooKeeper, ZooKeeper, ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH, { label: 'host-0' }).acquire())
    const gone = await scene.start(new Lock(waiter, PATH, { label: 'host-1' }).acquire())
    const waiting = outcome(new Lock(zk, PATH).acquire({ timeout: 20_000 }))
    await scene.world.settle()
    await scene.start(new Lock(later, PATH, { label: 'host-3' }).acquire())
    scene.expire(zk)
    await scene.world.advance(10_000)
    expect([gone.status, waiting.status]).toEqual(['pending', 'pending'])
    await scene.world.advance(10_000)
    const ahead = scene.children(PATH).map((name) => `${PATH}/${name}`)
    expect(waiting.error).toMatchObject({ position: 3, ahead, blocker: { label: 'host-3', path: ahead[2] } })
  })

  test('WaitTimeoutError shows labels so that they cannot be taken for something else', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH, { label: 'a "b"\nc' }).acquire())
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(error.blocker?.label).toBe('a "b"\nc')
    expect(error.message).toContain('("a \\"b\\"\\nc")')
    expect(error.message).not.toContain('\n')
  })

  test('WaitTimeoutError of a reader names the nearest writer, that of a writer the reader right ahead', async () => {
    const scene = new Scene()
    const kinds = ['write', 'write', 'read'] as const
    for (const [index, zk] of (await scene.clients(3)).entries()) {
      await scene.start(new SharedLock(zk, PATH, { label: `host-${index}` })[kinds[index]!].acquire())
    }
    for (const [kind, label] of [
      ['read', 'host-1'],
      ['write', 'host-2'],
    ] as const) {
      const acquirable = new SharedLock(await scene.client(), PATH)[kind]
      const error = await timedOut(scene, acquirable.acquire({ timeout: TIMEOUT }))
      expect(error).toMatchObject({ position: 3, blocker: { label } })
    }
  })

  test('WaitTimeoutError of a candidate names the one ahead by its data', async () => {
    const scene = new Scene()
    const [leader, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new LeaderElection(leader, PATH, { label: 'host-1:8080' }).campaign())
    const error = await timedOut(scene, new LeaderElection(zk, PATH).campaign({ timeout: TIMEOUT }))
    expect(error.blocker).toMatchObject({ label: 'host-1:8080', isOwn: false })
  })

  test('WaitTimeoutError names the one that is waited for now, not one that left', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const first = await scene.done(new Lock(clients[0]!, PATH, { label: 'host-0' }).acquire())
    const aborting = new AbortController()
    outcome(new Lock(clients[1]!, PATH, { label: 'host-1' }).acquire({ signal: aborting.signal }))
    await scene.world.settle()
    // The one right ahead gives up in the end; no reply shows yet which one is next.
    scene.world.setTimer(TIMEOUT - 10, () => aborting.abort())
    scene.ensemble.faults.delayReply({ op: 'getData', path: first.path, session: clients[2]!.session.id, ms: 60_000 })
    const error = await timedOut(scene, new Lock(clients[2]!, PATH).acquire({ timeout: TIMEOUT }))
    expect(error).toMatchObject({ position: 1, ahead: [first.path], blocker: undefined })
    expect(error.message).toBe(`${PATH} was not granted within ${TIMEOUT} ms: 1 ahead, the oldest is ${first.path}`)
  })

  test('WaitTimeoutError states that no contender is ahead any more when only the confirmation is missing', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(holder, PATH).acquire())
    scene.ensemble.faults.delayReply({ op: 'multi', session: zk.session.id, ms: 60_000 })
    scene.world.setTimer(TIMEOUT - 10, () => void held.release())
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(error).toMatchObject({ position: 0, ahead: [], blocker: undefined })
    expect(error.message).toMatch(/no contender is ahead any more, but no answer confirmed it/)
  })

  test('WaitTimeoutError knows its own client also when that has got another session since', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 1_000 })
    const { session } = zk
    const held = await scene.done(new Lock(zk, PATH).acquire())
    scene.world.setTimer(500, () => {
      scene.refuse()
      scene.freeze(zk)
    })
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(zk.session).not.toBe(session)
    expect(error.blocker).toMatchObject({ path: held.path, isOwn: true })
  })

  test('WaitTimeoutError names the next one when the one ahead has left', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    const first = await scene.done(new Lock(clients[0]!, PATH, { label: 'host-0' }).acquire())
    const aborting = new AbortController()
    outcome(new Lock(clients[1]!, PATH, { label: 'host-1' }).acquire({ signal: aborting.signal }))
    await scene.world.settle()
    scene.world.setTimer(1_000, () => aborting.abort())
    const error = await timedOut(scene, new Lock(clients[2]!, PATH).acquire({ timeout: TIMEOUT }))
    expect(error).toMatchObject({ position: 1, ahead: [first.path], blocker: { path: first.path, label: 'host-0' } })
  })

  test('WaitTimeoutError names the one ahead in the next session too', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const held = await scene.done(new Lock(holder, PATH, { label: 'host-0' }).acquire())
    scene.world.setTimer(1_000, () => scene.expire(zk))
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(error).toMatchObject({ ahead: [held.path], blocker: { label: 'host-0', isOwn: false } })
  })

  test('WaitTimeoutError states when the queue was never read', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.freeze(zk)
    const error = await timedOut(scene, new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    expect(error).toMatchObject({ position: undefined, ahead: [], blocker: undefined })
    expect(error.message).toContain(
      'no contender was seen ahead; zk1:2181 has not answered in this time: it is slow or cut off, or the timeout is too short',
    )
  })

  test('WaitTimeoutError of a free lock names the server that was too slow, and does not doubt that it can be reached', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.ensemble.faults.delayReply({ session: zk.session.id, ms: 5, times: 1_000 })
    const running = outcome(new Lock(zk, PATH).run(() => {}, { timeout: 1 }))
    await scene.world.advance(1)
    expect(running.error).toHaveProperty(
      'message',
      expect.stringMatching(/within 1 ms: no contender was seen ahead; zk1:2181 has not answered in this time/),
    )
  })

  test('WaitTimeoutError states the last place, where the contender has queued again in another session', async () => {
    const scene = new Scene()
    const [holder, second, zk] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH, { label: 'host-0' }).acquire())
    const waiting = outcome(new Lock(zk, PATH).acquire({ timeout: TIMEOUT }))
    await scene.world.settle()
    await scene.start(new Lock(second, PATH, { label: 'host-1' }).acquire())
    scene.expire(zk)
    await scene.world.advance(TIMEOUT)
    expect(waiting.error).toMatchObject({ position: 2, blocker: { label: 'host-1', isOwn: false } })
  })

  test('WaitTimeoutError names the contender that it waited for, although a newer list of another call lacks it', () => {
    const blocker = { path: `${PATH}/one`, label: 'host-0', sessionId: 1n, since: 0, isOwn: false }
    const error = notGranted(PATH, 0, { at: 0, ahead: [], blocker })
    expect(error).toMatchObject({ code: 'LockHeld', position: 1, ahead: [blocker.path], blocker: { label: 'host-0' } })
    expect(error.message).toContain('1 ahead; waited for session 0x1')
  })
})
