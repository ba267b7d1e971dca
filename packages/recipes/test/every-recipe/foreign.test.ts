// L24: what else may stand below the path of a lock.
import { describe, expect, test } from 'vitest'
import { type Held, LeaderElection, Lock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import type { Outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const uuid = '64a1d9f2-3c07-4f0e-9d43-0b1a7c55e2f8'
const hex = uuid.replaceAll('-', '')

interface Foreign {
  readonly scene: Scene
  readonly acquiring: Outcome<Held>
  /** The name of the other program's node. */
  readonly path: string
}

/** Another program's node stands first; then ours acquires. */
async function behind(name: string, acquire: (zk: ZooKeeper) => Promise<Held>): Promise<Foreign> {
  const scene = new Scene()
  const [other, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH)
  const path = `${PATH}/${name}`
  await scene.done(other.create(path, '', { mode: 'EPHEMERAL' }))
  return { scene, acquiring: await scene.start(acquire(zk)), path }
}

describe('Contenders of other programs', () => {
  test.each<[string, string, (zk: ZooKeeper) => Promise<Held>]>([
    [
      "Lock waits behind a node of Curator's InterProcessMutex",
      `_c_${uuid}-lock-0000000000`,
      (zk) => new Lock(zk, PATH).acquire(),
    ],
    ['Lock waits behind a node of go-zookeeper', `_c_${hex}-lock-0000000000`, (zk) => new Lock(zk, PATH).acquire()],
    [
      "LeaderElection waits behind a node of Curator's LeaderLatch",
      `_c_${uuid}-latch-0000000000`,
      (zk) => new LeaderElection(zk, PATH).campaign(),
    ],
    [
      "SharedLock.read waits behind a writer of Curator's InterProcessReadWriteLock",
      `_c_${uuid}-__WRIT__0000000000`,
      (zk) => new SharedLock(zk, PATH).read.acquire(),
    ],
    [
      "SharedLock.write waits behind a reader of Curator's InterProcessReadWriteLock",
      `_c_${uuid}-__READ__0000000000`,
      (zk) => new SharedLock(zk, PATH).write.acquire(),
    ],
  ])('%s (L24)', async (_, name, acquire) => {
    const { scene, acquiring, path } = await behind(name, acquire)
    expect(acquiring.status).toBe('pending')
    scene.ensemble.nodes.delete(path)
    await scene.world.settle()
    expect(acquiring.value.isHeld()).toBe(true)
  })

  test("SharedLock.write waits behind a reader that Curator has put in its writer's place (R08)", async () => {
    // The downgrade makes a reader with the writer's number, then the writer goes. A reader behind it is granted.
    const writer = `_c_${uuid}-__WRIT__0000000000`
    const downgraded = `_c_${uuid}-__READ__0000000000`
    for (const kind of ['read', 'write'] as const) {
      const { scene, acquiring, path } = await behind(writer, (zk) => new SharedLock(zk, PATH)[kind].acquire())
      scene.ensemble.nodes.create(`${PATH}/${downgraded}`)
      scene.ensemble.nodes.delete(path)
      await scene.world.settle()
      expect(acquiring.status).toBe(kind === 'read' ? 'fulfilled' : 'pending')
      scene.ensemble.nodes.delete(`${PATH}/${downgraded}`)
      await scene.world.settle()
      expect(acquiring.value.isHeld()).toBe(true)
    }
  })

  test.each([
    'readme',
    '0000000000',
    `${hex}__lock__0000000000`,
    'x-72057594037927936-0000000000',
    'lock-0000000000',
    `_c_${uuid}-lease-0000000000`,
    `_c_${uuid}-latch-0000000000`,
    `_c_${uuid}-__READ__0000000000`,
    `_c_${uuid}-__WRIT__0000000000`,
  ])('Lock is granted beside %s, which is no rival (L24)', async (name) => {
    const { acquiring } = await behind(name, (zk) => new Lock(zk, PATH).acquire())
    expect(acquiring.value.isHeld()).toBe(true)
  })

  test('Lock.contenders leaves out contenders of other kinds (L24)', async () => {
    const { scene, acquiring } = await behind('readme', (zk) => new Lock(zk, PATH).acquire())
    const contenders = await scene.done(new Lock(await scene.client(), PATH).contenders())
    expect(contenders.map(({ path }) => path)).toEqual([acquiring.value.path])
  })
})
