// The checks of a semaphore can fail: each is shown histories that break its invariant, and one that breaks none.
import type { LoggedTxn, Txn } from '@zk/testing'
import { expect, test } from 'vitest'
import { WALL_START } from '@zk/testing/internal'
import type { Check } from '../../src/checks/check.ts'
import { atMostPermits, onePermitOneHolder, permitsInOrder } from '../../src/recipes/semaphore-checks.ts'
import { LEASES, LOCKS, PATH } from '../../src/play/paths.ts'
import { Draft, task } from '../support/history.ts'

const number = (permits: number): Txn => ({
  type: 'setData',
  path: PATH,
  data: Uint8Array.of(0, 0, 0, permits),
  version: 1,
})
const create = (path: string): Txn => ({
  type: 'create',
  path,
  data: null,
  acl: [],
  kind: 'ephemeral',
  parentCVersion: 1,
})
const grant = (...names: string[]): Txn => ({
  type: 'multi',
  txns: [{ type: 'delete', path: `${LOCKS}/${names[0]}` }, ...names.map((name) => create(`${LEASES}/${name}`))],
})
const refused = (...names: string[]): Txn => {
  const made = grant(...names)
  return made.type === 'multi' ? { ...made, txns: [...made.txns, { type: 'error', err: -103 }] } : made
}
const gone = (name: string): Txn => ({ type: 'delete', path: `${LEASES}/${name}` })

const log = (...txns: Txn[]): LoggedTxn[] =>
  txns.map((txn, index) => ({
    header: { sessionId: 1n, cxid: index, zxid: BigInt(index + 1), time: WALL_START + index },
    txn,
  }))

const asked = (check: Check, draft: Draft) => check(draft.played()).map(({ invariant }) => invariant)

test.each<[string, Txn[], string[]]>([
  ['as many as there are', [number(2), grant('a-0'), grant('b-1')], []],
  ['one that is free again', [number(1), grant('a-0'), gone('a-0'), grant('b-0')], []],
  ['one that is refused', [number(1), grant('a-0'), refused('b-1')], []],
  ['those that are held when there are fewer', [number(2), grant('a-0', 'a-1'), number(1)], []],
  ['one too many', [number(1), grant('a-0'), grant('b-1')], ['S1']],
  ['one too many since there are fewer', [number(2), grant('a-0'), number(1), grant('b-1')], ['S1']],
  ['one where no number is stored', [grant('a-0')], ['S1']],
])('atMostPermits (S1) judges %s', (_, txns, invariants) => {
  expect(asked(atMostPermits, new Draft().recipe('Semaphore').committed(...log(...txns)))).toEqual(invariants)
})

const granted = (attempt: number, permits: readonly number[]) =>
  ({
    type: 'granted',
    attempt,
    client: attempt,
    kind: 'permits',
    path: `${LEASES}/${attempt}-${permits[0]}`,
    fence: BigInt(attempt),
    permits,
  }) as const

test('onePermitOneHolder (S2) allows no permit two holders, and no more permits than were ever stored', () => {
  const attempted = (attempt: number) => ({ type: 'attempted', attempt, client: attempt, task }) as const
  const draft = (permits: number) =>
    new Draft()
      .recipe('Semaphore')
      .committed(...log(number(permits)))
      .add(1, attempted(0))
      .add(1, attempted(1))
      .add(10, granted(0, [0, 1]))
  expect(asked(onePermitOneHolder, draft(3).add(20, granted(1, [2])))).toEqual([])
  expect(asked(onePermitOneHolder, draft(3).add(20, granted(1, [1])))).toEqual(['S2'])
  expect(asked(onePermitOneHolder, draft(2).add(20, granted(1, [2])))).toEqual(['S2'])
  const released = draft(2).add(15, { type: 'lost', attempt: 0, reason: 'Released' })
  expect(asked(onePermitOneHolder, released.add(20, granted(1, [1])))).toEqual([])
  // An operator deleted the node of the second permit: its holder learns that late.
  const forced = draft(3).add(15, { type: 'forced', paths: [`${LEASES}/0-1`], session: undefined })
  expect(asked(onePermitOneHolder, forced.add(20, granted(1, [1])))).toEqual([])
})

test('permitsInOrder (S3) allows no grant while an older contender queues', () => {
  const older = { path: `${LOCKS}/1`, czxid: 1n, createdAt: 1 }
  const lease = { path: `${LEASES}/2`, czxid: 10n, place: 2n, createdAt: 10 }
  const leftBy = (zxid: bigint) => ({ ...older, end: { zxid, at: Number(zxid), how: 'deleted' } }) as const
  const of = (queued: typeof older) => new Draft().recipe('Semaphore').node(queued).node(lease)
  expect(asked(permitsInOrder, of(leftBy(9n)))).toEqual([])
  expect(asked(permitsInOrder, of(leftBy(11n)))).toEqual(['S3'])
  expect(asked(permitsInOrder, of(older))).toEqual(['S3'])
  // One that came later may queue, and so may its own node, which the grant deletes.
  expect(asked(permitsInOrder, of({ ...older, czxid: 3n }))).toEqual([])
  expect(asked(permitsInOrder, of({ ...leftBy(10n), czxid: 2n }))).toEqual([])
})
