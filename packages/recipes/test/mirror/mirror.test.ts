// What a mirror shows and tells.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { generateDigest, OPEN_ACL_UNSAFE, Perms } from '@zk/client'
import {
  KeeperError,
  Mirror,
  type MirrorOptions,
  RecipeError,
  type ZooKeeper,
  type OpenMirror,
} from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { copyOf, Replay, treeOf } from '../support/mirrors.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene, type SceneOptions } from '../support/scene.ts'

const ROOT = '/app'
/** Longer than any pause before a new connection or a new session, in ms. */
const RECONNECTED = 3_000

async function prepared(options: SceneOptions = {}) {
  const scene = new Scene(options)
  const [zk, writer] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const { nodes } = scene.ensemble
  nodes.create(ROOT, { data: 'root' })
  nodes.create(`${ROOT}/a`, { data: '1' })
  nodes.create(`${ROOT}/a/x`, { data: '2' })
  nodes.create(`${ROOT}/b`, { data: '3' })
  return { scene, zk, writer, nodes }
}

/** A server before 3.6 closes the connection when it is asked for a persistent watch. */
async function open(
  scene: Scene,
  zk: ZooKeeper,
  { signal, ...options }: MirrorOptions & { signal?: AbortSignal } = {},
  path = ROOT,
): Promise<OpenMirror> {
  const opening = await scene.start(new Mirror(zk, path, options).open({ signal }))
  if (opening.status === 'pending') await scene.world.advance(RECONNECTED)
  return opening.value
}

const paths = (mirror: OpenMirror) => Array.from(mirror.entries(), ({ path }) => path).sort()

const DEBIAN = '3.8.0-debian'

/** Only its own identity may read it. */
const SECRET = [{ perms: Perms.ALL, id: { scheme: 'digest', id: 'owner:x' } }]

// Its servers show the Stat of such a node, as all did before 3.8.4, but send no events of it.
test('Mirror shows a node that may not be read without data, nothing below it, and goes on (T07)', async () => {
  const { scene, zk, nodes, writer } = await prepared({ release: DEBIAN })
  nodes.create(`${ROOT}/secret`, { data: 'hidden', acl: SECRET })
  nodes.create(`${ROOT}/secret/below`)
  const mirror = await open(scene, zk)
  const replay = new Replay(mirror)
  await scene.world.settle()
  expect(mirror.get(`${ROOT}/secret`)).toMatchObject({ data: undefined, text: undefined, stat: { dataLength: 6 } })
  const all = [ROOT, `${ROOT}/a`, `${ROOT}/a/x`, `${ROOT}/b`, `${ROOT}/secret`]
  expect(paths(mirror)).toEqual(all)
  nodes.create(`${ROOT}/open`)
  await scene.world.settle()
  expect(replay.told.at(-1)).toBe(`Added ${ROOT}/open`)
  // Made again with all rights: the event of the new node comes, and what is below it is found.
  nodes.delete(`${ROOT}/secret`)
  nodes.create(`${ROOT}/secret`, { data: 'open now' })
  nodes.create(`${ROOT}/secret/below`, { data: 'too' })
  await scene.world.settle()
  expect([mirror.get(`${ROOT}/secret`)?.text, mirror.get(`${ROOT}/secret/below`)?.text]).toEqual(['open now', 'too'])
  // Neither a right that is taken nor one that is given causes an event. After a lost connection the mirror knows the latter.
  await scene.done(writer.setACL(`${ROOT}/a`, SECRET))
  nodes.setData(`${ROOT}/a`, 'unseen')
  nodes.create(`${ROOT}/another`, { acl: SECRET })
  scene.cut(zk)
  await scene.world.advance(RECONNECTED)
  expect([mirror.get(`${ROOT}/a`)?.data, mirror.get(`${ROOT}/a/x`), mirror.get(`${ROOT}/another`)?.data]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect([mirror.isStale, mirror.size, replay.told.at(-1)]).toEqual([false, 8 - 1, 'Ready'])
  expect(replay.content).toEqual(copyOf(mirror))
})

test('Mirror uses one-shot watches at servers that answer MarshallingError to others, also from a reconnection on', async () => {
  const { scene, zk, nodes } = await prepared()
  const mirror = await open(scene, zk)
  scene.ensemble.faults.fail({ op: 'setWatches2', code: 'MarshallingError', times: Infinity })
  scene.ensemble.faults.fail({ op: 'addWatch', code: 'MarshallingError', times: Infinity })
  scene.cut(zk)
  await scene.world.advance(RECONNECTED)
  for (const each of [mirror, await open(scene, zk)]) {
    nodes.setData(`${ROOT}/a`, 'new')
    await scene.world.settle()
    expect([each.isStale, each.get(`${ROOT}/a`)!.text]).toEqual([false, 'new'])
  }
})

describe.each(['3.5', '3.8', '3.9'] as const)('Mirror on servers %s', (release) => {
  const ready = async (options?: MirrorOptions) => {
    const all = await prepared({ release })
    const mirror = await open(all.scene, all.zk, options)
    return { ...all, mirror }
  }

  test('Mirror.open resolves with the whole content, which get, children, entries and size show at once (T13)', async () => {
    const { scene, nodes, mirror } = await ready()
    expect(copyOf(mirror)).toEqual(treeOf(scene, ROOT))
    expect([mirror.size, mirror.path, mirror.isStale, mirror.staleSince]).toEqual([4, ROOT, false, undefined])
    expect(JSON.parse(JSON.stringify(mirror))).toMatchObject({ path: ROOT, size: 4, isStale: false })
    const { stat } = nodes.get(`${ROOT}/a`)!
    const node = mirror.get(`${ROOT}/a`)!
    expect([node.path, node.text, node.stat.czxid, node.stat.version]).toEqual([`${ROOT}/a`, '1', stat.czxid, 0])
    expect(node.stat).toMatchObject({ mtime: Number(stat.mtime), ephemeralOwner: 0n, dataLength: 1 })
    expect(mirror.children(ROOT).sort()).toEqual(['a', 'b'])
    expect([mirror.get(`${ROOT}/none`), mirror.get('/other'), mirror.get('/apple')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect([mirror.children(`${ROOT}/b`), mirror.children('/other')]).toEqual([[], []])
  })

  test('Mirror.watchChanges tells the content with parents first, Ready, then each change with old and new', async () => {
    const { scene, nodes, mirror } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    expect(replay.told[0]).toBe(`Added ${ROOT}`)
    expect(replay.told.slice(0, 4).sort()).toEqual(
      [ROOT, `${ROOT}/a`, `${ROOT}/a/x`, `${ROOT}/b`].map((path) => `Added ${path}`),
    )
    nodes.setData(`${ROOT}/b`, '4')
    await scene.world.settle()
    nodes.create(`${ROOT}/c`, { data: '5' })
    await scene.world.settle()
    nodes.delete(`${ROOT}/a`)
    await scene.world.settle()
    expect(replay.told.slice(4)).toEqual([
      'Ready',
      `Changed ${ROOT}/b`,
      `Added ${ROOT}/c`,
      `Removed ${ROOT}/a/x`,
      `Removed ${ROOT}/a`,
    ])
    expect(replay.changes[5]).toMatchObject({ old: { text: '3' }, node: { text: '4', stat: { version: 1 } } })
    expect(replay.content).toEqual(treeOf(scene, ROOT))
    expect(copyOf(mirror)).toEqual(treeOf(scene, ROOT))
  })

  test('Mirror tells an update within one round trip of its event', async () => {
    const { scene, nodes, mirror } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    const since = scene.since()
    scene.network.latency = () => 5
    nodes.setData(`${ROOT}/b`, '4')
    // Each way from a server takes 5 ms, that to a server none.
    await scene.world.advance(9)
    expect(replay.told.at(-1)).toBe('Ready')
    await scene.world.advance(1)
    expect(replay.told.at(-1)).toBe(`Changed ${ROOT}/b`)
    expect(since.ops()).toEqual(['getData'])
  })

  test('Mirror of a path that does not exist is empty, and tells when it is made, deleted and made again (T05)', async () => {
    const { scene, zk, nodes } = await prepared({ release })
    const mirror = await open(scene, zk, {}, '/later/deep')
    const replay = new Replay(mirror)
    await scene.world.settle()
    expect([mirror.size, mirror.get('/later/deep')]).toEqual([0, undefined])
    nodes.create('/later/deep/x')
    await scene.world.settle()
    nodes.delete('/later')
    await scene.world.settle()
    nodes.create('/later/deep', { data: '1' })
    await scene.world.settle()
    expect(replay.told).toEqual([
      'Ready',
      'Added /later/deep',
      'Added /later/deep/x',
      'Removed /later/deep/x',
      'Removed /later/deep',
      'Added /later/deep',
    ])
    await mirror.close()
    await scene.world.settle()
    expect(scene.watches(zk)).toEqual([])
  })

  test('Mirror tells a node that was deleted and made again as a change to another czxid, and what was below it as removed (T06)', async () => {
    const { scene, writer, mirror } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    scene.network.latency = () => 5
    const made = outcome(
      Promise.all([
        writer.delete(`${ROOT}/a/x`),
        writer.delete(`${ROOT}/a`),
        writer.create(`${ROOT}/a`, 'new'),
        writer.create(`${ROOT}/a/y`, 'new'),
      ]),
    )
    await scene.world.advance(50)
    expect(made.status).toBe('fulfilled')
    expect(replay.told.slice(5)).toEqual([`Removed ${ROOT}/a/x`, `Changed ${ROOT}/a`, `Added ${ROOT}/a/y`])
    const [, change] = replay.changes.slice(5)
    expect(change).toMatchObject({ old: { text: '1' }, node: { text: 'new' } })
    expect(replay.content).toEqual(treeOf(scene, ROOT))
  })

  test('Mirror with depth has so many levels below its node, and reads and tells nothing deeper', async () => {
    const { scene, zk, nodes } = await prepared({ release })
    const flat = await open(scene, zk, { depth: 0 })
    const one = await open(scene, zk, { depth: 1 })
    expect([paths(flat), paths(one)]).toEqual([[ROOT], [ROOT, `${ROOT}/a`, `${ROOT}/b`]])
    const replays = [new Replay(flat), new Replay(one)]
    await scene.world.settle()
    const since = scene.since()
    nodes.setData(`${ROOT}/a/x`, 'deep')
    nodes.create(`${ROOT}/a/y`)
    await scene.world.settle()
    expect(since.ops()).toEqual([])
    nodes.create(`${ROOT}/c`)
    nodes.setData(ROOT, 'top')
    await scene.world.settle()
    expect(replays.map(({ told }) => told.slice(told.indexOf('Ready') + 1).sort())).toEqual([
      [`Changed ${ROOT}`],
      [`Added ${ROOT}/c`, `Changed ${ROOT}`],
    ])
  })

  test('Mirror with a filter leaves out what it refuses, and all below it', async () => {
    const asked: string[] = []
    const { scene, nodes, mirror } = await ready({ filter: (path) => (asked.push(path), !path.endsWith('/a')) })
    expect(paths(mirror)).toEqual([ROOT, `${ROOT}/b`])
    nodes.create(`${ROOT}/a/y`)
    nodes.create(`${ROOT}/c/a`)
    await scene.world.settle()
    expect(paths(mirror)).toEqual([ROOT, `${ROOT}/b`, `${ROOT}/c`])
    expect(asked).not.toContain(ROOT)
    expect(asked).not.toContain(`${ROOT}/a/x`)
  })

  test('Mirror finds what is below a node that could not be read, when it may be read', async () => {
    const { scene, nodes } = await prepared({ release })
    const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest()
    const acl = [{ perms: Perms.ALL, id: { scheme: 'digest', id: generateDigest('owner:secret', sha1) } }]
    const owner = await scene.client({ auth: [{ scheme: 'digest', auth: 'owner:secret' }] })
    const other = await scene.client()
    nodes.create(`${ROOT}/secret`, { acl })
    nodes.create(`${ROOT}/secret/below`)
    const mirror = await open(scene, other)
    expect(mirror.get(`${ROOT}/secret/below`)).toBeUndefined()
    await scene.done(owner.setACL(`${ROOT}/secret`, OPEN_ACL_UNSAFE))
    await scene.done(owner.setData(`${ROOT}/secret`, 'open'))
    await scene.world.settle()
    expect([mirror.get(`${ROOT}/secret`)?.text, mirror.get(`${ROOT}/secret/below`)?.text]).toEqual(['open', ''])
  })

  test('Mirror goes on where a server does not show at all what may not be read (T14)', async () => {
    const { scene, zk, nodes, writer } = await prepared({ release })
    nodes.create(`${ROOT}/secret`, { data: 'hidden', acl: SECRET })
    // As servers from 3.8.4 and 3.9.2 on do: ZOOKEEPER-2590.
    const refuse = (path: string) =>
      scene.ensemble.faults.fail({ op: 'exists', path, session: zk.session.id, code: 'NoAuth', times: Infinity })
    refuse(`${ROOT}/secret`)
    const mirror = await open(scene, zk)
    const replay = new Replay(mirror)
    await scene.world.settle()
    expect(mirror.get(`${ROOT}/secret`)).toMatchObject({ data: undefined, stat: { czxid: 0n, dataLength: 0 } })
    // One that was read keeps its last Stat.
    const { czxid } = mirror.get(`${ROOT}/a`)!.stat
    await scene.done(writer.setACL(`${ROOT}/a`, SECRET))
    nodes.setData(`${ROOT}/a`, 'unseen')
    refuse(`${ROOT}/a`)
    refuse(ROOT)
    scene.cut(zk)
    await scene.world.advance(RECONNECTED)
    expect(mirror.get(`${ROOT}/a`)).toMatchObject({ data: undefined, stat: { czxid } })
    expect([mirror.isStale, mirror.get(`${ROOT}/a/x`), replay.told.at(-1)]).toEqual([false, undefined, 'Ready'])
    expect(replay.told).not.toContain(`Removed ${ROOT}/a`)
    scene.ensemble.faults.clear()
    await scene.done(zk.sync('/'))
    nodes.delete(`${ROOT}/secret`)
    nodes.create(`${ROOT}/secret`, { data: 'open now' })
    await scene.world.settle()
    expect(mirror.get(`${ROOT}/secret`)?.text).toBe('open now')
    expect(replay.content).toEqual(copyOf(mirror))
  })

  test('Mirror of a node that may not be read has this node alone', async () => {
    const { scene, zk, nodes } = await prepared({ release })
    nodes.create('/secret', { acl: SECRET })
    nodes.create('/secret/below')
    const mirror = await open(scene, zk, {}, '/secret')
    expect(Array.from(mirror.entries(), ({ path, data }) => [path, data])).toEqual([['/secret', undefined]])
  })

  test('Mirror tells what was missed during a lost connection, once, and reads only what has changed (T02, T04)', async () => {
    const { scene, nodes, mirror, zk } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    scene.refuse()
    scene.cut(zk)
    await scene.world.settle()
    const since = mirror.staleSince
    expect([mirror.isStale, since]).toEqual([true, scene.world.wallNow()])
    nodes.setData(`${ROOT}/b`, '4')
    nodes.create(`${ROOT}/came`)
    nodes.create(`${ROOT}/came-and-went`)
    nodes.delete(`${ROOT}/came-and-went`)
    nodes.delete(`${ROOT}/a/x`)
    const told = replay.told.length
    await scene.world.advance(100)
    expect([replay.told.length, mirror.staleSince]).toEqual([told, since])
    const asked = scene.since()
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(mirror.isStale).toBe(false)
    expect(replay.told.slice(told).sort()).toEqual(
      [`Added ${ROOT}/came`, `Changed ${ROOT}/b`, `Removed ${ROOT}/a/x`, 'Ready'].sort(),
    )
    expect(replay.told.at(-1)).toBe('Ready')
    const read = asked.asked.filter(({ op }) => op === 'getData' || op === 'multiRead').flatMap(({ paths }) => paths)
    expect(new Set(read)).toEqual(
      new Set(release === '3.5' ? [`${ROOT}/b`, `${ROOT}/came`, `${ROOT}/a/x`] : [`${ROOT}/b`, `${ROOT}/came`]),
    )
  })

  test('Mirror goes on in the next session, and tells what was missed, once (T03)', async () => {
    const { scene, nodes, mirror, zk } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    scene.refuse()
    scene.expire(zk)
    nodes.setData(`${ROOT}/b`, '4')
    nodes.delete(`${ROOT}/a`)
    nodes.create(`${ROOT}/c/d`)
    await scene.world.settle()
    const told = replay.told.length
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(replay.told.slice(told, -1).sort()).toEqual([
      `Added ${ROOT}/c`,
      `Added ${ROOT}/c/d`,
      `Changed ${ROOT}/b`,
      `Removed ${ROOT}/a`,
      `Removed ${ROOT}/a/x`,
    ])
    expect([replay.told.at(-1), mirror.isStale]).toEqual(['Ready', false])
    nodes.setData(`${ROOT}/b`, '5')
    await scene.world.settle()
    expect(mirror.get(`${ROOT}/b`)?.text).toBe('5')
  })

  test('Mirror closed at any moment, while it opens or follows, leaves no watch and no timer, and reads no more (T11)', async () => {
    const played = await atEveryMoment(
      async (moment) => {
        const { scene, zk, nodes } = await prepared({ release })
        const stopping = new AbortController()
        scene.world.interrupt(moment, () => stopping.abort())
        const opening = outcome(new Mirror(zk, ROOT).open({ signal: stopping.signal }))
        await scene.world.advance(RECONNECTED)
        nodes.setData(`${ROOT}/b`, '4')
        nodes.delete(`${ROOT}/a`)
        scene.cut(zk)
        await scene.world.advance(RECONNECTED)
        const hasCome = !scene.world.isInterruptionDue
        stopping.abort()
        await scene.world.advance(RECONNECTED)
        const since = scene.since()
        nodes.setData(`${ROOT}/b`, '5')
        await scene.world.advance(RECONNECTED)
        expect([opening.status === 'pending', scene.leftovers(), scene.watchCount(), since.ops(zk.session.id)]).toEqual(
          [false, nothing, 0, []],
        )
        return hasCome
      },
      { stride: 3 },
    )
    expect(played).toBeGreaterThan(20)
  })

  test('Mirror sets its watch again when removeWatches of the program has removed it (T12)', async () => {
    const { scene, nodes, mirror, zk } = await ready()
    await scene.done(zk.removeWatches(ROOT))
    await scene.world.settle()
    nodes.setData(ROOT, 'later')
    nodes.setData(`${ROOT}/b`, 'too')
    await scene.world.settle()
    expect([mirror.get(ROOT)?.text, mirror.get(`${ROOT}/b`)?.text, mirror.isStale]).toEqual(['later', 'too', false])
  })

  test('Mirror.close removes the watches, ends the iterators, and leaves the last content', async () => {
    const { scene, nodes, mirror } = await ready()
    const replay = new Replay(mirror)
    await scene.world.settle()
    const next = outcome(mirror.synced())
    await mirror.close()
    await mirror.close()
    await scene.world.settle()
    expect([replay.reading.status, mirror.signal.aborted, scene.leftovers()]).toEqual(['fulfilled', true, nothing])
    expect(scene.watchCount()).toBe(0)
    expect(next.error).toBe(mirror.signal.reason)
    const before = copyOf(mirror)
    nodes.setData(`${ROOT}/b`, '4')
    await scene.world.settle()
    expect([copyOf(mirror), mirror.isStale]).toEqual([before, true])
  })
})

describe('Mirror', () => {
  test('Mirror keeps one watch on all, from 3.6 on, and reads the nodes of a level with one request', async () => {
    const { scene, zk } = await prepared()
    const since = scene.since()
    await open(scene, zk)
    expect(since.ops()).toEqual(['addWatch', 'multiRead', 'exists', 'multiRead', 'multiRead'])
    // The data and the list of each.
    expect(since.asked.flatMap(({ op, paths }) => (op === 'multiRead' ? [paths] : []))).toEqual([
      [ROOT, ROOT],
      [`${ROOT}/a`, `${ROOT}/a`, `${ROOT}/b`, `${ROOT}/b`],
      [`${ROOT}/a/x`, `${ROOT}/a/x`],
    ])
    expect(scene.watchCount()).toBe(1)
  })

  test('Mirror of / leaves out /zookeeper, and a mirror of /zookeeper does not', async () => {
    const { scene, zk } = await prepared()
    const all = await open(scene, zk, {}, '/')
    expect(paths(all)).toEqual(['/', ROOT, `${ROOT}/a`, `${ROOT}/a/x`, `${ROOT}/b`])
    expect(all.children('/')).toEqual(['app'])
    const system = await open(scene, zk, {}, '/zookeeper')
    expect(paths(system)).toContain('/zookeeper/quota')
  })

  test('Mirror of a client with a chroot has the paths of that client', async () => {
    const { scene, nodes } = await prepared()
    const zk = await scene.client({ chroot: ROOT })
    const mirror = await open(scene, zk, {}, '/')
    expect(paths(mirror)).toEqual(['/', '/a', '/a/x', '/b'])
    nodes.create(`${ROOT}/c`)
    await scene.world.settle()
    expect(mirror.get('/c')).toBeDefined()
  })

  test('Mirror.open rejects when there are more nodes than maxNodes, says how many, and leaves no watch (T08)', async () => {
    const { scene, zk, nodes } = await prepared()
    for (let n = 0; n < 20; n++) nodes.create(`${ROOT}/many/${n}`)
    const since = scene.since()
    const opening = await scene.start(new Mirror(zk, ROOT, { maxNodes: 10 }).open())
    expect(RecipeError.is(opening.error)).toBe(true)
    expect(opening.error).toMatchObject({ bound: 'maxNodes', limit: 10, path: ROOT })
    expect((opening.error as RecipeError).found).toBeGreaterThanOrEqual(20)
    // The Stat says how many there are: the list is not even asked for.
    expect(since.asked.filter(({ op, path }) => op === 'getChildren2' && path === `${ROOT}/many`)).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Mirror ends when a node more than maxNodes comes: changes rejects behind the last change, and get shows the last content', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk, { maxNodes: 4 })
    const replay = new Replay(mirror)
    await scene.world.settle()
    nodes.create(`${ROOT}/c`)
    await scene.world.settle()
    expect(replay.reading.error).toMatchObject({ name: 'RecipeError', found: 5, limit: 4 })
    expect(mirror.signal.reason).toBe(replay.reading.error)
    expect([mirror.size, mirror.isStale, scene.leftovers()]).toEqual([4, true, nothing])
    const late = new Replay(mirror)
    await scene.world.settle()
    expect([late.told.length, late.reading.error]).toEqual([4, replay.reading.error])
    expect((await scene.start(mirror.synced())).error).toBe(replay.reading.error)
  })

  test.each([
    ['first', 'last'],
    ['last', 'first'],
  ])('Mirror whose connection was away when many nodes moved from %s to %s has never too many', async (from, to) => {
    const { scene, zk, nodes } = await prepared()
    for (const folder of ['first', 'last']) nodes.create(`${ROOT}/${folder}`)
    for (let n = 0; n < 400; n++) nodes.create(`${ROOT}/${from}/${n}`)
    const mirror = await open(scene, zk, { maxNodes: 450 })
    const { size } = mirror
    scene.refuse()
    scene.cut(zk)
    for (let n = 0; n < 400; n++) {
      nodes.delete(`${ROOT}/${from}/${n}`)
      nodes.create(`${ROOT}/${to}/${n}`)
    }
    scene.accept()
    await scene.world.advance(10_000)
    expect([mirror.signal.aborted, mirror.isStale, mirror.size]).toEqual([false, false, size])
    expect(mirror.children(`${ROOT}/${to}`)).toHaveLength(400)
  })

  test('Mirror.open rejects when there are more bytes than maxBytes', async () => {
    const { scene, zk, nodes } = await prepared()
    nodes.create(`${ROOT}/large`, { data: 'x'.repeat(1_000) })
    const opening = await scene.start(new Mirror(zk, ROOT, { maxBytes: 1_000 }).open())
    expect(opening.error).toMatchObject({ name: 'RecipeError', bound: 'maxBytes', limit: 1_000 })
    expect(JSON.parse(JSON.stringify(opening.error))).toMatchObject({ path: ROOT, bound: 'maxBytes' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Mirror.open rejects with ResponseTooLarge when a list is over the limit of the client', async () => {
    const { scene, nodes } = await prepared()
    const zk = await scene.client({ advanced: { maxResponseSize: 1_024 } })
    for (let n = 0; n < 100; n++) nodes.create(`${ROOT}/many/a-long-name-${n}`)
    const opening = await scene.start(new Mirror(zk, ROOT).open())
    expect(KeeperError.is(opening.error, 'ResponseTooLarge')).toBe(true)
    expect(opening.error).toMatchObject({ path: `${ROOT}/many` })
    await scene.world.advance(RECONNECTED)
    expect(scene.watches(zk)).toEqual([])
  })

  test('Mirror.open reads nodes one by one if together they are over the limit of the client', async () => {
    const { scene, nodes } = await prepared()
    const zk = await scene.client({ advanced: { maxResponseSize: 1_024 } })
    // They are on one level with another node.
    for (let n = 0; n < 20; n++) nodes.create(`${ROOT}/b/${n}`, { data: 'x'.repeat(500) })
    const since = scene.since()
    const mirror = await open(scene, zk)
    expect(copyOf(mirror)).toEqual(treeOf(scene, ROOT))
    expect(since.ops().filter((op) => op === 'getData')).toHaveLength(21)
  })

  test('Mirror.open sees what changes before a busy server sets its watch, after it has answered the first read', async () => {
    const { scene, zk, nodes } = await prepared()
    scene.ensemble.faults.fail({ op: 'addWatch', code: 'ThrottledOp', times: 1 })
    scene.network.latency = () => 5
    const since = scene.since()
    const opening = outcome(new Mirror(zk, ROOT).open())
    await scene.world.advance(5)
    expect(since.ops()).toContain('multiRead')
    nodes.setData(ROOT, 'new')
    nodes.delete(`${ROOT}/b`)
    await scene.world.advance(15)
    expect([opening.status, scene.watchCount()]).toEqual(['pending', 0])
    await scene.world.advance(RECONNECTED)
    expect(copyOf(opening.value)).toEqual(treeOf(scene, ROOT))
    nodes.setData(ROOT, 'newer')
    await scene.world.advance(15)
    expect([opening.value.get(ROOT)!.text, scene.watchCount()]).toEqual(['newer', 1])
  })

  test('Mirror refuses bad arguments before anything is sent', async () => {
    const { scene, zk } = await prepared()
    const since = scene.since()
    const refused = async (client: unknown, path: string, { signal, ...options }: Record<string, unknown> = {}) => {
      try {
        return (await scene.start(new Mirror(client as ZooKeeper, path, options).open({ signal } as never))).error
      } catch (error) {
        return error
      }
    }
    expect(await refused({}, ROOT)).toBeInstanceOf(TypeError)
    expect(await refused(zk, 'app')).toBeInstanceOf(TypeError)
    expect(await refused(zk, '/app/')).toBeInstanceOf(TypeError)
    expect(await refused(zk, ROOT, { deep: 1 })).toBeInstanceOf(TypeError)
    expect(await refused(zk, ROOT, { filter: '/a' })).toBeInstanceOf(TypeError)
    for (const depth of [-1, 0.5, '1']) expect(await refused(zk, ROOT, { depth })).toBeInstanceOf(RangeError)
    for (const most of [0, -1, 1.5, Number.NaN]) {
      expect(await refused(zk, ROOT, { maxNodes: most })).toBeInstanceOf(RangeError)
      expect(await refused(zk, ROOT, { maxBytes: most })).toBeInstanceOf(RangeError)
    }
    expect(await refused(zk, ROOT, { signal: 'stop' })).toBeInstanceOf(TypeError)
    expect(since.ops()).toEqual([])
    const mirror = await open(scene, zk)
    expect((await scene.start(mirror.synced({ every: 1 } as object))).error).toBeInstanceOf(TypeError)
  })

  test('Mirror.open rejects with what the filter throws', async () => {
    const { scene, zk } = await prepared()
    const wrong = new Error('a bug')
    const filter = () => {
      throw wrong
    }
    expect((await scene.start(new Mirror(zk, ROOT, { filter }).open())).error).toBe(wrong)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Mirror ends with its client: changes rejects with Closed', async () => {
    const { scene, zk } = await prepared()
    const mirror = await open(scene, zk)
    const replay = new Replay(mirror)
    await scene.world.settle()
    await scene.done(zk.close())
    expect(KeeperError.is(replay.reading.error, 'Closed')).toBe(true)
    expect([mirror.size, mirror.isStale, mirror.signal.reason]).toEqual([4, true, replay.reading.error])
    expect(KeeperError.is((await scene.start(new Mirror(zk, ROOT).open())).error, 'Closed')).toBe(true)
  })

  test('Mirror closes when its signal aborts, at once or while it opens', async () => {
    const { scene, zk } = await prepared()
    const stopping = new AbortController()
    const mirror = await open(scene, zk, { signal: stopping.signal })
    const replay = new Replay(mirror)
    await scene.world.settle()
    stopping.abort(new Error('enough'))
    await scene.world.settle()
    expect([replay.reading.status, mirror.signal.reason, scene.leftovers()]).toEqual([
      'fulfilled',
      stopping.signal.reason,
      nothing,
    ])
    expect((await scene.start(new Mirror(zk, ROOT).open({ signal: stopping.signal }))).error).toBe(
      stopping.signal.reason,
    )
  })

  test('Mirror.watchChanges: a slow reader gets one change of each node, from what it was told to what is there (T09)', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    const slow = mirror.watchChanges()
    const fast = new Replay(mirror)
    await scene.world.settle()
    const told: string[] = []
    const take = async () => {
      const { value } = await scene.done(slow.next())
      told.push(value!.type === 'Ready' ? 'Ready' : `${value!.type} ${value!.path}`)
      return value!
    }
    for (let n = 0; n < 5; n++) await take()
    for (const data of ['4', '5', '6']) {
      nodes.setData(`${ROOT}/b`, data)
      await scene.world.settle()
    }
    nodes.create(`${ROOT}/came-and-went`)
    await scene.world.settle()
    nodes.delete(`${ROOT}/came-and-went`)
    nodes.create(`${ROOT}/c`)
    await scene.world.settle()
    nodes.setData(`${ROOT}/c`, 'last')
    nodes.delete(`${ROOT}/a/x`)
    await scene.world.settle()
    nodes.create(`${ROOT}/a/x`, { data: 'again' })
    await scene.world.settle()
    expect(fast.told.length).toBe(5 + 3 + 2 + 1 + 1 + 2)
    expect(await take()).toMatchObject({ type: 'Changed', path: `${ROOT}/b`, old: { text: '3' }, node: { text: '6' } })
    expect(await take()).toMatchObject({ type: 'Added', path: `${ROOT}/c`, node: { text: 'last' } })
    expect(await take()).toMatchObject({
      type: 'Changed',
      path: `${ROOT}/a/x`,
      old: { text: '2' },
      node: { text: 'again' },
    })
    const next = outcome(slow.next())
    await scene.world.settle()
    expect(next.status).toBe('pending')
    await scene.done(slow.return())
    expect(next.value).toEqual({ value: undefined, done: true })
  })

  test('Mirror.watchChanges: a node that is written and written back is told no change only if it was not written', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    const slow = mirror.watchChanges()
    for (let n = 0; n < 5; n++) await scene.done(slow.next())
    nodes.setData(`${ROOT}/b`, 'other')
    nodes.setData(`${ROOT}/b`, '3')
    await scene.world.settle()
    const { value } = await scene.done(slow.next())
    expect(value).toMatchObject({
      type: 'Changed',
      old: { stat: { version: 0 } },
      node: { text: '3', stat: { version: 2 } },
    })
  })

  test('Mirror.watchChanges: a reader that has not taken the initial content gets it as it is when it takes it', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    const slow = mirror.watchChanges()
    expect((await scene.done(slow.next())).value).toMatchObject({ type: 'Added', path: ROOT })
    nodes.setData(`${ROOT}/b`, 'new')
    nodes.delete(`${ROOT}/a`)
    nodes.create(`${ROOT}/c`)
    nodes.setData(ROOT, 'told before')
    await scene.world.settle()
    const told: string[] = []
    for (let n = 0; n < 4; n++) {
      const { value } = await scene.done(slow.next())
      told.push(value!.type === 'Ready' ? 'Ready' : `${value!.type} ${value!.path}`)
    }
    expect(told).toEqual([`Added ${ROOT}/b`, 'Ready', `Added ${ROOT}/c`, `Changed ${ROOT}`])
  })

  test('Mirror.watchChanges: a reader that has not taken Ready gets it behind what was found after an outage', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    const slow = mirror.watchChanges()
    expect((await scene.done(slow.next())).value).toMatchObject({ type: 'Added', path: ROOT })
    scene.refuse()
    scene.cut(zk)
    nodes.create(`${ROOT}/c`)
    await scene.world.settle()
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(mirror.isStale).toBe(false)
    const told: string[] = []
    while (told.at(-1) !== 'Ready') {
      const { value } = await scene.done(slow.next())
      told.push(value!.type === 'Ready' ? 'Ready' : `${value!.type} ${value!.path}`)
    }
    expect(told).toContain(`Added ${ROOT}/c`)
  })

  test('Mirror has one read of a node under way, and reads once more for all events that have come meanwhile (T10)', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    const since = scene.since()
    scene.network.latency = () => 5
    for (let n = 0; n < 10; n++) nodes.setData(`${ROOT}/b`, `${n}`)
    await scene.world.advance(50)
    expect([mirror.get(`${ROOT}/b`)?.text, since.ops()]).toEqual(['9', ['getData', 'getData']])
  })

  test('Mirror compares all nodes when more events wait than it has nodes', async () => {
    const { scene, zk, nodes } = await prepared()
    const mirror = await open(scene, zk)
    scene.network.latency = () => 5
    for (let n = 0; n < 2_000; n++) nodes.create(`${ROOT}/b/${n}`)
    await scene.world.advance(500)
    expect([copyOf(mirror), mirror.size]).toEqual([treeOf(scene, ROOT), 2_004])
  })

  test('Mirror follows a deep tree, and data that grows and shrinks', async () => {
    const { scene, zk, nodes } = await prepared()
    const deep = `${ROOT}${'/d'.repeat(200)}`
    nodes.create(deep, { data: 'deep' })
    const mirror = await open(scene, zk)
    expect(mirror.get(deep)?.text).toBe('deep')
    for (let n = 0; n < 40; n++) {
      nodes.setData(`${ROOT}/b`, 'x'.repeat((n % 4) * 20_000))
      nodes.setData(`${ROOT}/a`, 'y'.repeat(10_000 + n))
      await scene.world.settle()
    }
    expect(copyOf(mirror)).toEqual(treeOf(scene, ROOT))
    nodes.delete(`${ROOT}/d`)
    await scene.world.settle()
    expect(mirror.size).toBe(4)
  })

  test('Mirror gives copies of its data', async () => {
    const { scene, zk } = await prepared()
    const mirror = await open(scene, zk)
    mirror.get(`${ROOT}/b`)!.data!.fill(0)
    expect(mirror.get(`${ROOT}/b`)!.text).toBe('3')
  })

  test('Mirror is stale at a server without a quorum, and whole again at one that has it', async () => {
    const scene = new Scene({ members: 3, readOnlyMode: true })
    await scene.world.advance(1_000)
    const zk = await scene.client({ readOnly: true })
    scene.ensemble.nodes.create(ROOT)
    const mirror = await open(scene, zk)
    for (const member of scene.ensemble.members.slice(1)) member.kill()
    await scene.world.advance(60_000)
    expect([zk.session.connection?.readOnly, mirror.isStale, mirror.size]).toEqual([true, true, 1])
    for (const member of scene.ensemble.members) member.restart()
    await scene.world.advance(60_000)
    expect([zk.session.connection?.readOnly, mirror.isStale, mirror.size]).toEqual([false, false, 1])
  })
})
