// What each call costs without contention, in round trips, in requests and in transactions. The link has a fixed latency: a segment
// of ten requests takes one round trip, and ten calls that wait for each other take ten.
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
  Semaphore,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/app/a'
const OTHER_PATH = '/app/b'
/** Longer than a counter keeps its writer node, and shorter than a lease needs a sync. In ms. */
const PAUSE = 2_000
/** After this time no known touch leaves enough of a lease. In ms. */
const LONG = 30_000

/** Makes the call. Resolves with the function that takes it back. */
type Call = (zk: ZooKeeper) => Promise<() => Promise<unknown>>

const holding =
  (acquire: (zk: ZooKeeper) => Promise<Held | undefined>): Call =>
  async (zk) => {
    const held = (await acquire(zk))!
    return () => held.release()
  }

const leaveNothing = () => Promise.resolve()

/**
 * Each call, and its `round trips/requests/transactions`: on a new path whose parent exists; again; again after a pause; and again
 * after a long time, when a lease needs a sync first. The number at the end is the round trips of the release. A transaction is a
 * request that a quorum must log, even if it is refused.
 */
const table: readonly (readonly [name: string, call: Call, costs: readonly (number | string)[]])[] = [
  ['Lock.acquire', holding((zk) => new Lock(zk, PATH).acquire()), ['2/6/4', '1/2/1', '1/2/1', '2/3/1', 1]],
  [
    'Lock.acquire, held while connected',
    holding((zk) => new Lock(zk, PATH, { heldWhile: 'connected' }).acquire()),
    ['2/6/4', '1/2/1', '1/2/1', '1/2/1', 1],
  ],
  ['Lock.tryAcquire', holding((zk) => new Lock(zk, PATH).tryAcquire()), ['3/7/4', '2/3/1', '2/3/1', '2/4/1', 1]],
  [
    'SharedLock.read.acquire',
    holding((zk) => new SharedLock(zk, PATH).read.acquire()),
    ['2/6/4', '1/2/1', '1/2/1', '2/3/1', 1],
  ],
  [
    'SharedLock.write.acquire',
    holding((zk) => new SharedLock(zk, PATH).write.acquire()),
    ['2/6/4', '1/2/1', '1/2/1', '2/3/1', 1],
  ],
  [
    'LeaderElection.campaign',
    holding((zk) => new LeaderElection(zk, PATH).campaign()),
    ['2/6/4', '1/2/1', '1/2/1', '2/3/1', 1],
  ],
  [
    'MultiLock.acquire',
    holding((zk) => new MultiLock(zk, [PATH, OTHER_PATH]).acquire()),
    ['2/10/6', '1/3/1', '1/3/1', '2/4/1', 1],
  ],
  [
    'MultiLock.tryAcquire',
    holding((zk) => new MultiLock(zk, [PATH, OTHER_PATH]).tryAcquire()),
    ['3/12/6', '2/5/1', '2/5/1', '2/6/1', 1],
  ],
  [
    'Semaphore.acquire',
    holding((zk) => new Semaphore(zk, PATH, { permits: 2 }).acquire()),
    ['3/14/7', '2/6/2', '2/6/2', '3/7/2', 1],
  ],
  [
    'Semaphore.tryAcquire',
    holding((zk) => new Semaphore(zk, PATH, { permits: 2 }).tryAcquire()),
    ['4/18/7', '3/10/2', '3/10/2', '3/11/2', 1],
  ],
  [
    'Group.join',
    (zk) => new Group(zk, PATH).join().then((member) => () => member.leave()),
    ['2/7/4', '1/2/1', '1/2/1', '1/2/1', 1],
  ],
  [
    'Counter.add',
    (zk) => new Counter(zk, PATH).add(1n).then(() => leaveNothing),
    ['2/4/3', '2/4/3', '2/4/3', '2/4/3', 0],
  ],
  [
    'Barrier.set',
    (zk) => new Barrier(zk, PATH).set().then(() => () => new Barrier(zk, PATH).remove()),
    ['1/1/1', '1/1/1', '1/1/1', '1/1/1', 2],
  ],
  [
    'Barrier.wait',
    (zk) => new Barrier(zk, PATH).wait().then(() => leaveNothing),
    ['1/3/1', '1/3/1', '1/3/1', '1/3/1', 0],
  ],
  [
    'DoubleBarrier.enter',
    (zk) => new DoubleBarrier(zk, PATH, { size: 1 }).enter().then((entry) => () => entry.leave()),
    ['5/8/5', '3/5/2', '3/5/2', '3/5/2', 3],
  ],
]

test.each(table)('%s takes its round trips, requests and transactions', async (_, call, costs) => {
  const scene = new Scene()
  scene.ensemble.nodes.create('/app')
  const zk = await scene.client()
  const measured: string[] = []
  let back = 0
  for (const pause of [0, 0, PAUSE, LONG]) {
    await scene.world.advance(pause)
    const since = scene.since()
    const calling = call(zk)
    const trips = await scene.roundTrips(calling)
    measured.push([trips, since.ops().length, since.ops().filter(isTransaction).length].join('/'))
    const takeBack = await calling
    back = await scene.roundTrips(takeBack())
    await scene.world.settle()
  }
  expect([...measured, back]).toEqual(costs)
  await scene.world.advance(PAUSE)
  expect(scene.leftovers()).toEqual(nothing)
})

const READS = ['sync', 'exists', 'getData', 'getChildren2', 'addWatch', 'removeWatches']

/** Whether the leader makes a transaction of it, which a quorum must log. A refused write is one, too. */
function isTransaction(op: string | undefined): boolean {
  return !READS.includes(op!)
}

test('connect takes one round trip, and the first call another', async () => {
  const scene = new Scene()
  const connecting = connect(scene.connectString, { runtime: scene.world })
  expect(await scene.roundTrips(connecting)).toBe(1)
  expect(await scene.roundTrips((await connecting).exists('/'))).toBe(1)
})

test.each([
  ['1 node', 0, 0, 2],
  ['100 nodes in one list', 1, 100, 4],
  ['110 nodes in two levels', 2, 10, 6],
  ['10,000 nodes in one list', 1, 10_000, 43],
])(
  'Mirror.open takes two round trips for each level, and one for each 256 nodes: %s',
  async (_, depth, breadth, trips) => {
    const scene = new Scene()
    const make = (path: string, levels: number): void => {
      scene.ensemble.nodes.create(path)
      for (let child = 0; levels > 0 && child < breadth; child++) make(`${path}/${child}`, levels - 1)
    }
    make(PATH, depth)
    const zk = await scene.client()
    const opening = Mirror.open(zk, PATH)
    expect(await scene.roundTrips(opening)).toBe(trips)
    await scene.done((await opening).close())
  },
)
