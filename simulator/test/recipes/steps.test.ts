// Recipes that hold nothing: seeds find nothing wrong. Counters and barriers: every check can fail.
import type { LoggedTxn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import { describe, expect, test } from 'vitest'
import {
  callsInTime,
  insideTogether,
  departures,
  leftTogether,
  openedOnce,
  openings,
  passedWhileOpen,
} from '../../src/recipes/barrier-checks.ts'
import type { Check } from '../../src/checks/check.ts'
import { changesOnce, countedInTime, everyWriteAdds, readsNeverGoBack } from '../../src/recipes/counter-checks.ts'
import type { Played } from '../../src/history/played.ts'
import type { Count, StepOutcome } from '../../src/history/steps.ts'
import { PATH } from '../../src/play/paths.ts'
import { workloadNames } from '../../src/recipes/index.ts'
import { draw } from '../../src/scenario/draw.ts'
import { simulate } from '../../src/simulate.ts'
import { Draft } from '../support/history.ts'

const stepped = workloadNames.filter((recipe) => 'steps' in draw({ seed: 1, recipe }).clients[0]!)
const SEEDS = 30
const TIMEOUT = 120_000

const idsOf = (check: Check, played: Played) => check(played).map(({ invariant }) => invariant)

function txn(at: number, change: object): LoggedTxn {
  const header = { sessionId: 1n, cxid: 1, zxid: BigInt(at), time: WALL_START + at, type: 0 }
  return { header, txn: { path: PATH, ...change } } as unknown as LoggedTxn
}

function stored(at: number, value: bigint, type: 'create' | 'setData' = 'setData'): LoggedTxn {
  const data = new Uint8Array(8)
  new DataView(data.buffer).setBigInt64(0, value)
  return txn(at, { type, data, version: 0 })
}

describe.each(stepped)('%s', (recipe) => {
  test(
    `simulate finds nothing wrong with ${recipe} in ${SEEDS} seeds, in which calls resolve, fail and are aborted`,
    async () => {
      const seen = new Set<string>()
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { violations, played } = await simulate({ seed, recipe })
        expect(violations, `seed ${seed}`).toEqual([])
        for (const each of played.history)
          if (each.type === 'counted' || each.type === 'passed') seen.add(each.outcome.how)
      }
      expect([...seen].sort()).toEqual(['aborted', 'rejected', 'resolved'])
    },
    TIMEOUT,
  )

  test(`draw of ${recipe} gives steps, and no tasks`, () => {
    const { clients } = draw({ seed: 1, recipe })
    expect(clients.flatMap(({ workers }) => workers)).toEqual([])
    for (const client of clients) expect(client).toHaveProperty('steps.0.0.after')
  })
})

describe('The checks of counters', () => {
  const add: Count = { number: 0, how: 'add' }
  const get: Count = { number: 0, how: 'get' }
  const rejected = (outcomeUnknown: boolean): StepOutcome<bigint> => ({
    how: 'rejected',
    error: 'RequestTimeout',
    outcomeUnknown,
  })

  /** One call, in a history with these transactions. */
  function called(count: Count, outcome: StepOutcome<bigint>, ...committed: LoggedTxn[]): Draft {
    return new Draft()
      .committed(stored(1, 0n, 'create'), ...committed)
      .add(10, { type: 'counting', call: 0, client: 0, count, session: 1n, within: 50 })
      .add(20, { type: 'counted', call: 0, session: 1n, outcome })
  }

  test('everyWriteAdds finds a write that overwrites or adds twice (C1)', () => {
    const of = (...values: bigint[]) =>
      idsOf(
        everyWriteAdds,
        new Draft().committed(stored(1, 0n, 'create'), ...values.map((value, at) => stored(at + 2, value))).played(),
      )
    expect(of(1n, 5n, 21n)).toEqual([])
    expect(of(1n, 4n)).toEqual(['C1'])
    expect(of(2n)).toEqual(['C1'])
    expect(of(5n, 1n)).toEqual(['C1'])
  })

  test('changesOnce finds changes that were lost, doubled, or denied (C2)', () => {
    const resolved = (value: bigint): StepOutcome<bigint> => ({ how: 'resolved', value })
    expect(idsOf(changesOnce, called(add, resolved(1n), stored(15, 1n)).played())).toEqual([])
    expect(idsOf(changesOnce, called(add, resolved(1n)).played())).toEqual(['C2'])
    expect(idsOf(changesOnce, called(add, resolved(5n), stored(15, 1n)).played())).toEqual(['C2'])
    const twice = [stored(15, 1n), stored(16, 4n), stored(17, 5n)]
    expect(idsOf(changesOnce, called(add, resolved(1n), ...twice).played())).toEqual(['C2'])
    expect(idsOf(changesOnce, called(add, rejected(true), stored(15, 1n)).played())).toEqual([])
    expect(idsOf(changesOnce, called(add, rejected(false), stored(15, 1n)).played())).toEqual(['C2'])
    expect(idsOf(changesOnce, called(add, rejected(false)).played())).toEqual([])
  })

  test('readsNeverGoBack finds a read that goes back in one session (C3)', () => {
    const read = (value: bigint, session: bigint) =>
      called(add, { how: 'resolved', value: 5n })
        .add(30, { type: 'counting', call: 1, client: 0, count: get, session, within: 50 })
        .add(40, { type: 'counted', call: 1, session, outcome: { how: 'resolved', value } })
        .played()
    expect(idsOf(readsNeverGoBack, read(5n, 1n))).toEqual([])
    expect(idsOf(readsNeverGoBack, read(4n, 1n))).toEqual(['C3'])
    expect(idsOf(readsNeverGoBack, read(4n, 2n))).toEqual([])
  })

  test('countedInTime finds calls that are late, never end, or fail without a cause (C4)', () => {
    expect(idsOf(countedInTime, called(add, rejected(true)).played())).toEqual([])
    const late = called(add, rejected(true)).without(({ type }) => type === 'counted')
    expect(idsOf(countedInTime, late.played())).toEqual(['C4'])
    late.add(99, { type: 'counted', call: 0, session: 1n, outcome: rejected(true) })
    expect(idsOf(countedInTime, late.played())).toEqual(['C4'])
    const odd: StepOutcome<bigint> = { how: 'rejected', error: 'TypeError: x', outcomeUnknown: false }
    expect(idsOf(countedInTime, called(add, odd).played())).toEqual(['C4'])
  })
})

describe('The checks of barriers', () => {
  const opened = { how: 'resolved', value: '' } as const

  function barrier(
    what: 'set' | 'remove' | 'wait',
    from: number,
    until: number,
    outcome: StepOutcome<string> = opened,
  ): Draft {
    return new Draft()
      .committed(txn(10, { type: 'create', data: null }), txn(60, { type: 'delete' }))
      .add(9, { type: 'passing', call: 0, client: 0, what: 'set', within: 1_000 })
      .add(12, { type: 'passed', call: 0, outcome: opened })
      .add(from, { type: 'passing', call: 1, client: 1, what, within: 1_000 })
      .add(until, { type: 'passed', call: 1, outcome })
  }

  test('passedWhileOpen finds a wait or a remove that saw the barrier closed, and a set that did not (B1)', () => {
    expect(idsOf(passedWhileOpen, barrier('wait', 20, 62).played())).toEqual([])
    expect(idsOf(passedWhileOpen, barrier('wait', 20, 50).played())).toEqual(['B1'])
    expect(idsOf(passedWhileOpen, barrier('remove', 20, 50).played())).toEqual(['B1'])
    expect(idsOf(passedWhileOpen, barrier('set', 20, 50).played())).toEqual([])
    expect(idsOf(passedWhileOpen, barrier('set', 70, 90).played())).toEqual(['B1'])
  })

  test('openedOnce finds a barrier that nobody was to open, and a wait at an open one (B2)', () => {
    expect(idsOf(openedOnce, barrier('remove', 20, 62).played())).toEqual([])
    expect(idsOf(openedOnce, barrier('set', 20, 50).played())).toEqual(['B2'])
    const late: StepOutcome<string> = { how: 'rejected', error: 'WaitTimeoutError', outcomeUnknown: false }
    const ofWaits = (until: number) =>
      openedOnce(barrier('wait', 20, until, late).played()).filter(({ what }) => /waited/.test(what))
    expect(ofWaits(90)).toEqual([])
    expect(ofWaits(90_000)).toHaveLength(1)
  })

  test('callsInTime finds calls that are late or fail without a cause (B3)', () => {
    expect(idsOf(callsInTime('B3'), barrier('wait', 20, 90).played())).toEqual([])
    expect(idsOf(callsInTime('B3'), barrier('wait', 20, 2_000).played())).toEqual(['B3'])
    const odd: StepOutcome<string> = { how: 'rejected', error: 'TypeError: x', outcomeUnknown: false }
    expect(idsOf(callsInTime('B3'), barrier('wait', 20, 90, odd).played())).toEqual(['B3'])
  })
})

describe('The checks of double barriers', () => {
  const [one, other] = ['a', 'b'].map((name) => `${PATH}/${name}`) as [string, string]
  const step = { after: 0, size: 2, enter: { timeout: 1 }, inside: 0, leave: {} }

  /** Two members; the second comes at this time. */
  function members(comesAt: number, goesAt: number): Draft {
    return new Draft()
      .node({ path: one, czxid: 10n, createdAt: 10, end: { zxid: 50n, at: 50, how: 'deleted' } })
      .node({
        path: other,
        czxid: BigInt(comesAt),
        createdAt: comesAt,
        end: { zxid: BigInt(goesAt), at: goesAt, how: 'deleted' },
      })
      .add(5, { type: 'passing', call: 0, client: 0, what: 'enter', within: 90_000 })
      .add(30, { type: 'passed', call: 0, outcome: { how: 'resolved', value: one } })
      .add(20, { type: 'passing', call: 1, client: 1, what: 'enter', within: 90_000 })
      .add(31, { type: 'passed', call: 1, outcome: { how: 'resolved', value: other } })
      .add(45, { type: 'passing', call: 2, client: 0, what: 'leave', about: one, within: 90_000 })
      .add(70, { type: 'passed', call: 2, outcome: { how: 'resolved', value: one } })
  }
  const played = (draft: Draft): Played => {
    const drawn = draft.played()
    const [client] = drawn.scenario.clients
    const stepping = { ...client!, steps: [[step]] }
    return { ...drawn, scenario: { ...drawn.scenario, clients: [stepping] } }
  }

  test('insideTogether finds a member that entered alone (D1)', () => {
    expect(idsOf(insideTogether, played(members(25, 60)))).toEqual([])
    expect(idsOf(insideTogether, played(members(40, 60)))).toContain('D1')
  })

  test('leftTogether finds a leave that resolved before another had left (D2)', () => {
    expect(idsOf(leftTogether, played(members(25, 60)))).toEqual([])
    expect(idsOf(leftTogether, played(members(25, 80)))).toEqual(['D2'])
  })

  test('openings finds members that wait although enough are there (D2)', () => {
    const error = 'WaitTimeoutError: …'
    const waiting = (comesAt: number) =>
      new Draft()
        .node({ path: one, czxid: 10n, createdAt: 10 })
        .node({ path: other, czxid: 20n, createdAt: comesAt })
        .add(5, { type: 'passing', call: 0, client: 0, what: 'enter', within: 90_000 })
        .add(90_000, { type: 'passed', call: 0, outcome: { how: 'rejected', error, outcomeUnknown: false } })
    expect(idsOf(openings, played(waiting(20)))).toEqual(['D2'])
    expect(idsOf(openings, played(waiting(89_000)))).toEqual([])
  })

  test('departures finds a member that waits to leave for one that has not entered (D2)', () => {
    const waiting = (isInside: boolean) => {
      const draft = new Draft()
        .node({ path: one, czxid: 10n, createdAt: 10, end: { zxid: 50n, at: 50, how: 'deleted' } })
        .node({ path: other, czxid: 40n, createdAt: 40, end: { zxid: 90n, at: 89_990, how: 'deleted' } })
        .add(45, { type: 'passing', call: 0, client: 0, what: 'leave', about: one, within: 100_000 })
        .add(90_000, { type: 'passed', call: 0, outcome: { how: 'resolved', value: one } })
        .add(35, { type: 'passing', call: 1, client: 1, what: 'enter', within: 100_000 })
      return isInside ? draft.add(42, { type: 'passed', call: 1, outcome: { how: 'resolved', value: other } }) : draft
    }
    expect(idsOf(departures, played(waiting(false)))).toEqual(['D2'])
    expect(idsOf(departures, played(waiting(true)))).toEqual([])
  })
})

test('stepped recipes are not among those that runs without --recipe draw', () => {
  expect(stepped.length).toBeGreaterThanOrEqual(3)
  const drawn = new Set(Array.from({ length: 200 }, (_, seed) => draw({ seed }).recipe))
  for (const recipe of stepped) expect(drawn).not.toContain(recipe)
})
