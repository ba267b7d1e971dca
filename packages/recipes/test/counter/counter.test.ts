// Counter without faults: what is stored, what it costs, what it refuses.
import { CREATOR_ALL_ACL, Perms } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { Counter, KeeperError, op, type ZooKeeper } from '../../src/index.ts'
import { WriterNode } from '../../src/counter/writer-node.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/app/orders'
/** Until a writer node is gone, in ms. */
const RESTED = 1_100
const HIGHEST = 2n ** 63n - 1n
const LOWEST = -(2n ** 63n)

function bytes(value: bigint): Uint8Array {
  const data = Buffer.alloc(8)
  data.writeBigInt64BE(value)
  return new Uint8Array(data)
}

async function prepared(value?: bigint): Promise<{ scene: Scene; zk: ZooKeeper; counter: Counter }> {
  const scene = new Scene()
  if (value !== undefined) scene.ensemble.nodes.create(PATH, { data: bytes(value) })
  const zk = await scene.client()
  return { scene, zk, counter: new Counter(zk, PATH) }
}

const stored = (scene: Scene) => scene.ensemble.nodes.get(PATH)!.data

describe('Counter', () => {
  test('Counter is 0n until the first change, which makes its node and what is missing above it', async () => {
    const { scene, counter } = await prepared()
    expect(await scene.done(counter.get())).toBe(0n)
    expect(scene.ensemble.nodes.get('/app')).toBeUndefined()
    expect(await scene.done(counter.add(5n))).toBe(5n)
    expect(await scene.done(counter.add(-7n))).toBe(-2n)
    expect(await scene.done(counter.update((value) => value * 10n))).toBe(-20n)
    expect(await scene.done(counter.get())).toBe(-20n)
    await scene.world.advance(RESTED)
    expect(scene.leftovers()).toEqual(nothing)
    expect(scene.children(PATH)).toEqual([])
  })

  test.each([0n, 1n, -1n, HIGHEST, LOWEST, 0x0102030405060708n])(
    'Counter stores %d in 8 bytes, big-endian, as Curator does',
    async (value) => {
      const { scene, counter } = await prepared()
      await scene.done(counter.update(() => value))
      expect(stored(scene)).toEqual(bytes(value))
      expect(await scene.done(counter.get())).toBe(value)
    },
  )

  test('Counter takes an empty node for 0n, as Curator does', async () => {
    const { scene, counter } = await prepared()
    scene.ensemble.nodes.create(PATH)
    expect(await scene.done(counter.get())).toBe(0n)
    expect(await scene.done(counter.add(1n))).toBe(1n)
  })

  test.each([1, 7, 9, 200])('Counter refuses a node of %i bytes, and does not touch it', async (length) => {
    const { scene, counter } = await prepared()
    const data = new Uint8Array(length)
    scene.ensemble.nodes.create(PATH, { data })
    const calls = [counter.get(), counter.add(1n), counter.update(() => 1n)]
    for (const started of calls.map((call) => scene.start<unknown>(call))) {
      const calling = await started
      expect(calling.error).toBeInstanceOf(TypeError)
      expect(String(calling.error)).toContain(`${PATH} is not a counter: its data has ${length} bytes`)
    }
    expect(stored(scene)).toEqual(data)
    await scene.world.advance(RESTED)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter gives every call its own number, those of one turn and those of other clients', async () => {
    const scene = new Scene({ members: 3 })
    const clients = await scene.clients(4)
    scene.network.latency = () => 3
    const adding = clients.flatMap((zk) => {
      const [one, other] = [new Counter(zk, PATH), new Counter(zk, PATH)]
      return Array.from({ length: 25 }, (_, index) => outcome((index % 5 === 0 ? other : one).add(1n)))
    })
    await scene.world.advance(20_000)
    const numbers = adding.map(({ value }) => value).sort((one, other) => Number(one - other))
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => BigInt(index + 1)))
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter.update calls its function again when another program was faster', async () => {
    const { scene, counter } = await prepared(1n)
    const seen: bigint[] = []
    const updating = outcome(
      counter.update((value) => {
        if (seen.push(value) === 1) scene.ensemble.nodes.setData(PATH, bytes(10n))
        return value + 1n
      }),
    )
    await scene.world.advance(1_000)
    expect(updating.value).toBe(11n)
    expect(seen).toEqual([1n, 10n])
  })

  test('Counter of a view of a client is below the chroot of the view', async () => {
    const { scene, zk } = await prepared()
    await scene.done(new Counter(zk.withChroot('/app'), '/orders').add(3n))
    expect(stored(scene)).toEqual(bytes(3n))
  })
})

describe('The cost of a Counter', () => {
  test('Counter.add takes one request and one round trip behind another, and two round trips at first', async () => {
    const { scene, counter } = await prepared(0n)
    const since = scene.since()
    expect(await scene.roundTrips(counter.add(1n))).toBe(2)
    // The first create makes the counter, if it is missing.
    expect(since.ops()).toEqual(['create2', 'create2', 'getData', 'multi'])
    for (let times = 0; times < 10; times++) expect(await scene.roundTrips(counter.add(1n))).toBe(1)
    expect(since.ops().slice(4)).toEqual(Array(10).fill('multi'))
    await scene.world.advance(RESTED)
    expect(since.ops().slice(14)).toEqual(['delete'])
    await scene.world.advance(60_000)
    expect(since.ops()).toHaveLength(15)
  })

  test.each([2, 4, 8])('Counter lets each of %i programs that add without end have its share', async (programs) => {
    const scene = new Scene({ members: 3 })
    const clients = await scene.clients(programs)
    scene.network.latency = () => 2
    scene.memberLatency = 1
    const counts = clients.map(() => 0)
    let isOver = false
    const adding = clients.map(async (zk, program) => {
      for (const counter = new Counter(zk, PATH); !isOver; counts[program]!++) await counter.add(1n)
    })
    await scene.world.advance(3_000)
    isOver = true
    await scene.world.advance(3_000)
    await Promise.all(adding)
    const total = counts.reduce((sum, count) => sum + count, 0)
    // The program at the leader is the fastest.
    expect(Math.min(...counts)).toBeGreaterThan(total / programs / 5)
    // A write takes about 4 ms here, and most attempts of the slow ones fail.
    expect(total).toBeGreaterThan(150)
    expect(stored(scene)).toEqual(bytes(BigInt(total)))
  })

  test('Counter writes the calls that wait together in one transaction', async () => {
    const { scene, counter } = await prepared(0n)
    await scene.done(counter.add(1n))
    const since = scene.since()
    const adding = Array.from({ length: 100 }, () => outcome(counter.add(1n)))
    await scene.world.settle()
    expect(adding.map(({ value }) => value)).toEqual(Array.from({ length: 100 }, (_, index) => BigInt(index + 2)))
    expect(since.ops()).toEqual(['multi'])
  })
})

describe('What Counter refuses', () => {
  test.each<[string, (zk: ZooKeeper) => unknown, typeof Error]>([
    ['no client', () => new Counter({} as ZooKeeper, PATH), TypeError],
    ['a path that is none', (zk) => new Counter(zk, 'orders'), Error],
    ['the root', (zk) => new Counter(zk, '/'), TypeError],
    ['an unknown option', (zk) => new Counter(zk, PATH, { label: 'a' } as object), TypeError],
    ['an empty acl', (zk) => new Counter(zk, PATH, { acl: [] }), TypeError],
    ['a number in place of a bigint', (zk) => new Counter(zk, PATH).add(1 as unknown as bigint), TypeError],
    ['no function', (zk) => new Counter(zk, PATH).update(1n as never), TypeError],
    ['a timeout below 0', (zk) => new Counter(zk, PATH).add(1n, { timeout: -1 }), RangeError],
    [
      'a signal that is not an AbortSignal',
      (zk) => new Counter(zk, PATH).add(1n, { signal: {} as AbortSignal }),
      TypeError,
    ],
    ['an unknown option of a call', (zk) => new Counter(zk, PATH).add(1n, { retries: 3 } as object), TypeError],
    ['an unknown option of get', (zk) => new Counter(zk, PATH).get({ sync: true } as object), TypeError],
  ])('Counter refuses %s before anything is sent', async (_, call, type) => {
    const { scene, zk } = await prepared()
    const since = scene.since()
    const calling = await scene.start((async () => await call(zk))())
    expect(calling.error).toBeInstanceOf(type)
    expect(since.ops()).toEqual([])
  })

  test('Counter refuses a change that would overflow, writes nothing of it, and goes on with those behind it (N08)', async () => {
    const { scene, counter } = await prepared(HIGHEST - 2n)
    const adding = [2n, 1n, -5n].map((delta) => outcome(counter.add(delta)))
    await scene.world.settle()
    expect(adding[0]!.value).toBe(HIGHEST)
    expect(adding[1]!.error).toBeInstanceOf(RangeError)
    expect(String(adding[1]!.error)).toContain(`${PATH} would overflow`)
    expect(adding[2]!.value).toBe(HIGHEST - 5n)
    const since = scene.since()
    expect((await scene.start(counter.add(-(2n ** 64n)))).error).toBeInstanceOf(RangeError)
    expect(since.ops()).toEqual([])
    await scene.done(counter.update(() => LOWEST))
    expect((await scene.start(counter.add(-1n))).error).toBeInstanceOf(RangeError)
    expect(stored(scene)).toEqual(bytes(LOWEST))
  })

  test('Counter.update rejects with what its function throws, and with a TypeError for a result that is no bigint', async () => {
    const { scene, counter } = await prepared(1n)
    const soldOut = new Error('sold out')
    const calls = [
      counter.update(() => {
        throw soldOut
      }),
      counter.update(() => 7 as unknown as bigint),
      counter.update((async (value: bigint) => value) as never),
      counter.add(1n),
    ].map(outcome)
    await scene.world.settle()
    expect(calls[0]!.error).toBe(soldOut)
    expect(calls[1]!.error).toBeInstanceOf(TypeError)
    expect(calls[2]!.error).toBeInstanceOf(TypeError)
    expect(calls[3]!.value).toBe(2n)
  })

  test('Counter rejects with NoChildrenForEphemerals on a path that is an ephemeral node', async () => {
    const { scene, zk, counter } = await prepared()
    scene.ensemble.nodes.create('/app')
    await scene.done(zk.create(PATH, '', { mode: 'EPHEMERAL' }))
    expect((await scene.start(counter.add(1n))).error).toMatchObject({ code: 'NoChildrenForEphemerals' })
  })

  test.each([
    ['WRITE', Perms.ALL - Perms.WRITE],
    ['CREATE', Perms.ALL - Perms.CREATE],
    ['READ', Perms.ALL - Perms.READ],
  ])('Counter.add rejects with NoAuth at once where the node does not grant %s', async (_, perms) => {
    const { scene, counter } = await prepared()
    scene.ensemble.nodes.create(PATH, { data: bytes(1n), acl: [{ perms, id: { scheme: 'world', id: 'anyone' } }] })
    const adding = await scene.start(counter.add(1n))
    expect(adding.error).toMatchObject({ code: 'NoAuth', outcomeUnknown: false })
    expect(stored(scene)).toEqual(bytes(1n))
    await scene.world.advance(RESTED)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter logs the writer node that it may not delete', async () => {
    const scene = new Scene()
    const lines: unknown[] = []
    const zk = await scene.client({ logger: (level, message) => lines.push([level, message]) })
    const acl = [{ perms: Perms.ALL - Perms.DELETE, id: { scheme: 'world', id: 'anyone' } }]
    scene.ensemble.nodes.create(PATH, { data: bytes(1n), acl })
    expect(await scene.done(new Counter(zk, PATH).add(1n))).toBe(2n)
    await scene.world.advance(RESTED)
    expect(lines).toContainEqual(['error', 'zk: a node cannot be deleted'])
    expect(scene.children(PATH)).toHaveLength(1)
  })

  test('Counter gives its nodes the acl that it was given', async () => {
    const scene = new Scene()
    const zk = await scene.client({ auth: [{ scheme: 'digest', auth: 'ann:secret' }] })
    await scene.done(new Counter(zk, PATH, { acl: CREATOR_ALL_ACL }).add(1n))
    const [writer] = scene.children(PATH)
    for (const path of [PATH, `${PATH}/${writer}`]) {
      expect(scene.ensemble.nodes.get(path)!.acl).toMatchObject([{ id: { scheme: 'digest' } }])
    }
  })

  test('Counter never leaves the version -1, which would stand for any version (N09)', async () => {
    const { scene, zk } = await prepared(1n)
    const node = new WriterNode(zk, PATH, undefined)
    const state = await scene.done(node.create(false))
    const multi: unknown[] = []
    zk.multi = (ops) => {
      multi.push(...ops.map((each) => each.path))
      return Promise.resolve(ops.map(() => ({ version: 0, czxid: 1n, numChildren: 1 }))) as never
    }
    await node.write({ ...state, version: -3 }, 2n, '1')
    expect(multi.filter((path) => path === PATH)).toHaveLength(1)
    await node.write({ ...state, version: -2 }, 2n, '2')
    expect(multi.filter((path) => path === PATH)).toHaveLength(3)
    zk.getData = () => Promise.resolve({ data: bytes(1n), stat: { version: -1 } }) as never
    await expect(node.read()).rejects.toThrow('stands for any')
  })

  test('Counter takes versions below -1, which follow after 2^31 writes', async () => {
    const { scene, zk } = await prepared(1n)
    const writing = await scene.start(zk.multi([op.setData(PATH, '', { version: -3 })]))
    expect(KeeperError.is(writing.error, 'BadVersion')).toBe(true)
  })

  test('Counter.update that throws at a result that is not written yet is called again with what was written', async () => {
    const { scene, counter } = await prepared(1n)
    await scene.done(counter.get())
    const soldOut = (value: bigint) => {
      if (value === 0n) throw new Error('sold out')
      return value - 1n
    }
    // Another program adds to it before the changes are written.
    let isFirst = true
    const takeOne = (value: bigint) => {
      if (isFirst) scene.ensemble.nodes.setData(PATH, bytes(101n))
      isFirst = false
      return value - 1n
    }
    const both = [outcome(counter.update(takeOne)), outcome(counter.update(soldOut))]
    await scene.world.advance(RESTED)
    expect(both.map(({ status, error }) => [status, error])).toEqual([
      ['fulfilled', undefined],
      ['fulfilled', undefined],
    ])
    expect(stored(scene)).toEqual(bytes(99n))
    // Where the result is written, it rejects.
    scene.ensemble.nodes.setData(PATH, bytes(1n))
    const again = [outcome(counter.update((value) => value - 1n)), outcome(counter.update(soldOut))]
    await scene.world.advance(RESTED)
    expect(again.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })
})
