// Random trees that change while everything fails: what a mirror tells, applied to an empty tree, is the tree of the servers.
import { describe, expect, test, vi } from 'vitest'
import { Mirror, type ZooKeeper } from '../../src/index.ts'
import { drop, fail, type Fault, garbage, ignore, loseReply, loseRequest } from '../support/faults.ts'
import { copyOf, Replay, treeOf } from '../support/mirrors.ts'
import { SeededRandom } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

vi.setConfig({ testTimeout: 600_000 })

const ROOT = '/app'
const SESSION_TIMEOUT = 3_000
const NAMES = ['a', 'b', 'c', 'd']
const SEEDS = Number(process.env['ZK_MIRROR_SEEDS'] ?? 12)
const faults: Fault[] = [loseRequest, loseReply, drop, garbage, ignore, fail('ThrottledOp')]
const ops = [
  'getData',
  'exists',
  'getChildren2',
  'addWatch',
  'setWatches',
  'setWatches2',
  'multi',
  'removeWatches',
] as const

interface Played {
  readonly scene: Scene
  readonly zk: ZooKeeper
  readonly mirror: Mirror
  readonly replays: readonly Replay[]
}

async function play(seed: number, version: '3.5' | '3.8' | '3.9'): Promise<Played> {
  const random = new SeededRandom(seed)
  const one = <T>(items: readonly T[]) => items[random.below(items.length)]!
  const scene = new Scene({
    members: random.chance(0.5) ? 1 : 3,
    seed,
    version,
    watchModes: version === '3.9' ? 'several' : 'one',
  })
  const { world, ensemble, network } = scene
  const zk = await scene.client({ sessionTimeout: SESSION_TIMEOUT })
  const writer = await scene.client({ sessionTimeout: 30_000 })
  const anyPath = () => {
    const levels = Array.from({ length: 1 + random.below(3) }, () => one(NAMES))
    return random.chance(0.05) ? ROOT : `${ROOT}/${levels.join('/')}`
  }
  const change = () => {
    const path = anyPath()
    const node = ensemble.nodes.get(path)
    if (node === undefined) {
      void writer.create(path, `${random.below(1000)}`, { parents: random.chance(0.5) }).catch(() => {})
    } else if (random.chance(0.5)) void writer.setData(path, `${random.below(1000)}`).catch(() => {})
    else if (random.chance(0.3) && node.children.length === 0) {
      // It comes again at once.
      void writer.delete(path).catch(() => {})
      void writer.create(path, 'again').catch(() => {})
    } else void writer.delete(path).catch(() => {})
  }
  for (let n = 0; n < 20; n++) change()
  await world.advance(100)
  network.latency = () => random.below(5)
  scene.memberLatency = random.below(20)
  const opening = Mirror.open(zk, ROOT)
  const replays: Replay[] = []
  let mirror: Mirror | undefined
  void opening.then((opened) => {
    mirror = opened
    replays.push(new Replay(opened))
  })
  for (let n = 0; n < 120; n++) {
    change()
    if (random.chance(0.05)) scene.cut(zk)
    if (random.chance(0.02)) scene.freeze(zk)
    const isThere = ensemble.sessions.list().some(({ id }) => id === zk.session.id)
    if (random.chance(0.01) && isThere) scene.expire(zk)
    if (random.chance(0.05)) one(faults)(ensemble.faults, { op: one(ops), session: zk.session.id })
    if (mirror !== undefined && random.chance(0.02)) replays.push(new Replay(mirror))
    await world.advance(random.below(random.chance(0.1) ? 2_000 : 50))
  }
  ensemble.faults.clear()
  await world.advance(6 * SESSION_TIMEOUT)
  return { scene, zk, mirror: mirror!, replays }
}

describe.each(['3.5', '3.8', '3.9'] as const)('Mirror on servers %s', (version) => {
  test('Mirror: what it tells, applied to an empty tree, is the tree of the servers, whatever fails (T01)', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { scene, zk, mirror, replays } = await play(seed, version)
      const tree = treeOf(scene, ROOT)
      const seen = {
        seed,
        isStale: mirror.isStale,
        copy: copyOf(mirror),
        replays: replays.map(({ content }) => content),
      }
      expect(seen).toEqual({ seed, isStale: false, copy: tree, replays: replays.map(() => tree) })
      expect(replays.map(({ reading }) => reading.status)).toEqual(replays.map(() => 'pending'))
      await scene.done(mirror.close())
      await scene.world.advance(5_000)
      expect({ seed, watches: scene.watches(zk) }).toEqual({ seed, watches: [] })
      expect(replays.map(({ reading }) => reading.status)).toEqual(replays.map(() => 'fulfilled'))
    }
  })
})
