// What each call costs without contention, in round trips, requests and transactions: the table in docs/cost.md. The link has
// a fixed latency: a segment of ten requests takes one round trip, and ten calls that wait for each other take ten.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  Barrier,
  connect,
  Counter,
  DoubleBarrier,
  Group,
  type Held,
  LeaderElection,
  Lock,
  Mirror,
  MultiLock,
  once,
  Semaphore,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

/** The rows of the table, by their first column. */
const documented = new Map(
  [
    ...readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8').matchAll(
      /^\| (.*\d\/\d+\/\d.*) \|$/gm,
    ),
  ].map(([, row]) => {
    const cells = row!.split('|').map((cell) => cell.trim())
    return [cells[0], cells] as const
  }),
)

const PATH = '/app/a'
const OTHER_PATH = '/app/b'
/** The record of a job. */
const LAST = '{"version":1,"slot":"last","at":"2026-11-27T01:00:00.000Z","label":"","fencingToken":"0x1"}'
/** Longer than a counter keeps its writer node, and shorter than a lease needs a sync. In ms. */
const PAUSE = 2_000
/** After this time no known touch leaves enough of a lease. In ms. */
const LONG = 30_000

/** Makes the call. Resolves with the function that takes it back, if there is one. */
type Call = (zk: ZooKeeper) => Promise<void | (() => Promise<unknown>)>

const holding =
  (acquire: (zk: ZooKeeper) => Promise<Held | undefined>): Call =>
  async (zk) => {
    const held = (await acquire(zk))!
    return () => held.release()
  }

/** As they are called in docs/cost.md. */
const calls: Readonly<Record<string, Call>> = {
  '`Lock.acquire`': holding((zk) => new Lock(zk, PATH).acquire()),
  '`Lock.acquire` with another `heldWhile`': holding((zk) => new Lock(zk, PATH, { heldWhile: 'connected' }).acquire()),
  '`Lock.tryAcquire`': holding((zk) => new Lock(zk, PATH).tryAcquire()),
  '`SharedLock.read.acquire`': holding((zk) => new SharedLock(zk, PATH).read.acquire()),
  '`SharedLock.write.acquire`': holding((zk) => new SharedLock(zk, PATH).write.acquire()),
  '`LeaderElection.campaign`': holding((zk) => new LeaderElection(zk, PATH).campaign()),
  '`MultiLock.acquire` of two paths': holding((zk) => new MultiLock(zk, [PATH, OTHER_PATH]).acquire()),
  '`MultiLock.tryAcquire` of two paths': holding((zk) => new MultiLock(zk, [PATH, OTHER_PATH]).tryAcquire()),
  '`Semaphore.acquire`': holding((zk) => new Semaphore(zk, PATH, { permits: 2 }).acquire()),
  '`Semaphore.tryAcquire`': holding((zk) => new Semaphore(zk, PATH, { permits: 2 }).tryAcquire()),
  '`Group.join`': async (zk) => {
    const member = await new Group(zk, PATH).join()
    return () => member.release()
  },
  '`once` with a new `slot`': async (zk) => void (await once(zk, PATH, { slot: String(zk.runtime.now()) }, () => {})),
  '`once` with the last `slot`': async (zk) => void (await once(zk, OTHER_PATH, { slot: 'last' }, () => {})),
  '`once` with `every` that runs': async (zk) => void (await once(zk, PATH, { every: 1 }, () => {})),
  '`Counter.add`': async (zk) => void (await new Counter(zk, PATH).add(1n)),
  '`Barrier.set`': async (zk) => {
    const barrier = new Barrier(zk, PATH)
    await barrier.set()
    return () => barrier.remove()
  },
  '`Barrier.wait` when it is open': (zk) => new Barrier(zk, PATH).wait(),
  '`DoubleBarrier.enter` alone': async (zk) => {
    const entry = await new DoubleBarrier(zk, PATH, { size: 1 }).enter()
    return () => entry.leave()
  },
}

test.each(Object.entries(calls))('%s costs what docs/cost.md says', async (name, call) => {
  const scene = new Scene()
  scene.ensemble.nodes.create('/app')
  scene.ensemble.nodes.create(OTHER_PATH)
  scene.ensemble.nodes.create(`${OTHER_PATH}/done`, { data: LAST })
  const zk = await scene.client()
  const cost = async (calling: Promise<unknown>) => {
    const since = scene.since()
    const trips = await scene.roundTrips(calling)
    return [trips, since.ops().length, since.ops().filter(isTransaction).length].join('/')
  }
  const costs: string[] = []
  let release = ''
  for (const pause of [0, PAUSE, LONG]) {
    await scene.world.advance(pause)
    const calling = call(zk)
    costs.push(await cost(calling))
    const takeBack = await calling
    if (takeBack !== undefined) release = await cost(takeBack())
    await scene.world.settle()
  }
  expect([name, ...costs, release]).toEqual(documented.get(name))
  await scene.world.advance(PAUSE)
  expect(scene.leftovers()).toEqual(nothing)
})

const READS = ['sync', 'exists', 'getData', 'getChildren2', 'multiRead', 'addWatch', 'removeWatches']

/** Whether the leader makes a transaction of it, which a quorum must log. A refused write is one, too. */
function isTransaction(op: string | undefined): boolean {
  return !READS.includes(op!)
}

test('Every row of the table in docs/cost.md is tested', () => {
  expect([...documented.keys()]).toEqual([...Object.keys(calls), ...Object.keys(trees)])
})

test('connect takes one round trip, and the first call another', async () => {
  const scene = new Scene()
  const connecting = connect(scene.connectString, { runtime: scene.world })
  expect(await scene.roundTrips(connecting)).toBe(1)
  expect(await scene.roundTrips((await connecting).exists('/'))).toBe(1)
})

/** The levels below the top node, and how many children each node above the lowest level has. */
const trees: Readonly<Record<string, readonly [depth: number, breadth: number]>> = {
  '`Mirror.open` of 1 node': [0, 0],
  '`Mirror.open` of 100 more, one level below': [1, 100],
  '`Mirror.open` of 110 more, on two levels': [2, 10],
  '`Mirror.open` of 1,110 more, on three levels': [3, 10],
  '`Mirror.open` of 10,000 more, one level below': [1, 10_000],
  '`Mirror.open` of 10,100 more, on two levels': [2, 100],
}

async function mirrorOf([depth, breadth]: readonly [number, number]) {
  const scene = new Scene()
  const make = (path: string, levels: number): void => {
    scene.ensemble.nodes.create(path)
    for (let child = 0; levels > 0 && child < breadth; child++) make(`${path}/${child}`, levels - 1)
  }
  make(PATH, depth)
  return { scene, zk: await scene.client() }
}

test.each(Object.entries(trees))('%s costs what docs/cost.md says', async (name, tree) => {
  const { scene, zk } = await mirrorOf(tree)
  const since = scene.since()
  const opening = new Mirror(zk, PATH).open()
  const trips = await scene.roundTrips(opening)
  const ops = since.ops()
  expect([name, [trips, ops.length, ops.filter(isTransaction).length].join('/')]).toEqual(documented.get(name))
  await scene.done((await opening).close())
})

test('Mirror.open of many nodes does not hold up other calls of the client', async () => {
  const { scene, zk } = await mirrorOf([1, 10_000])
  scene.network.latency = () => 1
  const opening = outcome(new Mirror(zk, PATH).open())
  for (let trip = 0; opening.status === 'pending'; trip++) {
    const call = outcome(zk.exists('/'))
    await scene.world.advance(1)
    expect([trip, call.status]).toEqual([trip, 'fulfilled'])
  }
  await scene.done(opening.value.close())
})
