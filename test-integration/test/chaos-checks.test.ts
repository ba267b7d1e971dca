// The checks of the chaos find what breaks a promise. The histories are made up, with times in ms.
import type { MirrorChange, MirroredNode } from '@zk/recipes'

type Added = Extract<MirrorChange, { type: 'Added' }>
type Changed = Extract<MirrorChange, { type: 'Changed' }>
type Removed = Extract<MirrorChange, { type: 'Removed' }>
import { describe, expect, test } from 'vitest'
import type { Recipe, Verdict } from '../src/chaos/recipe.ts'
import { barrier } from '../src/chaos/recipes/barrier.ts'
import { counter } from '../src/chaos/recipes/counter.ts'
import { doubleBarrier } from '../src/chaos/recipes/double-barrier.ts'
import { group } from '../src/chaos/recipes/group.ts'
import { lock } from '../src/chaos/recipes/lock.ts'
import { mirror } from '../src/chaos/recipes/mirror.ts'
import { onceRecipe } from '../src/chaos/recipes/once.ts'
import { semaphore } from '../src/chaos/recipes/semaphore.ts'
import { isAtRest, type TrueNode, type TrueTree, type Written, wronglyShown } from '../src/chaos/true-tree.ts'
import { type Note, ToldTree } from '../src/history/index.ts'

/** Judges the notes, in the order of their times. */
function judge<N extends Note>(recipe: Recipe<N>, notes: readonly NoInfer<N>[]): Omit<Verdict, 'recipe'> {
  return recipe.judge(notes.toSorted((one, other) => one.at - other.at))
}

type NotesOf<R> = R extends Recipe<infer N> ? N : never

describe('Chaos', () => {
  const exclusive = { mode: 'exclusive' } as const
  const hold = (contender: string, token: string, from: number, to: number, permits?: readonly number[]) => [
    { ...exclusive, contender, what: 'asked' as const, token: '', at: from - 5 },
    { ...exclusive, contender, what: 'gained' as const, token, at: from, permits },
    { ...exclusive, contender, what: 'held' as const, token, at: to },
    { ...exclusive, contender, what: 'ended' as const, token, at: to, why: 'finished' },
  ]

  test('finds two holders of a lock, and tokens that do not rise', () => {
    expect(judge(lock, [...hold('a', '1', 10, 20), ...hold('b', '2', 30, 40)])).toMatchObject({
      done: 2,
      violations: [],
    })
    expect(judge(lock, [...hold('a', '1', 10, 20), ...hold('b', '2', 19, 40)]).violations).toHaveLength(1)
    expect(judge(lock, [...hold('a', '2', 10, 20), ...hold('b', '1', 30, 40)]).violations).toHaveLength(1)
  })

  describe('of a semaphore with 3 permits', () => {
    const three = [...hold('a', '1', 10, 100, [0, 1]), ...hold('b', '2', 20, 100, [2])]
    const resize = (number: number, from: number, to?: number): NotesOf<typeof semaphore>[] => {
      const note = { contender: 'r', nth: from, number }
      return [
        { ...note, what: 'resizing', at: from },
        ...(to === undefined ? [] : [{ ...note, what: 'resized' as const, at: to }]),
      ]
    }

    test('finds two holders of one permit', () => {
      expect(judge(semaphore, three).violations).toEqual([])
      const { violations } = judge(semaphore, [...hold('a', '1', 10, 100, [0]), ...hold('b', '2', 20, 100, [0])])
      expect(violations).toHaveLength(1)
      expect(violations[0]).toMatch(/^held at once/)
    })

    test('finds more permits than are stored', () => {
      const four = [...three, ...hold('c', '3', 30, 40, [3])]
      expect(judge(semaphore, four).violations).toHaveLength(1)
      // Whatever may be stored at some moment of the wait is enough.
      expect(judge(semaphore, [...four, ...resize(4, 5, 9)]).violations).toEqual([])
      expect(judge(semaphore, [...four, ...resize(4, 1)]).violations).toEqual([])
      expect(judge(semaphore, [...four, ...resize(4, 1, 2), ...resize(3, 3, 4)]).violations).toHaveLength(1)
      expect(judge(semaphore, [...four, ...resize(4, 1, 2), ...resize(3, 3, 27)]).violations).toEqual([])
      expect(judge(semaphore, [...four, ...resize(4, 31, 32)]).violations).toHaveLength(1)
    })
  })

  test('finds a period of once that ran twice, out of order, or never', () => {
    const run = (contender: string, slot: string, token: number): NotesOf<typeof onceRecipe>[] => [
      { contender, what: 'began', slot, at: token },
      { contender, what: 'ran', slot, token: String(token), at: token + 1 },
    ]
    const found = (...notes: NotesOf<typeof onceRecipe>[]) => judge(onceRecipe, notes).violations
    expect(found(...run('a', '1', 10), ...run('b', '2', 20))).toEqual([])
    expect(found(...run('a', '1', 10), ...run('b', '1', 20))).toEqual(['b and a both ran 1'])
    expect(found(...run('a', '2', 10), ...run('b', '1', 20))).toEqual(['1 was recorded after 2'])
    expect(found({ contender: 'a', what: 'done', slot: '1', token: '5', at: 10 })).toHaveLength(1)
  })

  describe('of a counter', () => {
    let nth = 0
    type Notes = NotesOf<typeof counter>[]
    const change = (delta: number, at: number, end: { value: number } | 'unknown' | 'failed' | 'dead'): Notes => {
      const note = { contender: 'a', nth: nth++, delta: String(delta) }
      const began = { ...note, what: 'changing' as const, at }
      if (end === 'dead') return [began]
      if (typeof end === 'string') return [began, { ...note, what: end, why: 'RequestTimeout', at: at + 1 }]
      return [began, { ...note, what: 'changed' as const, value: String(end.value), at: at + 1 }]
    }
    const final = (value: number) => ({ contender: 'the end', what: 'final' as const, value: String(value), at: 1_000 })
    const two = [...change(5, 10, { value: 5 }), ...change(7, 20, { value: 12 })]

    const five = [...two, ...[30, 31, 32, 33, 34].flatMap((at) => change(100, at, 'unknown'))]
    const late = [
      ...two,
      ...change(100, 5, 'unknown'),
      ...change(5, 90_000, { value: 17 }),
      ...change(7, 90_010, { value: 124 }),
    ]

    test.each<[string, Notes, number]>([
      ['no change that is lost or happens twice', [...two, final(12)], 0],
      ['a change that is lost', [...change(5, 10, { value: 5 }), ...change(7, 20, { value: 7 }), final(7)], 1],
      ['a change that happened twice', [...two, final(19)], 1],
      ['no unknown change that happened', [...two, ...change(100, 5, 'unknown'), final(112)], 0],
      ['no unknown change that did not happen', [...two, ...change(100, 5, 'unknown'), final(12)], 0],
      ['no unknown changes that happened one behind the other', [...five, final(12 + 5 * 100)], 0],
      ['a change that happened long after it was given up', [...late, final(124)], 1],
      ['an unknown change that happened twice', [...two, ...change(100, 5, 'unknown'), final(212)], 1],
      ['a failed change that happened', [...two, ...change(100, 5, 'failed'), final(112)], 1],
      ['no change of a dead process', [...two, ...change(100, 5, 'dead'), ...change(3, 6, 'dead'), final(115)], 0],
      [
        'a change that happened before its call',
        [...change(5, 10, { value: 12 }), ...change(7, 20, { value: 7 }), final(12)],
        1,
      ],
    ])('finds %s', (_, notes, found) => {
      expect(judge(counter, notes).violations).toHaveLength(found)
    })
  })

  describe('of a group', () => {
    const step = (what: 'writing' | 'written' | 'left', at: number, rest: { number?: number; czxid?: string }) => ({
      contender: 'a',
      member: 'm',
      what,
      at,
      ...rest,
    })
    const look = (from: number, members: { member: string; number: number; czxid: string }[]) => ({
      contender: 'b',
      what: 'listed' as const,
      from,
      at: from + 5,
      members,
    })
    const life = [
      step('writing', 10, { number: 1 }),
      step('written', 20, { number: 1, czxid: '7' }),
      step('writing', 50, { number: 2 }),
      step('written', 60, { number: 2, czxid: '7' }),
      step('left', 90, { czxid: '7' }),
    ]
    const seen = (number: number, czxid = '7') => [{ member: 'm', number, czxid }]

    test.each<[string, NotesOf<typeof group>, number]>([
      ['no list with the last data', look(30, seen(1)), 0],
      ['a list without a member', look(30, []), 1],
      ['a list with another node of the member', look(30, seen(1, '6')), 1],
      ['no list without a member that may be gone', look(65, []), 0],
      ['no list with data that is being written', look(52, seen(2)), 0],
      ['a list with data that is not written yet', look(30, seen(2)), 1],
      ['a list with old data', look(65, seen(1)), 1],
      ['no list with a member that is leaving', look(85, seen(2)), 0],
      ['a list with a member that has left', look(95, seen(2)), 1],
      ['a list that went back', { contender: 'b', member: 'm', what: 'went back', czxid: '6', at: 70 }, 1],
    ])('finds %s', (_, note, found) => {
      expect(judge(group, [...life, note]).violations).toHaveLength(found)
    })
  })

  describe('of a mirror', () => {
    const node = (path: string, czxid: bigint, mzxid = czxid, text = `${mzxid}`) =>
      ({ path, text, stat: { czxid, mzxid } }) as MirroredNode
    const added = (path: string, czxid: bigint): Added => ({ type: 'Added', path, node: node(path, czxid) })
    const changed = (old: MirroredNode, now: MirroredNode): Changed => {
      const { path } = now
      return { type: 'Changed', path, old, node: now }
    }
    const removed = (old: MirroredNode): Removed => ({ type: 'Removed', path: old.path, old })
    const usual = [
      added('/m', 1n),
      added('/m/a', 2n),
      added('/m/a/b', 3n),
      changed(node('/m/a', 2n), node('/m/a', 2n, 4n)),
    ]

    test.each<[string, (Added | Changed | Removed)[], number]>([
      ['no changes that fit', [removed(node('/m/a/b', 3n)), added('/m/a/b', 9n)], 0],
      ['no node that was made again', [changed(node('/m/a', 2n, 4n), node('/m/a', 9n))], 0],
      ['a node that is added twice', [added('/m/a', 9n)], 1],
      ['a node that is removed twice', [removed(node('/m/a/b', 3n)), removed(node('/m/a/b', 3n))], 1],
      ['a change from what was not told', [changed(node('/m/a', 2n, 3n), node('/m/a', 2n, 9n))], 1],
      ['a change from other data', [changed(node('/m/a', 2n, 4n, 'x'), node('/m/a', 2n, 9n))], 1],
      ['a change that is told twice', [changed(node('/m/a', 2n, 4n), node('/m/a', 2n, 4n))], 1],
      ['a node that goes back', [changed(node('/m/a', 2n, 4n), node('/m/a', 2n, 3n))], 1],
      ['a node that is removed, and comes again older', [removed(node('/m/a/b', 3n)), added('/m/a/b', 2n)], 1],
      ['a node that comes before its parent', [added('/m/c/d', 9n)], 1],
      ['a node that goes before what is below it', [removed(node('/m/a', 2n, 4n))], 1],
    ])('finds %s', (_, changes, found) => {
      const told = new ToldTree('/m')
      for (const change of [...usual, ...changes]) told.add(change)
      expect(told.mistakes).toHaveLength(found)
    })

    const written = (czxid: bigint, mzxid = czxid, text = `${mzxid}`): Written => ({ czxid, mzxid, text })
    const tree = (nodes: Record<string, [Written, pzxid: bigint]>): TrueTree =>
      new Map(
        Object.entries(nodes).map(([path, [content, pzxid]]): [string, TrueNode] => {
          const below = Object.keys(nodes).filter((other) => other.startsWith(`${path}/`))
          const children = below.map((other) => other.slice(path.length + 1)).filter((name) => !name.includes('/'))
          return [path, { ...content, pzxid, children }]
        }),
      )
    const before = tree({ '/m': [written(1n), 3n], '/m/a': [written(2n), 2n], '/m/b': [written(3n), 3n] })
    const shown: Record<string, Written> = { '/m': written(1n), '/m/a': written(2n), '/m/b': written(3n) }
    const { '/m/b': b, ...withoutB } = shown
    const wrong = (after: TrueTree, nodes: Record<string, Written | undefined>, isWanted = (_: string) => true) =>
      wronglyShown(before, after, new Map(Object.entries(nodes)) as Map<string, Written>, isWanted)

    test('finds what differs from the tree throughout', () => {
      expect(isAtRest(before, before)).toBe(true)
      expect(wrong(before, shown)).toEqual([])
      expect(wrong(before, { ...shown, '/m/b': written(3n, 4n) })).toHaveLength(1)
      expect(wrong(before, { ...shown, '/m/b': written(3n, 3n, 'x') })).toHaveLength(1)
      expect(wrong(before, { ...shown, '/m/c': written(4n) })).toEqual(['/m/c is shown, and was not there throughout'])
      expect(wrong(before, withoutB)).toContain('/m/b is not shown, and was there throughout')
      const isNotB = (path: string) => path !== '/m/b'
      expect(wrong(before, withoutB, isNotB)).toEqual([])
      expect(wrong(before, { ...withoutB, '/m/b': b }, isNotB)).toEqual(['/m/b is shown, and is not wanted'])
    })

    test('does not judge what has changed meanwhile', () => {
      const writtenAgain = tree({ '/m': [written(1n), 3n], '/m/a': [written(2n), 2n], '/m/b': [written(3n, 5n), 3n] })
      expect(isAtRest(before, writtenAgain)).toBe(false)
      expect(wrong(writtenAgain, { ...shown, '/m/b': written(3n, 4n) })).toEqual([])
      expect(wrong(writtenAgain, { ...shown, '/m/a': written(2n, 4n) })).toHaveLength(1)
      expect(wrong(writtenAgain, withoutB)).toHaveLength(1)
      const gone = tree({ '/m': [written(1n), 6n], '/m/a': [written(2n), 2n] })
      expect(isAtRest(before, gone)).toBe(false)
      for (const nodes of [shown, withoutB, { ...shown, '/m/c': written(5n) }]) expect(wrong(gone, nodes)).toEqual([])
      expect(wrong(gone, { '/m': written(1n) })).toHaveLength(1)
      // Its list had changed, and is the same again.
      const cameAndWent = tree({ '/m': [written(1n), 7n], '/m/a': [written(2n), 2n], '/m/b': [written(3n), 3n] })
      expect(isAtRest(before, cameAndWent)).toBe(false)
      expect(wrong(cameAndWent, { ...shown, '/m/c': written(5n) })).toEqual([])
    })

    test('counts what the processes found', () => {
      const contender = 'a'
      const compared = { contender, what: 'compared' as const, took: 5, changes: 7, isAtRest: true, at: 10 }
      expect(judge(mirror, [compared])).toMatchObject({ done: 1, counts: { changes: 7, 'at rest': 1 }, violations: [] })
      const mistake = { contender, what: 'mistake' as const, mistake: 'its zxid goes back', at: 11 }
      expect(judge(mirror, [compared, mistake]).violations).toEqual(['a at 11.0: its zxid goes back'])
    })
  })

  test('finds a wait that passed a closed barrier', () => {
    const closed = [
      { contender: 'a', what: 'set', barrier: 'a', at: 10 },
      { contender: 'a', what: 'removing', barrier: 'a', at: 50 },
    ] as const
    const pass = (name: string, from: number, to: number): NotesOf<typeof barrier>[] => [
      { contender: 'b', what: 'waiting', barrier: name, at: from },
      { contender: 'b', what: 'passed', barrier: name, at: to },
    ]
    expect(judge(barrier, [...closed, ...pass('a', 20, 40)]).violations).toHaveLength(1)
    for (const passed of [pass('a', 20, 51), pass('a', 5, 40), pass('c', 20, 40)]) {
      expect(judge(barrier, [...closed, ...passed])).toMatchObject({ done: 1, violations: [] })
    }
  })

  describe('of a double barrier of 4 members', () => {
    type Step = NotesOf<typeof doubleBarrier>
    const member = (slot: number, times: Partial<Record<Step['what'], number>>, sessions = ['s', 's']): Step[] =>
      Object.entries(times).map(([what, at]) => ({
        contender: `${slot}.0 member`,
        slot,
        what: what as Step['what'],
        at,
        session: `${slot}${sessions[what === 'entered' ? 0 : 1]}`,
      }))
    const usual = { entering: 10, entered: 20, leaving: 30, left: 40, gone: 41 }
    const three = [0, 1, 2].flatMap((slot) => member(slot, usual))

    test('finds members that entered too early', () => {
      expect(judge(doubleBarrier, [...three, ...member(3, usual)])).toMatchObject({ done: 4, violations: [] })
      expect(judge(doubleBarrier, three).violations).toHaveLength(3)
      // One that has died may be there until its node is gone.
      expect(judge(doubleBarrier, [...three, ...member(3, { entering: 5, gone: 11 })]).violations).toEqual([])
      expect(judge(doubleBarrier, [...three, ...member(3, { entering: 5, gone: 9 })]).violations).toHaveLength(3)
      expect(judge(doubleBarrier, [...three, ...member(3, { entering: 21, gone: 30 })]).violations).toHaveLength(3)
    })

    test('finds members that left too early', () => {
      const late = { entering: 10, entered: 20, leaving: 45, left: 50, gone: 51 }
      expect(judge(doubleBarrier, [...three, ...member(3, late)]).violations).toHaveLength(3)
      // It has entered after they left, or its session has ended.
      expect(judge(doubleBarrier, [...three, ...member(3, { ...late, entered: 35 })]).violations).toEqual([])
      expect(judge(doubleBarrier, [...three, ...member(3, late, ['s', 't'])]).violations).toEqual([])
    })
  })
})
