// The checks of several locks can fail: each is shown histories that break its invariant, and one that breaks none.
import { expect, test } from 'vitest'
import { eachIsProven, oneHolderOfEach, tokensAreOfNodes } from '../../src/recipes/multi-lock-checks.ts'
import type { Check } from '../../src/checks/check.ts'
import { lockPath } from '../../src/play/paths.ts'
import type { Task } from '../../src/scenario/scenario.ts'
import { Draft } from '../support/history.ts'

const asked = (check: Check, draft: Draft) => check(draft.played()).map(({ invariant }) => invariant)

const task: Task = { kind: 'locks', how: 'acquire', after: 0, hold: [], writes: 'guarded' }

const node = (name: string, czxid: bigint, marker = 'lock-') =>
  `${lockPath(name)}/_c_00000000-0000-0000-0000-0000000000${String(czxid).padStart(2, '0')}-${marker}${String(czxid).padStart(10, '0')}`

const attempted = (attempt: number) => ({ type: 'attempted', attempt, client: attempt, task }) as const

const granted = (attempt: number, nodes: readonly string[], czxid: bigint, tokens = nodes.map(() => czxid)) =>
  ({
    type: 'granted',
    attempt,
    client: attempt,
    kind: 'locks',
    path: nodes[0]!,
    fence: czxid,
    nodes,
    tokens,
  }) as const

/** One holds a and b, and another comes. */
function draft(): Draft {
  const draft = new Draft().recipe('MultiLock').add(1, attempted(0)).add(1, attempted(1))
  for (const name of ['a', 'b'] as const) draft.node({ path: node(name, 1n), czxid: 1n, owner: 100n, createdAt: 5 })
  return draft.add(10, granted(0, [node('a', 1n), node('b', 1n)], 1n))
}

test('oneHolderOfEach (M1) allows no path two holders that exclude each other', () => {
  expect(asked(oneHolderOfEach, draft().add(20, granted(1, [node('c', 2n, '__READ__')], 2n)))).toEqual([])
  expect(asked(oneHolderOfEach, draft().add(20, granted(1, [node('c', 2n), node('b', 2n)], 2n)))).toEqual(['M1'])
  const released = draft().add(15, { type: 'lost', attempt: 0, reason: 'Released' })
  expect(asked(oneHolderOfEach, released.add(20, granted(1, [node('b', 2n)], 2n)))).toEqual([])
  // An operator deleted its second node: its holder learns that late.
  const forced = draft().add(15, { type: 'forced', paths: [node('b', 1n)], session: undefined })
  expect(asked(oneHolderOfEach, forced.add(20, granted(1, [node('b', 2n)], 2n)))).toEqual([])
  const both = new Draft().add(1, attempted(0)).add(1, attempted(1))
  const shared = both.add(10, granted(0, [node('c', 1n, '__READ__')], 1n))
  expect(asked(oneHolderOfEach, shared.add(20, granted(1, [node('c', 2n, '__READ__')], 2n)))).toEqual([])
})

test('tokensAreOfNodes (M2) wants the czxid of each node, and one transaction', () => {
  expect(asked(tokensAreOfNodes, draft())).toEqual([])
  const wrong = new Draft().add(1, attempted(0)).node({ path: node('a', 1n), czxid: 1n, owner: 1n, createdAt: 5 })
  expect(asked(tokensAreOfNodes, wrong.add(10, granted(0, [node('a', 1n)], 1n, [2n])))).toEqual(['M2'])
  const apart = new Draft().add(1, attempted(0))
  apart.node({ path: node('a', 1n), czxid: 1n, owner: 1n, createdAt: 5 })
  apart.node({ path: node('b', 2n), czxid: 2n, owner: 1n, createdAt: 5 })
  expect(asked(tokensAreOfNodes, apart.add(10, granted(0, [node('a', 1n), node('b', 2n)], 1n, [1n, 2n])))).toEqual([
    'M2',
  ])
})

test('eachIsProven (M3) allows no grant beside an older node, nor without a check of each node after a wait', () => {
  const behind = (end: { zxid: bigint; at: number } | undefined) => {
    const older = { path: node('b', 1n), czxid: 1n, owner: 100n, createdAt: 5 }
    const draft = new Draft().add(1, attempted(1))
    draft.node({ ...older, end: end && { ...end, how: 'deleted' } })
    for (const name of ['a', 'b'] as const) draft.node({ path: node(name, 2n), czxid: 2n, owner: 200n, createdAt: 6 })
    draft.add(7, { type: 'queued', attempt: 1, ahead: [older.path] })
    return draft.add(30, granted(1, [node('a', 2n), node('b', 2n)], 2n))
  }
  const check = (name: string) => ({ path: node(name, 2n), zxid: 4n, session: 200n, at: 25 })
  expect(asked(eachIsProven, behind(undefined))).toEqual(['M3'])
  expect(asked(eachIsProven, behind({ zxid: 3n, at: 40 }))).toEqual(['M3'])
  expect(asked(eachIsProven, behind({ zxid: 3n, at: 20 }).checked(check('b')))).toEqual(['M3'])
  expect(asked(eachIsProven, behind({ zxid: 3n, at: 20 }).checked(check('a')).checked(check('b')))).toEqual([])
})
