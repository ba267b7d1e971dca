// The checks of once: each finds what it is for.
import type { LoggedTxn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import { describe, expect, test } from 'vitest'
import type { Check } from '../../src/checks/check.ts'
import type { Played } from '../../src/history/played.ts'
import type { StepOutcome } from '../../src/history/steps.ts'
import { PATH } from '../../src/play/paths.ts'
import {
  bodiesBeforeRecords,
  onceInTime,
  oneRecordInEach,
  type Period,
  recordsAreProven,
  resultsAreRecorded,
} from '../../src/recipes/once-checks.ts'
import { Draft, paths } from '../support/history.ts'

const [node, other] = paths
const TOKEN = 10n

const idsOf = (check: Check, played: Played) => check(played).map(({ invariant }) => invariant)

/** A record, and the check of this node in one transaction. */
function recorded(
  at: number,
  slot: string,
  { label = '0', token = TOKEN, created = 10, checks = node } = {},
): LoggedTxn {
  const fields = {
    version: 1,
    slot,
    at: new Date(WALL_START + created).toISOString(),
    label,
    fencingToken: `0x${token.toString(16)}`,
  }
  const data = new TextEncoder().encode(JSON.stringify(fields))
  const header = { sessionId: 1n, cxid: 1, zxid: BigInt(at), time: WALL_START + at, type: 14 }
  const txns = [
    { type: 'check', path: checks },
    { type: 'setData', path: `${PATH}/done`, data, version: 0 },
  ]
  return { header, txn: { type: 'multi', txns } } as unknown as LoggedTxn
}

const ran: StepOutcome<string> = { how: 'resolved', value: `ran ${TOKEN}` }
const rejected = (error: string, outcomeUnknown = false): StepOutcome<string> => ({
  how: 'rejected',
  error,
  outcomeUnknown,
})

/** Call 0 of client 0 runs slot a from 20 to 50, and settles at 60. */
function called(outcome: StepOutcome<string>, ...committed: LoggedTxn[]): Draft {
  return new Draft()
    .committed(...committed)
    .node({ path: node, czxid: TOKEN, createdAt: 10, data: '0', end: { zxid: 55n, at: 55, how: 'deleted' } })
    .add(5, { type: 'passing', call: 0, client: 0, what: 'once', about: '0', within: 100 })
    .add(20, body(node, 'a'))
    .add(60, { type: 'passed', call: 0, outcome })
}

function body(path: string, slot: string) {
  const about = JSON.stringify({ path, slot, label: '0' })
  return { type: 'passing', call: 9, client: 0, what: 'body', about, within: Infinity } as const
}

/** The history of clients that call with this period. */
function calledWith(period: Period, draft: Draft): Played {
  const played = draft.played()
  const clients = [{ ...played.scenario.clients[0]!, steps: [[{ after: 0, takes: 0, period }]] }]
  return { ...played, scenario: { ...played.scenario, clients } }
}

describe('The checks of once', () => {
  test('they find nothing wrong with a call that runs and is recorded', () => {
    const played = calledWith({ slot: 'a' }, called(ran, recorded(50, 'a')))
    for (const check of [oneRecordInEach, recordsAreProven, resultsAreRecorded, bodiesBeforeRecords, onceInTime])
      expect(idsOf(check, played)).toEqual([])
  })

  test('oneRecordInEach finds a slot that is recorded twice in a row (O1)', () => {
    const twice = (slot: string) => calledWith({ slot: 'a' }, called(ran, recorded(50, 'a'), recorded(52, slot)))
    expect(idsOf(oneRecordInEach, twice('b'))).toEqual([])
    expect(idsOf(oneRecordInEach, twice('a'))).toEqual(['O1'])
  })

  test('oneRecordInEach finds two records in one period of every, and one of an earlier period (O1)', () => {
    const twice = (created: number) =>
      calledWith({ every: 100 }, called(ran, recorded(350, 'x', { created: 150 }), recorded(352, 'y', { created })))
    expect(idsOf(oneRecordInEach, twice(201))).toEqual([])
    expect(idsOf(oneRecordInEach, twice(199))).toEqual(['O1'])
    expect(idsOf(oneRecordInEach, twice(50))).toEqual(['O1'])
  })

  test('recordsAreProven finds a record without a check, of a node that is gone, and of another time (O2)', () => {
    const of = (record: LoggedTxn) => idsOf(recordsAreProven, called(ran, record).played())
    expect(of(recorded(50, 'a', { checks: other }))).toEqual(['O2'])
    expect(of(recorded(56, 'a'))).toEqual(['O2'])
    expect(of(recorded(50, 'a', { created: 11 }))).toEqual(['O2'])
    expect(of(recorded(50, 'a', { token: 11n }))).toEqual(['O2'])
  })

  test('resultsAreRecorded finds results that the log does not have (O3)', () => {
    const of = (outcome: StepOutcome<string>, ...committed: LoggedTxn[]) =>
      idsOf(resultsAreRecorded, called(outcome, ...committed).played())
    const resolved = (value: string): StepOutcome<string> => ({ how: 'resolved', value })
    expect(of(ran)).toEqual(['O3'])
    expect(of(resolved('done 10'))).toEqual(['O3'])
    expect(of(resolved('done 10'), recorded(50, 'a', { label: '1' }))).toEqual([])
    expect(of(resolved('running'))).toEqual(['O3'])
    expect(of(rejected('LostError'), recorded(50, 'a'))).toEqual(['O3'])
    expect(of(rejected('ConnectionLoss', true), recorded(50, 'a'))).toEqual([])
    expect(of({ how: 'aborted' }, recorded(50, 'a'))).toEqual(['O3'])
  })

  test('bodiesBeforeRecords finds a body of a period that was recorded (O4)', () => {
    const later = (slot: string) => called(ran, recorded(50, 'a')).add(70, body(other, slot)).played()
    expect(idsOf(bodiesBeforeRecords, later('b'))).toEqual([])
    expect(idsOf(bodiesBeforeRecords, later('a'))).toEqual(['O4'])
  })

  test('onceInTime finds calls that are late, or fail without a cause (O5)', () => {
    const of = (outcome: StepOutcome<string>) => idsOf(onceInTime, called(outcome).played())
    expect(of(rejected('WaitTimeoutError: x was not granted within 0 ms: no contender was seen ahead'))).toEqual([])
    expect(of(rejected('WaitTimeoutError: x was not granted within 0 ms: 1 ahead; waited for y'))).toEqual(['O5'])
    expect(of(rejected('TypeError: x'))).toEqual(['O5'])
    const late = called(ran).add(7, { type: 'passing', call: 5, client: 0, what: 'once', about: '5', within: 10 })
    expect(idsOf(onceInTime, late.add(90, { type: 'passed', call: 5, outcome: ran }).played())).toEqual(['O5'])
  })
})
