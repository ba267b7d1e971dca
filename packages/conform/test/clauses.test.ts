import { describe, expect, test } from 'vitest'
import {
  chapters,
  type Check,
  type Clause,
  expectedOf,
  idOf,
  isBefore,
  type Need,
  observe,
  VirtualTarget,
  type VirtualTargetOptions,
} from '@zk/conform/internal'

const RELEASES = { '3.5': '3.5.10', '3.6': '3.6.4', '3.7': '3.7.2', '3.8': '3.8.7', '3.9': '3.9.6' } as const

const clauses = chapters.flatMap((chapter) => chapter.clauses.map((clause) => [idOf(chapter, clause), clause] as const))

// All releases if some of them differ, else the first and the last.
describe.each(Object.entries(RELEASES))('Servers of %s', (line, release) => {
  const isPlayed = ({ check, since }: Clause): boolean =>
    hasCheck(check) &&
    (since === undefined || !isBefore(release, since)) &&
    (check.differs !== undefined || line === '3.5' || line === '3.9')
  test.for(clauses.filter(([, clause]) => isPlayed(clause)))('keep %s', async ([, { check, needs }]) => {
    if (!hasCheck(check)) return
    const target = new VirtualTarget({ release, more: settingsFor(needs) })
    const { seen, unfinished } = await target.use((stage) => observe(stage, check))
    expect(unfinished).toBeUndefined()
    expect(seen).toEqual(expectedOf(check, release))
  })
})

test('A clause that fails is accused, or one that it follows from is: none follows from itself', () => {
  const follows = new Map(clauses.map(([id, clause]) => [id, clause.follows ?? []]))
  const ancestors = (id: string, seen = new Set<string>()): Set<string> => {
    for (const from of follows.get(id) ?? []) {
      expect(follows.has(from), `${id} follows from ${from}`).toBe(true)
      if (!seen.has(from)) ancestors(from, seen.add(from))
    }
    return seen
  }
  for (const [id] of clauses) expect([id, ancestors(id).has(id)]).toEqual([id, false])
})

function settingsFor(needs: readonly Need[] = []): VirtualTargetOptions['more'] {
  return {
    ...(needs.includes('sasl') ? { sasl: { users: { bob: 'secret' } } } : {}),
    reconfigEnabled: needs.includes('reconfig'),
    readOnlyMode: needs.includes('read-only'),
  }
}

function hasCheck(check: Clause['check']): check is Check {
  return 'play' in check
}
