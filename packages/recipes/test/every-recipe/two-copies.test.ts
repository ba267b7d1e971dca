// Two copies of the packages in one program: the recipes came with one, the client with the other.
import { beforeAll, expect, test, vi } from 'vitest'
import * as first from '../../src/index.ts'
import { everyRecipe } from '../support/every-recipe.ts'
import { Scene } from '../support/scene.ts'

type Recipes = typeof first
type ZooKeeper = first.ZooKeeper

const PATH = '/locks/report'
let second: Recipes

beforeAll(async () => {
  vi.resetModules()
  second = await import('../../src/index.ts')
})

/** Resolves with whether the use did what it is for. */
type Use = (recipes: Recipes, zk: ZooKeeper, scene: Scene) => Promise<boolean>

/** More ways to use recipes. */
const uses: Record<string, Use> = {
  'Lock.tryAcquire': async ({ Lock }, zk) => {
    const held = await new Lock(zk, PATH).tryAcquire()
    await held!.release()
    return true
  },
  'Lock after a lost connection': async ({ Lock }, zk, scene) => {
    const held = await new Lock(zk, PATH).acquire()
    scene.cut(zk)
    await zk.exists(PATH)
    await held.multi([first.op.create('/made')])
    await held.release()
    return (await zk.exists('/made')) !== undefined
  },
  'Lock, re-entrant': ({ Lock }, zk) => {
    const lock = new Lock(zk, PATH, { reentrant: true })
    return lock.run(() => lock.run((held) => held.isHeld()))
  },
  'Lock.contenders': async ({ Lock }, zk) => (await new Lock(zk, PATH).contenders()).length === 0,
}

test('every recipe is tested with two copies', () => {
  const tested = Object.keys(everyRecipe)
  const recipes = Object.entries(first).filter(([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name))
  const others = /Error$|^(?:ZooKeeper|BarrierEntry)$/
  for (const [name] of recipes.filter(([each]) => !others.test(each))) expect(tested).toContain(name)
  expect(recipes.length).toBeGreaterThan(10)
})

const used = Object.entries(everyRecipe).map(([name, { use }]): [string, Use] => [name, use])

test.each([...used, ...Object.entries(uses)])('%s of one copy works with a client of another', async (_, use) => {
  const play = async (recipes: Recipes) => {
    const scene = new Scene()
    const errors: string[] = []
    const zk = await scene.client({ logger: (level, message) => level === 'error' && errors.push(message) })
    const using = use(recipes, zk, scene)
    await scene.world.advance(20_000)
    const result = await scene.done(using)
    return { result, errors, left: scene.leftovers().nodes, requests: zk.stats().requests }
  }
  expect(second.Lock).not.toBe(first.Lock)
  const played = await play(second)
  expect(played).toMatchObject({ result: true, errors: [], left: [] })
  // With one copy, the answers that a recipe expects count as no failures. With two it is the same.
  expect(played).toEqual(await play(first))
})

test('a client logs the locks of the other copy, and detaching it ends them', async () => {
  const scene = new Scene()
  const lines: string[] = []
  const zk = await scene.client({ logger: (_, message) => lines.push(message) })
  const held = await scene.done(new second.Lock(zk, PATH).acquire())
  expect(lines).toContain('zk: lock acquired')
  await scene.done(zk.detach())
  expect(held.isHeld()).toBe(false)
  expect(scene.leftovers().nodes).toEqual([])
})

test('errors of one copy are known to the other, and a session of its clients is refused with the reason', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const missing = await scene.start(zk.getData('/missing'))
  expect(second.KeeperError.is(missing.error, 'NoNode')).toBe(true)
  expect(missing.error).toBeInstanceOf(second.KeeperError)
  const connecting = second.connect(scene.connectString, { runtime: scene.world })
  const other = await scene.done(connecting)
  const { error } = await scene.start(zk.exists('/a', { session: other.session }))
  expect(error).toBeInstanceOf(TypeError)
  expect(error).toHaveProperty('message', expect.stringContaining('another copy of @zk/client'))
  await scene.done(other.close())
})
