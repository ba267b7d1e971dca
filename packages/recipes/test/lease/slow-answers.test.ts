// However long answers take, a lease is reckoned from what was sent before them: every single one is delayed, by every part
// of a session timeout, and no holder may see more time than what is on the wire can prove.
import { expect, test } from 'vitest'
import { type Held, LeaderElection, Lock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { Recorder } from '../support/recorder.ts'
import { Scene } from '../support/scene.ts'

// Hundreds of histories.
const T = 4_000
const PATH = '/locks/report'
/** The end of a proven lease. */
const LONGEST = 0.98 * T - 50
/** In ms; less than before a first round. */
const STEP = 40
/** The last is just not taken for a connection that is dead. */
const delays = [0.1, 0.25, 0.45, 0.6].map((part) => part * T)

type Acquire = (zk: ZooKeeper) => Promise<Held>

/** What is acquired, and the recipe that holds it before, if any. */
interface Way {
  readonly acquire: Acquire
  readonly before?: readonly Acquire[]
  /** What the client itself has acquired already. */
  readonly beside?: Acquire
}

const lock: Acquire = (zk) => new Lock(zk, PATH).acquire()
const read: Acquire = (zk) => new SharedLock(zk, PATH).read.acquire()
const write: Acquire = (zk) => new SharedLock(zk, PATH).write.acquire()
const campaign: Acquire = (zk) => new LeaderElection(zk, PATH).campaign()

/** It is content with touches that this one's neighbour must not rely on. */
const hasty: Acquire = (zk) => new Lock(zk, '/locks/hasty', { followerRelayDelay: 1 }).acquire()

const ways: Record<string, Way> = {
  'Lock.acquire that is free': { acquire: lock },
  'Lock.acquire behind another': { acquire: lock, before: [lock] },
  'Lock.acquire beside one with a short follower relay delay': { acquire: lock, beside: hasty },
  'Lock.acquire behind another, beside one with a short follower relay delay': {
    acquire: lock,
    before: [lock],
    beside: hasty,
  },
  'Lock.acquire behind two others': { acquire: lock, before: [lock, lock] },
  'SharedLock.read.acquire behind a writer': { acquire: read, before: [write] },
  'SharedLock.write.acquire behind two readers': { acquire: write, before: [read, read] },
  'LeaderElection.campaign behind a leader': { acquire: campaign, before: [campaign] },
}

interface Course extends Way {
  /** How long the client was idle before. */
  readonly idle: number
  /** Which answer is delayed, from the moment on at which the way is free; and by how much. */
  readonly slow: number
  readonly delay: number
}

/** The largest excess of `leaseRemaining` over what is proven, in ms, and whether it was granted. */
async function play({ acquire, before = [], beside, idle, slow, delay }: Course) {
  const scene = new Scene({ members: 3 })
  scene.ensemble.nodes.create('/locks')
  scene.ensemble.nodes.create(PATH)
  const { world, network } = scene
  const holders: Held[] = []
  for (const each of before.slice(0, 1)) holders.push(await scene.done(each(await scene.client())))
  const others = before.slice(1).map(async (each) => each(await scene.client()))
  await world.settle()
  const recorder = new Recorder(world)
  const zk = await scene.client({ sessionTimeout: T, runtime: recorder })
  scene.ensemble.nodes.create('/locks/hasty')
  if (beside !== undefined) await scene.done(beside(zk))
  await world.advance(2 * T)
  const waiting = before.length > 0 ? outcome(acquire(zk)) : undefined
  await world.advance(T + idle)

  let answers = 0
  network.latency = () => (++answers === slow ? delay : 1)
  for (const held of holders) void held.release().catch(() => {})
  const acquiring = waiting ?? outcome(acquire(zk))
  for (const other of others) void other.then(async (held) => held.release()).catch(() => {})
  let most = -Infinity
  let isGranted = false
  const look = () => {
    if (acquiring.status !== 'fulfilled') return
    const left = acquiring.value.leaseRemaining()
    if (left <= 0) return
    isGranted = true
    most = Math.max(most, world.now() + left - (recorder.touchedBy(T / 3) + LONGEST))
  }
  // Closely at first: what is granted may be proven again soon.
  for (let time = 0; time < 1.5 * T; time += isGranted ? 10 * STEP : STEP) {
    await world.advance(isGranted ? 10 * STEP : STEP)
    look()
  }
  return { most, isGranted }
}

test.each(Object.entries(ways))(
  '%s has no longer lease than requests sent before the slow answers can prove',
  async (_, way) => {
    let granted = 0
    for (const idle of [0, 700]) {
      for (let slow = 1; slow <= 6; slow++) {
        for (const delay of delays) {
          const { most, isGranted } = await play({ ...way, idle, slow, delay })
          if (isGranted) granted++
          expect(most, JSON.stringify({ idle, slow, delay })).toBeLessThanOrEqual(1)
        }
      }
    }
    // Without any grant it would prove nothing.
    expect(granted).toBeGreaterThan(20)
  },
)
