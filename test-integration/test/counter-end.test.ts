// Paths of real servers with a used-up sequence counter, preset in the snapshot that the servers start with. From 3.6 on
// it stays at its last number, and every contender gets the same number. Negative numbers occur while creates are in progress
// in the leader, which may be long after a follower has answered them. Before 3.6 it wraps to negative numbers.
import { connect, type Held, KeeperError, LeaderElection, Lock, SharedLock, type ZooKeeper } from '@zk/recipes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ensemble } from '../src/ensemble/index.ts'
import { isBefore } from '@zk/conform/internal'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { shared } from './support/shared-ensemble.ts'

const LAST = 2 ** 31 - 1
const PATHS = ['/slowly', '/at-once', '/candidates', '/mixed', '/others']

interface Turn {
  readonly path: string
  readonly token: bigint
}

/** The turns of all contenders, in the order of the grants. Checks that holders which exclude each other never overlap. */
async function turns(asked: readonly Promise<Held>[], mayShare = (_path: string) => false): Promise<Turn[]> {
  const holding = new Set<string>()
  const turns: Turn[] = []
  const take = async (acquiring: Promise<Held>) => {
    const held = await acquiring
    const { path, fencingToken: token } = held
    const excluded = [...holding].filter((other) => !mayShare(path) || !mayShare(other))
    expect(excluded, `hold beside ${path}`).toEqual([])
    holding.add(path)
    turns.push({ path, token })
    // A round trip in which another might be granted.
    await held.multi([])
    holding.delete(path)
    await held.release()
  }
  await Promise.all(asked.map(take))
  return turns
}

/** Waits until all exist; returns them in the order of creation. */
async function created(zk: ZooKeeper, path: string, count: number): Promise<Turn[]> {
  for (;;) {
    const { children, changed } = await zk.getChildrenAndWatch(path)
    if (children.length < count) {
      await changed
      continue
    }
    const nodes = children.map(async (name) => ({
      path: `${path}/${name}`,
      token: (await zk.exists(`${path}/${name}`))!.czxid,
    }))
    return (await Promise.all(nodes)).sort((one, other) => (one.token < other.token ? -1 : 1))
  }
}

const number = ({ path }: Turn) => Number(/lock-(-?\d{9,10})$/.exec(path)![1])

/** The number after LAST - 1, for creates one by one. DataTree.createNode never lowers a counter from 3.6 on. */
function numbersThatFollow(count: number): number[] {
  const wraps = isBefore(shared?.release ?? '', '3.6')
  return Array.from({ length: count }, (_, index) => (wraps && index > 0 ? -LAST - 2 + index : LAST))
}

describeEnsemble('A real counter that is used up', () => {
  let ensemble: Ensemble
  // When the leader shows a create as done, it is no longer in progress there. FinalRequestProcessor, PrepRequestProcessor
  let atLeader: ZooKeeper
  let clients: ZooKeeper[]

  beforeAll(async () => {
    ensemble = await Ensemble.start({ tree: PATHS.map((path) => ({ path, counter: LAST - 1 })) })
    atLeader = await connect((await ensemble.leader()).address)
    clients = [atLeader]
    while (clients.length < 5) clients.push(await connect(ensemble.connectString))
  }, 120_000)

  afterAll(async () => {
    await Promise.all(clients.map((zk) => zk.close()))
    await ensemble.stop()
  }, 60_000)

  /** A holder, and these contenders waiting behind it. Returns their grants in order, and their order of creation. */
  async function lineUp(path: string, holder: Promise<Held>, ask: () => Promise<Held>[]) {
    const first = await holder
    const asked = ask()
    const line = await created(atLeader, path, asked.length + 1)
    await first.release()
    return { line: line.slice(1), granted: await turns(asked) }
  }

  test('Lock has one holder at a time, in the order of creation, when contenders come one by one (L20, L22)', async () => {
    const holder = new Lock(atLeader, '/slowly').acquire()
    await holder
    const asked: Promise<Held>[] = []
    for (let count = 1; count <= 6; count++) {
      asked.push(new Lock(clients[count % 5]!, '/slowly').acquire())
      await created(atLeader, '/slowly', count + 1)
    }
    const { line, granted } = await lineUp('/slowly', holder, () => asked)
    expect(line.map(number)).toEqual(numbersThatFollow(6))
    expect(granted).toEqual(line)
  })

  describe.each<[string, string, (zk: ZooKeeper, path: string) => Promise<Held>]>([
    ['Lock', '/at-once', (zk, path) => new Lock(zk, path).acquire()],
    ['LeaderElection', '/candidates', (zk, path) => new LeaderElection(zk, path).campaign()],
  ])('%s', (name, path, acquire) => {
    test(`${name} has one holder at a time of fifty simultaneous contenders, in the order of creation (L21, L22)`, async () => {
      const ask = () => Array.from({ length: 50 }, (_, index) => acquire(clients[index % 5]!, path))
      const { line, granted } = await lineUp(path, acquire(atLeader, path), ask)
      expect(granted).toEqual(line)
    })
  })

  test('SharedLock never has a writer beside another holder, and grants in the order of creation (R13)', async () => {
    const path = '/mixed'
    const isReader = (node: string) => node.includes('__READ__')
    const holder = await new SharedLock(atLeader, path).write.acquire()
    const asked = Array.from({ length: 20 }, (_, index) => {
      const shared = new SharedLock(clients[index % 5]!, path)
      return (index % 3 === 0 ? shared.write : shared.read).acquire()
    })
    const line = (await created(atLeader, path, 21)).slice(1)
    await holder.release()
    const granted = await turns(asked, isReader)
    // Readers that share are granted in any order.
    const rounds = (all: readonly Turn[]) => {
      const places = all.map((turn) => (isReader(turn.path) ? 'R' : turn.path))
      return places.filter((place, index) => place !== 'R' || places[index - 1] !== 'R')
    }
    expect(rounds(granted)).toEqual(rounds(line))
    expect(granted).toHaveLength(20)
  })

  test('Lock goes on beside unprotected contenders that find the counter used up (L23)', async () => {
    const create = () => atLeader.create('/others/lock-', '', { mode: 'EPHEMERAL_SEQUENTIAL' })
    expect([await create(), await create()].map(({ path }) => path)).toEqual([
      `/others/lock-${LAST - 1}`,
      `/others/lock-${LAST}`,
    ])
    const [, third] = numbersThatFollow(2)
    // The name of the second, which is taken, or the first negative one.
    if (third === LAST) await expect(create()).rejects.toSatisfy((error) => KeeperError.is(error, 'NodeExists'))
    else await expect(create()).resolves.toMatchObject({ path: `/others/lock-${third}` })
    const granted = await turns(clients.map((each) => new Lock(each, '/others').acquire()))
    expect(granted).toHaveLength(clients.length)
    expect(granted).toEqual(granted.toSorted((one, other) => (one.token < other.token ? -1 : 1)))
  })
})
