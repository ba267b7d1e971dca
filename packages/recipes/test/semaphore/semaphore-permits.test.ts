// How many permits there are: the number that the node stores.
import { describe, expect, test } from 'vitest'
import { RecipeError, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { drop, type Fault, garbage, loseReply, loseRequest } from '../support/faults.ts'
import { outcome } from '../support/outside.ts'
import { heldOf } from '../support/holders.ts'
import { nothing, Scene } from '../support/scene.ts'
import { LEASES, LOCKS, PATH, prepare, RECONNECTED, semaphoreOf, stored } from '../support/semaphore.ts'

const dataOf = (scene: Scene) => Buffer.from(scene.ensemble.nodes.get(PATH)!.data)

describe('The stored number of permits', () => {
  test('Semaphore stores its number as Curator SharedCount does: four bytes in the node of the path, which stays', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    await scene.done(semaphoreOf(zk, { permits: 258 }).run(() => {}))
    expect([...dataOf(scene)]).toEqual([0, 0, 1, 2])
    await scene.world.advance(3_600_000)
    expect(scene.ensemble.nodes.get(PATH)!.stat.ephemeralOwner).toBe(0n)
    expect(await scene.done(semaphoreOf(zk).permits())).toBe(258)
  })

  test('Semaphore stores its number in a node that has no data, as one that was made on the way to a child', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/semaphores')
    scene.ensemble.nodes.create(PATH)
    await scene.done(semaphoreOf(await scene.client(), { permits: 2 }).acquire())
    expect(dataOf(scene)).toEqual(stored(2))
  })

  test.each<[string, Fault]>([
    ['no request', loseRequest],
    ['no reply', loseReply],
    ['a reply and the end', drop],
    ['garbage', garbage],
  ])('Semaphore stores its number, and is acquired, when the write comes to %s', async (_, fault) => {
    for (const op of ['create2', 'setData'] as const) {
      const scene = new Scene()
      scene.ensemble.nodes.create('/semaphores')
      if (op === 'setData') scene.ensemble.nodes.create(PATH)
      const zk = await scene.client()
      fault(scene.ensemble.faults, { op, path: PATH })
      const acquiring = outcome(semaphoreOf(zk, { permits: 2 }).acquire())
      await scene.world.advance(RECONNECTED)
      expect(acquiring.value.isHeld()).toBe(true)
      expect(dataOf(scene)).toEqual(stored(2))
    }
  })

  test('Semaphore of another number rejects with a RecipeError that names both, and makes no node (P10)', async () => {
    const scene = new Scene()
    prepare(scene, 5)
    const zk = await scene.client()
    const semaphore = semaphoreOf(zk, { permits: 3 })
    const calls = [semaphore.acquire(), semaphore.tryAcquire(), semaphore.run(() => {})]
    for (const started of calls.map((call) => scene.start<unknown>(call))) {
      const { error } = await started
      expect(RecipeError.is(error)).toBe(true)
      expect(error).toMatchObject({ path: PATH, permits: 3, stored: 5 })
      expect((error as Error).message).toMatch(/^\/semaphores\/encoder has 5 permits.*\{ permits: 3 \}/)
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: 'RecipeError', permits: 3, stored: 5 })
    }
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Semaphore of the new number is not refused by a server that still shows the old one', async () => {
    const { scene, behind, operator } = await lagging(3)
    await scene.done(semaphoreOf(operator).resize(5))
    const acquiring = outcome(semaphoreOf(behind, { permits: 5 }).acquire())
    await scene.world.advance(1_000)
    expect(acquiring.value.isHeld()).toBe(true)
  })

  test('Semaphore of the old number is refused by a server that still shows it', async () => {
    for (const how of ['acquire', 'tryAcquire'] as const) {
      const { scene, behind, operator } = await lagging(3)
      await scene.done(semaphoreOf(operator).resize(5))
      const acquiring = outcome<unknown>(semaphoreOf(behind, { permits: 3 })[how]())
      await scene.world.advance(1_000)
      expect(acquiring.error).toMatchObject({ name: 'RecipeError', permits: 3, stored: 5 })
    }
  })

  test('Semaphore.acquire of as many permits as are stored is not refused by a server that shows fewer', async () => {
    for (const how of ['acquire', 'tryAcquire'] as const) {
      for (const isKnown of [true, false]) {
        const { scene, behind, operator } = await lagging(3)
        const semaphore = semaphoreOf(behind)
        if (isKnown) {
          const acquiring = outcome(semaphore.acquire())
          await scene.world.advance(1_000)
          void acquiring.value.release()
          await scene.world.advance(1_000)
        }
        await scene.done(semaphoreOf(operator).resize(5))
        const acquiring = outcome(semaphore[how]({ count: 4 }))
        await scene.world.advance(1_000)
        expect(acquiring.value!.permits).toHaveLength(4)
      }
    }
  })

  test('Semaphore without a number rejects where none is stored, and follows the one that is', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { error } = await scene.start(semaphoreOf(zk).acquire())
    expect(error).toMatchObject({ name: 'RecipeError', permits: undefined, stored: undefined })
    expect(await scene.done(semaphoreOf(zk).permits())).toBeUndefined()
    await scene.done(semaphoreOf(zk).resize(1))
    expect((await scene.done(semaphoreOf(zk).acquire())).permit).toBe(0)
  })

  test('Semaphore refuses a path whose data is no number of permits', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create('/semaphores')
    scene.ensemble.nodes.create(PATH, { data: '192.168.0.1' })
    const zk = await scene.client()
    const semaphore = semaphoreOf(zk, { permits: 3 })
    const calls = [semaphore.acquire(), semaphore.resize(2), semaphore.permits()]
    for (const started of calls.map((call) => scene.start<unknown>(call))) {
      const { error } = await started
      expect(error).toMatchObject({ name: 'RecipeError', stored: undefined })
      expect((error as Error).message).toMatch(/11 bytes of data/)
    }
    expect(dataOf(scene).toString()).toBe('192.168.0.1')
  })
})

/** A client at a follower that is 200 ms behind, and one elsewhere. */
async function lagging(permits: number) {
  const scene = new Scene({ members: 3 })
  prepare(scene, permits)
  const follower = scene.ensemble.members.find(({ role }) => role === 'follower')!
  for (const member of scene.ensemble.members) if (member !== follower) member.refuse()
  const behind = await scene.client()
  for (const member of scene.ensemble.members) member.accept()
  follower.refuse()
  const operator = await scene.client()
  follower.lag(200)
  return { scene, behind, operator }
}

describe('Semaphore.resize', () => {
  test('Semaphore.resize at a server that still shows this number stores it again', async () => {
    const { scene, behind, operator } = await lagging(5)
    await scene.done(semaphoreOf(operator).resize(3))
    const resizing = outcome(semaphoreOf(behind).resize(5))
    await scene.world.advance(1_000)
    expect(resizing.status).toBe('fulfilled')
    expect(await scene.done(semaphoreOf(operator).permits())).toBe(5)
  })

  test('Semaphore.resize to more wakes the first in line, and every other object follows', async () => {
    const scene = new Scene({ members: 3 })
    prepare(scene, 1)
    const clients = await scene.clients(4)
    const objects = clients.map((zk) => semaphoreOf(zk, { permits: 1 }))
    const all = []
    for (const each of objects) all.push(await scene.start(each.acquire()))
    expect(heldOf(all)).toEqual([0])
    await scene.done(objects[3]!.resize(3))
    await scene.world.settle()
    expect(heldOf(all)).toEqual([0, 1, 2])
    await scene.done(all[0]!.value.release())
    expect(heldOf(all)).toEqual([1, 2, 3])
    // One that was made with the old number, and never saw it, is told.
    const late = await scene.start(semaphoreOf(clients[0]!, { permits: 1 }).acquire())
    expect(RecipeError.is(late.error)).toBe(true)
  })

  test('Semaphore.resize to fewer takes nothing from holders, and nothing is granted until there is room', async () => {
    const scene = new Scene({ members: 3 })
    prepare(scene, 3)
    const clients = await scene.clients(5)
    const all = []
    for (const zk of clients) all.push(await scene.start(semaphoreOf(zk).acquire()))
    await scene.done(semaphoreOf(clients[0]!).resize(1))
    expect(heldOf(all)).toEqual([0, 1, 2])
    await scene.done(all[2]!.value.release())
    await scene.done(all[1]!.value.release())
    expect(heldOf(all)).toEqual([0])
    await scene.done(all[0]!.value.release())
    expect(heldOf(all)).toEqual([3])
    // Below the new number, also where a smaller one became free last.
    expect(all[3]!.value.permit).toBe(0)
  })

  test('Semaphore grants no more than the number that is valid when the grant is committed, at whatever moment it shrinks (P11)', async () => {
    let shrunkFirst = 0
    for (let delay = 0; delay <= 12; delay++) {
      const scene = new Scene({ members: 3 })
      prepare(scene, 2)
      const [zk, other, operator] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
      await scene.done(semaphoreOf(other).acquire())
      scene.network.latency = () => 1
      const acquiring = outcome(semaphoreOf(zk).acquire())
      await scene.world.advance(delay)
      const resizing = outcome(operator.setData(PATH, stored(1)))
      await scene.world.advance(1_000)
      const at = resizing.value.mzxid
      const isFirst = acquiring.status === 'pending'
      if (isFirst) shrunkFirst++
      else expect(acquiring.value.fencingToken).toBeLessThan(at)
      expect(scene.children(LEASES)).toHaveLength(isFirst ? 1 : 2)
    }
    expect(shrunkFirst).toBeGreaterThan(0)
    expect(shrunkFirst).toBeLessThan(13)
  })

  test('Semaphore.acquire of more permits than are left rejects, at whatever moment the number shrinks', async () => {
    for (let delay = 0; delay <= 20; delay++) {
      const scene = new Scene({ members: 3 })
      prepare(scene, 2)
      const [zk, other, operator] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
      await scene.done(semaphoreOf(other).acquire())
      scene.network.latency = () => 1
      const acquiring = outcome(semaphoreOf(zk).acquire({ count: 2 }))
      await scene.world.advance(delay)
      outcome(operator.setData(PATH, stored(1)))
      await scene.world.advance(1_000)
      expect(acquiring.error).toMatchObject({ name: 'RangeError' })
      expect(scene.children(LOCKS)).toEqual([])
    }
  })

  test('Semaphore.acquire that waits for more permits than are left rejects, and lets others go on', async () => {
    const scene = new Scene()
    prepare(scene, 2)
    const [zk, other, third] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
    const held = await scene.done(semaphoreOf(zk).acquire())
    const big = await scene.start(semaphoreOf(other).acquire({ count: 2 }))
    const next = await scene.start(semaphoreOf(third).acquire())
    await scene.done(semaphoreOf(zk).resize(1))
    expect(big.error).toMatchObject({ name: 'RangeError', message: `count is 2, and ${PATH} has only 1 permits` })
    await scene.done(held.release())
    expect(next.value.isHeld()).toBe(true)
    await scene.done(next.value.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Semaphore whose node is deleted with all below it is made again by the next acquire', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const semaphore = new Semaphore(zk, PATH, { permits: 2 })
    const held = await scene.done(semaphore.acquire())
    await scene.world.advance(100)
    const { nodes } = scene.ensemble
    for (const path of [held.path, LEASES, `${PATH}/locks`, PATH, '/semaphores']) nodes.delete(path)
    await scene.world.settle()
    expect(held.isHeld()).toBe(false)
    expect((await scene.done(semaphore.acquire())).isHeld()).toBe(true)
    expect(dataOf(scene)).toEqual(stored(2))
  })
})
