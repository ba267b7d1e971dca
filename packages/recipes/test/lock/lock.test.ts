// Promises 1 and 2: one holder, in the order of asking.
import { describe, expect, test } from 'vitest'
import { type AcquireOptions, type Held, Lock, type QueuePlace } from '../../src/index.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/locks/report'

function held(acquirings: readonly Outcome<Held>[]): Held[] {
  return acquirings.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
}

describe('Lock.acquire', () => {
  test('Lock.acquire is granted to one after the other, in the order of their nodes (L01)', async () => {
    const scene = new Scene()
    const acquirings: Outcome<Held>[] = []
    for (const zk of await scene.clients(5)) acquirings.push(await scene.start(new Lock(zk, PATH).acquire()))
    for (let granted = 1; granted <= 5; granted++) {
      expect(acquirings.map(({ status }) => status === 'fulfilled')).toEqual([1, 2, 3, 4, 5].map((n) => n <= granted))
      const holders = held(acquirings).filter((each) => each.isHeld())
      expect(holders).toEqual([acquirings[granted - 1]!.value])
      await scene.done(holders[0]!.release())
    }
    const tokens = held(acquirings).map(({ fencingToken }) => fencingToken)
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
    expect(new Set(tokens).size).toBe(5)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire follows the order of nodes when all ask in one turn (L01)', async () => {
    const scene = new Scene()
    const granted: string[] = []
    const clients = await scene.clients(5)
    for (const zk of clients) {
      void new Lock(zk, PATH).run((each) => {
        granted.push(each.path)
      })
    }
    await scene.world.settle()
    const created = [...scene.ensemble.history].filter(
      (entry) =>
        entry.from === 'server' &&
        entry.message.type === 'reply' &&
        entry.message.op === 'create2' &&
        entry.message.err === 0,
    )
    expect(granted).toHaveLength(5)
    expect([...granted].sort(bySequence)).toEqual(granted)
    expect(created).toHaveLength(5)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Lock.acquire excludes another lock object of the same session (L19)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const first = await scene.done(new Lock(zk, PATH).acquire())
    const second = await scene.start(new Lock(zk, PATH).acquire())
    expect(second.status).toBe('pending')
    await scene.done(first.release())
    expect(second.value.isHeld()).toBe(true)
    expect(second.value.fencingToken).toBeGreaterThan(first.fencingToken)
  })

  test('Lock.acquire excludes another acquire of the same object (L19)', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const first = await scene.done(lock.acquire())
    const second = await scene.start(lock.acquire())
    expect(second.status).toBe('pending')
    await scene.done(first.release())
    expect(second.value.isHeld()).toBe(true)
  })

  test('Lock.acquire has nothing to do with other paths', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const [one, other] = [new Lock(zk, '/locks/a'), new Lock(zk, '/locks/b')]
    expect((await scene.done(one.acquire())).isHeld()).toBe(true)
    expect((await scene.done(other.acquire())).isHeld()).toBe(true)
  })

  test('Lock.acquire calls onQueued with all contenders ahead, oldest first, and not without any', async () => {
    const scene = new Scene()
    const places: QueuePlace[][] = [[], [], []]
    const acquirings: Outcome<Held>[] = []
    for (const [index, zk] of (await scene.clients(3)).entries()) {
      const onQueued = (place: QueuePlace) => places[index]!.push(place)
      acquirings.push(await scene.start(new Lock(zk, PATH).acquire({ onQueued })))
    }
    const paths = scene.children(PATH).map((name) => `${PATH}/${name}`)
    expect(places).toEqual([[], [{ position: 1, ahead: [paths[0]] }], [{ position: 2, ahead: [paths[0], paths[1]] }]])
  })

  test('Lock.acquire gives its place up when onQueued throws', async () => {
    const scene = new Scene()
    const [first, second] = await scene.clients(2)
    const holder = await scene.done(new Lock(first!, PATH).acquire())
    const onQueued = () => {
      throw new Error('of the caller')
    }
    const waiting = await scene.start(new Lock(second!, PATH).acquire({ onQueued }))
    expect(waiting.error).toEqual(new Error('of the caller'))
    await scene.done(holder.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each([
    ['a negative timeout', { timeout: -1 }, RangeError],
    ['a timeout that is no number', { timeout: Number.NaN }, RangeError],
    ['a signal that is not an AbortSignal', { signal: {} }, TypeError],
    ['an onQueued that cannot be called', { onQueued: 1 }, TypeError],
  ])('Lock.acquire refuses %s, and sends nothing', async (_, options, error) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const acquiring = await scene.start(lock.acquire(options as unknown as AcquireOptions))
    expect(acquiring.error).toBeInstanceOf(error)
    expect(since.ops()).toEqual([])
  })
})

describe('Lock', () => {
  test.each([
    ['no client', () => new Lock(undefined as never, PATH)],
    ['a client that is none', () => new Lock({} as never, PATH)],
  ])('Lock refuses %s', (_, make) => {
    expect(make).toThrow(TypeError)
  })

  test.each(['/', '', 'locks', '/locks/', '/a//b'])('Lock refuses the path %j', async (path) => {
    const zk = await new Scene().client()
    expect(() => new Lock(zk, path)).toThrow(TypeError)
  })

  test('Lock.contenders shows which contender holds and which wait, oldest first', async () => {
    const scene = new Scene()
    const clients = await scene.clients(3)
    for (const [index, zk] of clients.entries()) {
      await scene.start(new Lock(zk, PATH, { label: `host-${index}` }).acquire())
      await scene.world.advance(1_000)
    }
    const contenders = await scene.done(new Lock(clients[2]!, PATH).contenders())
    const paths = scene.children(PATH).map((name) => `${PATH}/${name}`)
    expect(contenders).toMatchObject(
      clients.map(({ session }, position) => ({
        path: paths[position],
        kind: 'lock',
        position,
        isGranted: position === 0,
        label: `host-${position}`,
        sessionId: session.id,
        since: scene.world.wallNow() - 3_000 + position * 1_000,
        fencingToken: scene.ensemble.nodes.get(paths[position]!)!.stat.czxid,
      })),
    )
  })

  test('Lock.contenders is empty on a path that was never used', async () => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    expect(await scene.done(lock.contenders())).toEqual([])
  })

  test('Lock.contenders leaves out contenders that left while it was read', async () => {
    const scene = new Scene()
    const [zk] = await scene.clients(1)
    const lock = new Lock(zk!, PATH)
    const first = await scene.done(lock.acquire())
    const second = outcome(lock.acquire())
    await scene.world.settle()
    scene.ensemble.faults.fail({ op: 'getData', code: 'NoNode' })
    const contenders = await scene.done(lock.contenders())
    expect(contenders.map(({ position }) => position)).toEqual([0])
    expect(contenders[0]!.path).not.toBe(first.path)
    expect(second.status).toBe('pending')
  })
})

function bySequence(one: string, other: string): number {
  return Number(one.slice(-10)) - Number(other.slice(-10))
}
