import { expect, test } from 'vitest'
import { baselineOf, type Report, type ReportedFinding, unexpectedIn } from '@zk/conform/internal'

const none = { passed: 0, tried: 0, untried: 0 }

/** The result of a run that has played one scenario and the clause watches/1. */
function reportWith(findings: readonly Partial<ReportedFinding>[], outcome: 'equal' | 'differs' = 'equal'): Report {
  const finding = { kind: '', isAllowed: false, clauses: [], scenarios: ['data: a'], expected: '', actual: '' }
  return {
    schema: 1,
    subject: 'a:1',
    at: '',
    as: '3.9.6',
    summary: { core: none, full: none, extended: none },
    scenarios: { equal: 0, tried: 1 },
    clauses: [{ id: 'watches/1', level: 'MUST', profile: 'core', outcome, text: '' }],
    findings: findings.map((each) => ({ ...finding, ...each })),
  }
}

const only = { kind: 'getData: Ok → NoNode' }
const key = 'scenarios: getData: Ok → NoNode'

test('what only scenarios show must be in the baseline', () => {
  expect(unexpectedIn(reportWith([only]), {})).toEqual({ differs: [key], keeps: [] })
  expect(unexpectedIn(reportWith([only]), { [key]: 'why' })).toEqual({ differs: [], keeps: [] })
  expect(unexpectedIn(reportWith([]), { [key]: 'why' })).toEqual({ differs: [], keeps: [key] })
})

test('what a clause shows, too, is a matter of the clause', () => {
  const shown = reportWith([{ ...only, clauses: ['watches/1'] }], 'differs')
  expect(unexpectedIn(shown, {})).toEqual({ differs: ['watches/1'], keeps: [] })
})

test('what another release does is no failure', () => {
  const shown = reportWith([{ ...only, clauses: ['watches/1'], isAllowed: true }])
  expect(unexpectedIn(shown, {})).toEqual({ differs: [], keeps: [] })
})

test('a new baseline keeps the reasons that are known', () => {
  const report = reportWith([only], 'differs')
  expect(JSON.parse(baselineOf(report, { 'watches/1': 'ours' }))).toEqual({ 'watches/1': 'ours', [key]: 'say why' })
})
