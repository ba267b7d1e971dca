// The option `acl` covers all nodes that a recipe creates: nobody else can delete a holder's node, or its path.
import { CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, Perms, READ_ACL_UNSAFE, type ZooKeeper } from '@zk/client'
import { describe, expect, test } from 'vitest'
import {
  Barrier,
  Counter,
  DoubleBarrier,
  Group,
  KeeperError,
  LeaderElection,
  Lock,
  type LockOptions,
  MultiLock,
  once,
  Semaphore,
  ServiceDiscovery,
  SharedLock,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'

const PATH = '/team/jobs/report'
const OTHER_PATH = '/team/other/report'
const as = (name: string) => ({ auth: [{ scheme: 'digest', auth: `${name}:secret` }] })

type Options = Pick<LockOptions, 'acl'>

/** Each call leaves its nodes until the session ends. */
const recipes: readonly [name: string, use: (zk: ZooKeeper, options: Options) => Promise<unknown>][] = [
  ['Lock', (zk, options) => new Lock(zk, PATH, options).acquire()],
  ['SharedLock.read', (zk, options) => new SharedLock(zk, PATH, options).read.acquire()],
  ['SharedLock.write', (zk, options) => new SharedLock(zk, PATH, options).write.acquire()],
  ['MultiLock', (zk, options) => new MultiLock(zk, [PATH, OTHER_PATH], options).acquire()],
  ['Semaphore', (zk, options) => new Semaphore(zk, PATH, { permits: 2, ...options }).acquire()],
  ['Semaphore.resize', (zk, options) => new Semaphore(zk, PATH, options).resize(3)],
  ['LeaderElection', (zk, options) => new LeaderElection(zk, PATH, options).campaign()],
  ['once', (zk, options) => once(zk, PATH, { slot: 'a', ...options }, () => {})],
  ['Counter', (zk, options) => new Counter(zk, PATH, options).add(1n)],
  ['Barrier', (zk, options) => new Barrier(zk, PATH, options).set()],
  ['DoubleBarrier', (zk, options) => new DoubleBarrier(zk, PATH, { size: 1, ...options }).enter()],
  ['Group', (zk, options) => new Group(zk, PATH, options).join()],
  [
    'ServiceDiscovery',
    (zk, options) => new ServiceDiscovery(zk, PATH, options).register({ name: 'web', address: 'a', port: 80 }),
  ],
]

/** The paths of all nodes below the root. */
function pathsOf(scene: Scene, path = '/'): string[] {
  const below = scene.children(path).filter((name) => name !== 'zookeeper')
  return below.flatMap((name) => {
    const child = path === '/' ? `/${name}` : `${path}/${name}`
    return [child, ...pathsOf(scene, child)]
  })
}

describe('The acl of a recipe', () => {
  test.each(recipes)('is the ACL of every node that %s creates (L26)', async (_, use) => {
    const scene = new Scene()
    const ann = await scene.client(as('ann'))
    await scene.done(use(ann, { acl: CREATOR_ALL_ACL }))
    const paths = pathsOf(scene)
    expect(paths.length).toBeGreaterThan(2)
    const bob = await scene.client(as('bob'))
    for (const path of paths) {
      const { acl } = await scene.done(ann.getACL(path))
      expect([path, acl[0]!.id.scheme, acl.length]).toEqual([path, 'digest', 1])
      expect(KeeperError.is((await scene.start(bob.create(`${path}/x`))).error, 'NoAuth'), path).toBe(true)
      if (path !== '/team') expect(KeeperError.is((await scene.start(bob.delete(path))).error, 'NoAuth')).toBe(true)
    }
  })

  test.each(recipes)('is open if %s gets none', async (_, use) => {
    const scene = new Scene()
    const ann = await scene.client(as('ann'))
    await scene.done(use(ann, {}))
    for (const path of pathsOf(scene)) expect((await scene.done(ann.getACL(path))).acl).toEqual(OPEN_ACL_UNSAFE)
  })

  test('does not change nodes that exist', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/team')
    const ann = await scene.client(as('ann'))
    const held = await scene.done(new Lock(ann, PATH, { acl: CREATOR_ALL_ACL }).acquire())
    const schemes = ['/team', '/team/jobs', PATH, held.path].map((path) => scene.done(ann.getACL(path)))
    expect((await Promise.all(schemes)).map(({ acl }) => acl[0]!.id.scheme)).toEqual([
      'world',
      'digest',
      'digest',
      'digest',
    ])
  })

  test('applies again to a container that servers have deleted', async () => {
    const scene = new Scene()
    const ann = await scene.client(as('ann'))
    const lock = new Lock(ann, PATH, { acl: CREATOR_ALL_ACL })
    await scene.done(lock.run(() => {}))
    await scene.world.advance(4 * 60_000)
    expect(pathsOf(scene)).toEqual([])
    await scene.done(lock.acquire())
    expect((await scene.done(ann.getACL(PATH))).acl[0]!.id.scheme).toBe('digest')
  })

  test('refuses a contender with another identity, with an error that names right and node', async () => {
    const scene = new Scene()
    await scene.done(new Lock(await scene.client(as('ann')), PATH, { acl: CREATOR_ALL_ACL }).acquire())
    const refused = await scene.start(new Lock(await scene.client(as('bob')), PATH).acquire())
    expect(KeeperError.is(refused.error, 'NoAuth')).toBe(true)
    expect((refused.error as Error).message).toMatch(/\/team\/jobs\/report.*CREATE on the parent/)
  })

  test('lets different identities compete if it grants all of them their rights', async () => {
    const scene = new Scene()
    const perms = Perms.READ | Perms.CREATE | Perms.DELETE
    const acl = ['10.0.0.0/8', '0.0.0.0/0'].map((id) => ({ perms, id: { scheme: 'ip', id } }))
    const [ann, bob] = [await scene.client(as('ann')), await scene.client(as('bob'))]
    const held = await scene.done(new Lock(ann, PATH, { acl }).acquire())
    const waiting = await scene.start(new Lock(bob, PATH, { acl }).acquire())
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test.each([
    ['Lock', (zk: ZooKeeper) => new Lock(zk, PATH, { acl: READ_ACL_UNSAFE })],
    ['Semaphore', (zk: ZooKeeper) => new Semaphore(zk, PATH, { acl: READ_ACL_UNSAFE })],
    ['Group', (zk: ZooKeeper) => new Group(zk, PATH, { acl: READ_ACL_UNSAFE })],
    ['Counter', (zk: ZooKeeper) => new Counter(zk, PATH, { acl: READ_ACL_UNSAFE })],
    ['Barrier', (zk: ZooKeeper) => new Barrier(zk, PATH, { acl: READ_ACL_UNSAFE })],
    ['DoubleBarrier', (zk: ZooKeeper) => new DoubleBarrier(zk, PATH, { size: 2, acl: READ_ACL_UNSAFE })],
  ])('of %s must grant CREATE and DELETE to someone', async (_, make) => {
    const zk = await new Scene().client()
    expect(() => make(zk)).toThrow(/^acl grants nobody CREATE,/)
  })

  test('allows the next session to delete the nodes of a session that only its client has given up', async () => {
    const scene = new Scene()
    const ann = await scene.client({ ...as('ann'), sessionTimeout: 2 * TICK })
    const { session } = ann
    const held = await scene.done(new Lock(ann, PATH, { acl: CREATOR_ALL_ACL }).acquire())
    scene.freeze(ann, 'replies')
    scene.refuse()
    while (ann.session === session) await scene.world.advance(1)
    const releasing = outcome(held.release())
    scene.accept()
    while (releasing.status === 'pending') await scene.world.advance(1)
    expect([releasing.status, scene.ensemble.sessions.get(session.id) !== undefined]).toEqual(['fulfilled', true])
    expect(scene.leftovers()).toEqual(nothing)
  })
})
