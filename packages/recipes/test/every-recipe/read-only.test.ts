// L35: locks at a server that has no quorum and serves reads only.
import { connect, ConnectError } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, Lock, WaitTimeoutError, type ZooKeeper } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'
/** Until the members have noticed that two of three are gone, and one of them serves reads. */
const UNTIL_READ_ONLY = 5_000

/** A client that a read-only member took: of three members two are down. */
async function readOnlyClient(): Promise<{ scene: Scene; zk: ZooKeeper }> {
  const scene = new Scene({ members: 3, readOnlyMode: true })
  await scene.world.advance(1_000)
  scene.ensemble.nodes.create('/locks')
  for (const member of scene.ensemble.members.slice(1)) member.kill()
  await scene.world.advance(UNTIL_READ_ONLY)
  expect(scene.ensemble.members[0]!.role).toBe('read-only')
  const zk = await scene.client({ readOnly: true })
  expect(zk.session.connection?.readOnly).toBe(true)
  return { scene, zk }
}

function mend(scene: Scene): void {
  for (const member of scene.ensemble.members) member.restart()
}

describe('At a read-only server', () => {
  test('Lock.acquire waits for a server that takes writes, and is granted there (L35)', async () => {
    const { scene, zk } = await readOnlyClient()
    const acquiring = outcome(new Lock(zk, PATH).acquire())
    await scene.world.advance(10_000)
    expect(acquiring.status).toBe('pending')
    mend(scene)
    await scene.world.advance(20_000)
    expect(acquiring.value.isHeld()).toBe(true)
    expect(zk.session.connection?.readOnly).toBe(false)
    expect(scene.ensemble.nodes.get(acquiring.value.path)?.stat.ephemeralOwner).toBe(zk.session.id)
    await scene.done(acquiring.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire with a timeout gives up when it is over, and leaves nothing behind (L35)', async () => {
    const { scene, zk } = await readOnlyClient()
    const acquiring = outcome(new Lock(zk, PATH).acquire({ timeout: 3_000 }))
    await scene.world.advance(3_000)
    expect(acquiring.error).toBeInstanceOf(WaitTimeoutError)
    mend(scene)
    await scene.world.advance(20_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.tryAcquire waits, too, as it does for a connection; its signal ends that (L35)', async () => {
    const { scene, zk } = await readOnlyClient()
    const abort = new AbortController()
    const acquiring = outcome(new Lock(zk, PATH).tryAcquire({ signal: abort.signal }))
    await scene.world.advance(5_000)
    expect(acquiring.status).toBe('pending')
    abort.abort(new Error('enough'))
    await scene.world.settle()
    expect(acquiring.error).toMatchObject({ message: 'enough' })
    mend(scene)
    await scene.world.advance(20_000)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('connect takes no such server without the option readOnly: no lock is asked for there (L35)', async () => {
    const { scene } = await readOnlyClient()
    const connecting = outcome(connect(scene.connectString, { runtime: scene.world, connectTimeout: 40_000 }))
    await scene.world.advance(39_999)
    expect(connecting.status).toBe('pending')
    mend(scene)
    await scene.world.advance(1)
    await scene.world.advance(20_000)
    expect(ConnectError.is(connecting.error)).toBe(true)
  })

  test('Lock loses what it holds when the quorum goes, and waits for the next session to begin anew (L35)', async () => {
    const scene = new Scene({ members: 3, readOnlyMode: true })
    await scene.world.advance(1_000)
    const zk = await scene.client({ readOnly: true })
    const lock = new Lock(zk, PATH)
    const held = await scene.done(lock.acquire())
    for (const member of scene.ensemble.members.slice(1)) member.kill()
    await scene.world.advance(60_000)
    expect(held.isHeld()).toBe(false)
    expect(zk.session.connection?.readOnly).toBe(true)
    const again = outcome(lock.acquire())
    await scene.world.advance(10_000)
    expect(again.status).toBe('pending')
    expect(KeeperError.is(again.error)).toBe(false)
    mend(scene)
    await scene.world.advance(60_000)
    expect(again.value.isHeld()).toBe(true)
  })

  test('LeaderElection.watchLeader is stale, and is not when a server that takes writes has answered', async () => {
    const { scene, zk } = await readOnlyClient()
    const seen: object[] = []
    const leaders = new LeaderElection(zk, PATH).watchLeader()
    outcome(
      (async () => {
        for await (const leader of leaders) seen.push({ leader, isStale: leaders.isStale })
      })(),
    )
    await scene.world.settle()
    expect(seen).toEqual([{ leader: undefined, isStale: true }])
    mend(scene)
    await scene.world.advance(60_000)
    expect(seen.at(-1)).toEqual({ leader: undefined, isStale: false })
  })
})
