import { describe, expect, test } from 'vitest'
import { isUnknown, stoodSince, storyOf } from '../src/recipes/zookeeper/promises/story.ts'
import { drawnNames, type WorkloadName, workloadNames } from '../src/recipes/index.ts'
import { draw } from '../src/scenario/draw.ts'
import { everyFault, everyFaultOfCalls } from '../src/scenario/fault-kinds.ts'
import type { Scenario } from '../src/scenario/scenario.ts'
import { simulate, simulateScenario } from '../src/simulate.ts'
import { frameLines, printScenario, printTrace } from '../src/trace/print.ts'

/** Among them is one of the few in which a session ends and its persistent watch goes on in the next. */
const FIRST_SEED = 500
const SEEDS = 150
const MIRROR_SEEDS = 60
const TIMEOUT = 120_000

describe('simulate', () => {
  test.each(drawnNames)(
    `simulate finds nothing wrong with %s in ${SEEDS} seeds, in which everything happens`,
    async (recipe) => {
      const seen = { grants: 0, refusals: 0, losses: 0, waits: 0, guarded: 0, struck: new Set<string>() }
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { violations, played } = await simulate({ seed, recipe })
        expect(violations, `seed ${seed}`).toEqual([])
        for (const each of played.history) {
          if (each.type === 'granted') seen.grants++
          if (each.type === 'refused') seen.refusals++
          if (each.type === 'queued') seen.waits++
          if (each.type === 'lost' && each.reason !== 'Released') seen.losses++
          if (each.type === 'guarded' && each.entry !== undefined) seen.guarded++
          if (each.type === 'struck') seen.struck.add(each.fault.type)
        }
      }
      expect(seen.grants).toBeGreaterThan(3 * SEEDS)
      expect(seen.waits).toBeGreaterThan(SEEDS)
      expect(seen.guarded).toBeGreaterThan(SEEDS)
      expect(seen.refusals).toBeGreaterThan(20)
      expect(seen.losses).toBeGreaterThan(20)
      expect(everyFault.filter((type) => !seen.struck.has(type))).toEqual([])
    },
    TIMEOUT,
  )

  test(
    `simulate finds mirrors in ${MIRROR_SEEDS} seeds equal to the tree, and every change told once, whatever fails (T01)`,
    async () => {
      const releases = new Set<string | undefined>()
      for (let seed = 1; seed <= MIRROR_SEEDS; seed++) {
        const { violations, scenario } = await simulate({ seed, recipe: 'Mirror' })
        expect(violations, `seed ${seed}`).toEqual([])
        releases.add(scenario.ensemble.release)
      }
      expect(releases).toEqual(new Set([undefined, '3.5']))
    },
    TIMEOUT,
  )

  test(
    `simulate finds every promise of the client kept in ${SEEDS} seeds, in which everything happens`,
    async () => {
      const seen = { settled: new Set<string>(), notified: new Set<string>(), struck: new Set<string>() }
      const wire = { reconnections: 0, repeated: 0, broken: 0, unknownCodes: 0, refusedSessions: 0 }
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
        const { violations, played } = await simulate({ seed, recipe: 'ZooKeeper' })
        expect(violations, `seed ${seed}`).toEqual([])
        for (const each of played.history) {
          if (each.type === 'told') seen.notified.add(each.what)
          if (each.type === 'struck') seen.struck.add(each.fault.type)
          if (each.type === 'settled') seen.settled.add('code' in each.outcome ? each.outcome.code : each.outcome.how)
        }
        const { calls, terms } = storyOf(played)
        for (const { sendings } of calls.values()) if (sendings.length > 1) wire.repeated++
        for (const { lines } of terms) {
          wire.reconnections += Math.max(lines.filter(stoodSince).length - 1, 0)
          for (const { message, way } of lines.flatMap(({ frames }) => frames)) {
            if (way === 'down' && message === undefined) wire.broken++
            if (message?.type === 'reply' && isUnknown(message.err)) wire.unknownCodes++
            if (message?.type === 'connected' && message.response.timeOut === 0) wire.refusedSessions++
          }
        }
      }
      expect([...seen.settled]).toEqual(
        expect.arrayContaining(
          'resolved aborted NoNode NodeExists ConnectionLoss RequestTimeout SessionExpired Closed QueueFull Unknown'.split(
            ' ',
          ),
        ),
      )
      expect([...seen.notified]).toEqual(
        expect.arrayContaining([
          'NodeCreated',
          'NodeDeleted',
          'NodeDataChanged',
          'NodeChildrenChanged',
          'SessionEnded',
          'Gap reconnected',
          'Gap renewed',
          'DataWatchRemoved',
          'ChildWatchRemoved',
        ]),
      )
      for (const [what, count] of Object.entries(wire)) expect(count, what).toBeGreaterThan(2)
      expect(everyFaultOfCalls.filter((type) => !seen.struck.has(type))).toEqual([])
    },
    TIMEOUT,
  )

  test('simulate plays the same history for the same seed', async () => {
    for (const recipe of workloadNames) {
      const [one, other] = [
        await simulate({ seed: 7, recipe, hash: true }),
        await simulate({ seed: 7, recipe, hash: true }),
      ]
      expect(one.hash).toMatch(/^[0-9a-f]{16}$/)
      expect(other.hash).toBe(one.hash)
      expect(other.played.history).toEqual(one.played.history)
    }
  })

  test('simulate plays other histories for other seeds', async () => {
    const hashes = new Set<string | undefined>()
    for (let seed = 1; seed <= 20; seed++) hashes.add((await simulate({ seed, recipe: 'Lock', hash: true })).hash)
    expect(hashes.size).toBe(20)
  })

  test(
    'simulate with more clients and servers finds nothing wrong either',
    async () => {
      for (let seed = 1; seed <= 10; seed++) {
        const { violations } = await simulate({ seed, clients: 5, members: 5 })
        expect(violations, `seed ${seed}`).toEqual([])
      }
    },
    TIMEOUT,
  )
})

describe('simulateScenario', () => {
  test('simulateScenario of a scenario that was written down and read again is the run itself', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const run = await simulate({ seed, hash: true, recipe: seed % 2 === 0 ? 'ZooKeeper' : undefined })
      const readAgain = JSON.parse(JSON.stringify(run.scenario)) as Scenario
      expect((await simulateScenario(readAgain, { hash: true })).hash).toBe(run.hash)
    }
  })

  test('simulateScenario gives a trace with every frame and everything that clients did, in one order', async () => {
    const { scenario, played, stage } = await simulate({ seed: 1, recipe: 'Lock' })
    const { history } = stage.model
    const trace = printTrace(played.history, frameLines(history.entries, history.toString())).split('\n')
    expect(trace).toHaveLength(played.history.length + history.length)
    const times = trace.map((line) => Number.parseFloat(line))
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(trace.some((line) => line.includes('> create2 /locks/simulated/_c_'))).toBe(true)
    expect(trace.some((line) => line.includes('** granted {"attempt":'))).toBe(true)
    expect(printScenario(scenario)).toContain('seed 1: Lock, 3 clients, 3 servers')
  })
})

describe('draw', () => {
  test('draw draws clients and servers of every manner', () => {
    const drawn = Array.from({ length: 500 }, (_, seed) => draw({ seed, recipe: 'Lock' }))
    const clients = drawn.flatMap((scenario) => scenario.clients)
    const terms = clients.flatMap(({ workers }) => workers.map((tasks) => tasks.map(({ holdOptions }) => holdOptions)))
    const isMixed = terms.filter((each) => new Set(each.map((options) => JSON.stringify(options))).size > 1)
    const handOvers = drawn.flatMap(({ sessionTimeout, clients }) =>
      clients.flatMap(({ handOvers = [] }) => handOvers.map((each) => Math.sign(each.sessionTimeout - sessionTimeout))),
    )
    expect(new Set(handOvers)).toEqual(new Set([-1, 0, 1]))
    expect(clients.filter(({ refreshesEvery }) => refreshesEvery !== undefined).length).toBeGreaterThan(100)
    expect(drawn.filter(({ ensemble }) => ensemble.longestTimeouts !== undefined).length).toBeGreaterThan(10)
    expect(isMixed.length).toBeGreaterThan(100)
    const relayDelays = drawn.flatMap(({ ensemble, clients }) =>
      clients.flatMap(({ workers }) =>
        workers.flat().flatMap(({ holdOptions }) => {
          const { followerRelayDelay } = holdOptions ?? {}
          return followerRelayDelay === undefined ? [] : [followerRelayDelay / ensemble.tickTime]
        }),
      ),
    )
    expect(Math.min(...relayDelays)).toBeGreaterThanOrEqual(0.5)
    expect(Math.max(...relayDelays)).toBeLessThanOrEqual(1)
  })

  test('draw draws every fault, unless faults are given', () => {
    const drawn = (faults?: typeof everyFault, recipe?: WorkloadName) =>
      new Set(
        Array.from({ length: 2_000 }, (_, seed) => draw({ seed, faults, recipe }).faults)
          .flat()
          .map(({ fault }) => fault.type),
      )
    expect(drawn()).toEqual(new Set(everyFault))
    expect(drawn(undefined, 'ZooKeeper')).toEqual(new Set(everyFaultOfCalls))
    expect(drawn(['reset', 'lag'])).toEqual(new Set(['reset', 'lag']))
  })
})
