import { setTimeout as sleep } from 'node:timers/promises'
import { LeaderElection, Lock, SharedLock, type ZooKeeper } from '@zk/recipes'
import { expect, test } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { until } from '../../src/ensemble/index.ts'
import { machineTime, type Mode, outOfOrder, overlaps, type Turn } from '../../src/history/index.ts'
import { connected, describeForeign, type Tests, type TestWorld, type World } from './world.ts'

/** Turns of each contender. */
const TURNS = 15

const anywhere: Tests<World> = (world) => {
  test('take turns on one lock, one at a time and in the order of their requests', async () => {
    await takeTurns(await world(), async () => {})
  })

  test('take turns on one lock while the servers they are at are killed, one after the other', async () => {
    const all = await world()
    const { servers, zk } = all
    let killed = 0
    await takeTurns(all, async (turn) => {
      if (turn % 5 !== 0) return
      // The one that was killed before comes back.
      await servers.mend()
      const at = zk.session.connection?.server
      if (at === undefined) return
      await servers.kill(at)
      killed++
    })
    expect(killed).toBeGreaterThan(1)
  })

  test.each(['SharedLock', 'LeaderElection'] as const)(
    '%s and that of Curator take turns on one path while the servers they are at are killed (R14)',
    async (recipe) => {
      const { servers, zk, curator, root } = await world()
      await zk.create('/both')
      const theirs = await Promise.all([curator(), curator()])
      const call = recipe === 'SharedLock' ? 'takeReadWriteTurns' : 'leadTurns'
      const foreign = theirs.map(async (each, index) =>
        modedTurns(`Curator ${index}`, await each.call(call, '/both', TURNS)),
      )
      const ours = acquirablesOf(recipe, zk)
      const turns: Turn[] = []
      let killed = 0
      for (let turn = 1; turn <= 2 * TURNS; turn++) {
        const { mode, acquirable } = ours[turn % ours.length]!
        const held = await acquirable.acquire()
        const from = machineTime()
        await sleep(5)
        const until = machineTime()
        if (held.isHeld()) turns.push({ contender: 'ours', mode, token: held.fencingToken, from, until })
        await held.release()
        const at = zk.session.connection?.server
        if (turn % 10 !== 0 || at === undefined) continue
        await servers.mend()
        await servers.kill(at)
        killed++
      }
      const notified = (await Promise.all(foreign)).flat()
      expect(notified).toHaveLength(2 * TURNS)
      expect(overlaps([...turns, ...notified]), root).toEqual([])
      expect(outOfOrder(turns), root).toEqual([])
      expect(killed).toBeGreaterThan(1)
      await until(
        'the queue to be empty',
        async () => (await connected(() => zk.getChildren('/both'))).children.length === 0,
      )
    },
  )

  test('kazoo waits for our Lock and for InterProcessMutex when it is given their name pattern', async () => {
    const { kazoo, curator, zk } = await world()
    const [waiting, holding] = await Promise.all([kazoo(), curator()])
    const lock = { extra_lock_patterns: ['-lock-'] }
    const held = await new Lock(zk, '/lock').acquire()
    const holds = holding.call('acquire', '/lock')
    const queued = (number: number) => async () => (await zk.getChildren('/lock')).children.length === number
    await until('Curator to queue', queued(2))
    expect(await waiting.call('try_acquire', '/lock', lock)).toBeNull()
    let isGranted = false
    const waits = waiting.call('acquire', '/lock', lock).then((node) => {
      isGranted = true
      return node
    })
    // The failed attempt has deleted its node.
    await caughtUp(zk)
    await until('kazoo to queue', queued(3))
    await held.release()
    expect(await holds).toBe(true)
    expect(await holding.call('participants', '/lock')).toBe(2)
    expect(isGranted).toBe(false)
    await holding.call('release', '/lock')
    expect(await waits).toMatch(/__lock__\d{10}$/)
  })

  test('SharedLock and InterProcessReadWriteLock are one lock', async () => {
    const { curator, zk } = await world()
    const theirs = await curator()
    const { read, write } = new SharedLock(zk, '/rw')
    const reading = await read.acquire()
    expect(await theirs.call('acquireRead', '/rw', 0)).toBe(true)
    expect(await theirs.call('acquireWrite', '/rw', 0)).toBe(false)
    await reading.release()
    expect(await write.tryAcquire()).toBeUndefined()
    await theirs.call('releaseRead', '/rw')
    const writing = await write.acquire()
    expect(await theirs.call('acquireRead', '/rw', 0)).toBe(false)
    await writing.release()
    expect(await theirs.call('acquireWrite', '/rw', 0)).toBe(true)
    expect(await read.tryAcquire()).toBeUndefined()
  })

  test('LeaderElection and LeaderLatch are one election', async () => {
    const { curator, zk } = await world()
    const theirs = await curator()
    const election = new LeaderElection(zk, '/latch', { label: 'ours' })
    const leading = await election.campaign()
    await theirs.call('enter', '/latch', 'theirs')
    await until('Curator to stand', async () => (await election.contenders()).length === 2)
    expect(await theirs.call('candidates', '/latch')).toEqual(['ours', 'theirs'])
    expect(await theirs.call('leader', '/latch')).toBe('ours')
    expect(theirs.eventsSoFar('leads')).toEqual([])
    await leading.release()
    expect(await theirs.nextEvent('leads')).toBe('theirs')
    const again = election.campaign()
    await until('us to stand', async () => (await election.contenders()).length === 2)
    await theirs.call('leave', '/latch')
    expect((await again).isHeld()).toBe(true)
    await (await again).release()
  })
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('take turns on one lock while its leader is killed again and again', async () => {
    const all = await world()
    const { ensemble } = all
    let killed = 0
    await takeTurns(all, async (turn) => {
      if (turn % 4 !== 0) return
      // The one that was killed before comes back, and another one leads.
      for (const member of ensemble.members) member.restart()
      await ensemble.serving()
      ensemble.leader!.kill()
      killed++
    })
    expect(killed).toBeGreaterThan(2)
  })
}

describeForeign('Clients of three languages', 'real servers', { anywhere, atTestEnsemble })

/** Two contenders of each language, and a function to call when one of ours has had this many turns. */
async function takeTurns({ kazoo, curator, zk, root }: World, between: (turn: number) => Promise<void>): Promise<void> {
  await zk.create('/lock')
  await zk.create('/count', '0')
  const foreign = await Promise.all([kazoo(), kazoo(), curator(), curator()])
  const histories = await Promise.all([
    ourTurns('ours 1', zk, between),
    ourTurns('ours 2', zk, async () => {}),
    // No other client recognizes kazoo's own names: it uses Curator's.
    theirTurns('kazoo 1', foreign[0].call('take_turns', '/lock', 'CuratorNamedLock', '/count', TURNS)),
    theirTurns('kazoo 2', foreign[1].call('take_turns', '/lock', 'CuratorNamedLock', '/count', TURNS)),
    theirTurns('Curator 1', foreign[2].call('takeTurns', '/lock', '/count', TURNS)),
    theirTurns('Curator 2', foreign[3].call('takeTurns', '/lock', '/count', TURNS)),
  ])
  const turns = histories.flat()
  expect(turns).toHaveLength(6 * TURNS)
  expect(overlaps(turns), root).toEqual([])
  expect(outOfOrder(turns), root).toEqual([])
  await caughtUp(zk)
  // Each contender had read the previous one's write, or some would be missing.
  expect(await count(zk)).toBe(6 * TURNS)
  await until('the queue to be empty', async () => (await zk.getChildren('/lock')).children.length === 0)
  const changes = turns
    .toSorted((a, b) => a.from - b.from)
    .filter((turn, at, all) => turn.contender !== all[at - 1]?.contender)
  expect(changes.length, 'how often the holder changed').toBeGreaterThan(TURNS)
}

async function ourTurns(contender: string, zk: ZooKeeper, between: (turn: number) => Promise<void>): Promise<Turn[]> {
  const lock = new Lock(zk, '/lock')
  const turns: Turn[] = []
  for (let turn = 1; turn <= TURNS; turn++) {
    const held = await lock.acquire()
    const from = machineTime()
    const counted = String((await count(zk)) + 1)
    await connected(() => zk.setData('/count', counted))
    turns.push({ contender, mode: 'exclusive', token: held.fencingToken, from, until: machineTime() })
    await held.release()
    await between(turn)
  }
  return turns
}

/** Fencing token, begin and end of each turn, as text; times in ns on the clock that machineTime reads. */
type Told = readonly (readonly [token: string, from: string, until: string])[]

async function theirTurns(contender: string, notified: Promise<unknown>): Promise<Turn[]> {
  return ((await notified) as Told).map(([token, from, until]) => ({
    contender,
    mode: 'exclusive',
    token: BigInt(token),
    from: Number(from) / 1e6,
    until: Number(until) / 1e6,
  }))
}

/** Mode, begin and end of each turn, as text. Curator's tokens are not available. */
type Moded = readonly (readonly [mode: Mode, from: string, until: string])[]

function modedTurns(contender: string, notified: Moded): Turn[] {
  return notified.map(([mode, from, until]) => ({
    contender,
    mode,
    token: 0n,
    from: Number(from) / 1e6,
    until: Number(until) / 1e6,
  }))
}

function acquirablesOf(recipe: 'SharedLock' | 'LeaderElection', zk: ZooKeeper) {
  if (recipe === 'LeaderElection') {
    const election = new LeaderElection(zk, '/both')
    return [{ mode: 'exclusive' as const, acquirable: { acquire: () => election.campaign() } }]
  }
  const { read, write } = new SharedLock(zk, '/both')
  return [
    { mode: 'shared' as const, acquirable: read },
    { mode: 'exclusive' as const, acquirable: write },
  ]
}

async function count(zk: ZooKeeper): Promise<number> {
  const { data } = await connected(() => zk.getData('/count'))
  return Number(new TextDecoder().decode(data))
}
