// One path's watches: which watchers an event takes, and what must be sent so that the server has what is wanted.
import { describe, expect, test } from 'vitest'
import { Few } from '../src/session/watches/few.ts'
import { afterAdd, afterClear, type Change, PathWatches, reconcile } from '../src/session/watches/path-watches.ts'
import {
  type FiredType,
  modeFor,
  type OneShotWatcher,
  type PersistentWatcher,
  tableOf,
  type WatchKind,
  type WatchMode,
} from '../src/session/watches/watchers.ts'
import { watcher } from './support/made-requests.ts'

const KINDS = ['data', 'exist', 'child'] as const satisfies readonly WatchKind[]

function pathWith(...watchers: readonly OneShotWatcher[]): PathWatches {
  const at = new PathWatches('/a')
  for (const each of watchers) at.oneShot.add(each)
  return at
}

const persistent = (mode: WatchMode, phase: PersistentWatcher['phase'] = 'set'): PersistentWatcher => ({
  path: '/a',
  mode,
  phase,
  notify: () => {},
})

describe('PathWatches.fire', () => {
  // ZKWatchManager.materialize of the Java client; removals as in ZKWatchManager.removeWatcher.
  test.each([
    ['NodeCreated', ['data', 'exist']],
    ['NodeDataChanged', ['data', 'exist']],
    ['NodeDeleted', ['data', 'exist', 'child']],
    ['NodeChildrenChanged', ['child']],
    ['DataWatchRemoved', ['data', 'exist']],
    ['ChildWatchRemoved', ['child']],
  ] as const satisfies readonly [FiredType, readonly WatchKind[]][])(
    'PathWatches.fire takes with %s what Java does: %j',
    (type, kinds) => {
      const watchers = KINDS.map((kind) => watcher('/a', kind, 'set'))
      const at = pathWith(...watchers)
      expect(at.fire(type)?.map(({ kind }) => kind)).toEqual(kinds)
      expect(at.fire(type)).toBeUndefined()
      for (const { kind, phase } of watchers)
        expect(phase).toBe((kinds as readonly WatchKind[]).includes(kind) ? 'gone' : 'set')
    },
  )

  test('PathWatches.fire leaves watchers whose read was not answered: their event comes behind their reply', () => {
    const [unsent, set] = [watcher('/a', 'data'), watcher('/a', 'data', 'set')]
    const at = pathWith(unsent, set)
    expect(at.fire('NodeDataChanged')).toEqual([set])
    expect(unsent.phase).toBe('unsent')
    unsent.phase = 'set'
    expect(at.fire('NodeDeleted')).toEqual([unsent])
  })

  test('PathWatches.fire tells an event of a shared watch, once, from one that has no watcher', () => {
    const sharer = watcher('/a', 'data')
    const at = pathWith(sharer)
    expect(at.fire('NodeDataChanged')).toBeUndefined()
    sharer.sharesWatch = true
    expect(at.fire('NodeChildrenChanged')).toBeUndefined()
    expect(at.fire('NodeDataChanged')).toEqual([])
    expect(at.fire('NodeDataChanged')).toBeUndefined()
  })

  test('PathWatches.fire takes all watchers of a path, in the order of their calls, and notifies none', () => {
    const watchers = [watcher('/a', 'exist', 'set'), watcher('/a', 'data', 'set'), watcher('/a', 'exist', 'set')]
    expect(pathWith(...watchers).fire('NodeDeleted')).toEqual(watchers)
    expect(watchers.flatMap(({ notified }) => notified)).toEqual([])
  })
})

describe('PathWatches', () => {
  test('PathWatches.in gives those of one of the server’s tables, asked for or set; exist watches are in the data table', () => {
    const [data, exist, child] = [watcher('/a', 'data', 'set'), watcher('/a', 'exist'), watcher('/a', 'child')]
    const at = pathWith(data, exist, child)
    expect(at.in('data')).toEqual([data, exist])
    expect(at.in('child')).toEqual([child])
    expect(KINDS.map(tableOf)).toEqual(['data', 'data', 'child'])
  })

  test('PathWatches.isEmpty once nothing watches, and the server has nothing', () => {
    const at = pathWith()
    expect(at.isEmpty).toBe(true)
    for (const change of [{ requested: 'persistent' }, { confirmed: 'recursive' }, { hasLeftover: true }] as const) {
      expect(Object.assign(pathWith(), change).isEmpty).toBe(false)
    }
    expect(pathWith(watcher('/a', 'data')).isEmpty).toBe(false)
    at.addPersistent(persistent('persistent'))
    expect(at.isEmpty).toBe(false)
  })

  test('PathWatches.interrupted forgets what the server had; what was on its way is unsent again, what was set is away', () => {
    const [sent, set] = [watcher('/a', 'data', 'sent'), watcher('/a', 'data', 'set')]
    const at = Object.assign(pathWith(sent, set), {
      requested: 'recursive',
      confirmed: 'persistent',
      hasLeftover: true,
    })
    const watchers = (['unsent', 'sent', 'set', 'away'] as const).map((phase) => persistent('persistent', phase))
    for (const each of watchers) at.addPersistent(each)
    at.interrupted()
    expect([at.requested, at.confirmed, at.hasLeftover]).toEqual([undefined, undefined, false])
    expect([sent.phase, set.phase]).toEqual(['unsent', 'set'])
    expect(watchers.map(({ phase }) => phase)).toEqual(['unsent', 'unsent', 'away', 'away'])
  })

  test.each([
    [[], undefined],
    [['persistent'], 'persistent'],
    [['recursive', 'persistent'], 'recursive'],
    [['persistent', 'recursive'], 'recursive'],
  ] as const)('modeFor of watchers %j is %s', (modes, mode) => {
    expect(modeFor(modes.map((each) => persistent(each)))).toBe(mode)
  })
})

describe('reconcile', () => {
  const lost = () => Object.assign(watcher('/a', 'data', 'set'), { isArmed: false })
  const known = (given: Partial<Pick<PathWatches, 'wanted' | 'requested' | 'hasLeftover' | 'oneShot'>>) => ({
    wanted: undefined,
    requested: undefined,
    hasLeftover: false,
    oneShot: few<OneShotWatcher>(),
    ...given,
  })
  const types = (changes: readonly Change[]) =>
    changes.map((change) => ('mode' in change ? `${change.type} ${change.mode}` : change.type))

  // wanted × requested × leftover: with a one-shot watcher that the server has no watch for.
  test.each<[WatchMode | undefined, WatchMode | undefined, boolean, string[]]>([
    [undefined, undefined, false, ['set']],
    [undefined, undefined, true, ['clear', 'set']],
    [undefined, 'persistent', false, ['clear', 'set']],
    [undefined, 'recursive', true, ['clear', 'set']],
    ['persistent', undefined, false, ['add persistent']],
    ['persistent', undefined, true, ['add persistent']],
    ['persistent', 'persistent', false, []],
    ['persistent', 'persistent', true, []],
    ['persistent', 'recursive', false, ['add persistent', 'drop recursive']],
    ['recursive', 'persistent', false, ['add recursive', 'drop persistent']],
    ['recursive', 'recursive', true, []],
  ])('reconcile of wanted %s, requested %s, leftover %s is %j', (wanted, requested, hasLeftover, changes) => {
    expect(types(reconcile(known({ wanted, requested, hasLeftover, oneShot: few<OneShotWatcher>(lost()) })))).toEqual(
      changes,
    )
  })

  test('reconcile sets again only what the server may have lost, and what is set: reads on their way ask by themselves', () => {
    const [gone, armed, unsent, sent] = [lost(), watcher('/a', 'data', 'set'), watcher('/a', 'data'), lost()]
    armed.isArmed = true
    sent.phase = 'sent'
    const oneShot = few<OneShotWatcher>(gone, armed, unsent, sent)
    expect(reconcile(known({ oneShot }))).toEqual([{ type: 'set', watchers: [gone] }])
    // A removal of all takes the armed one as well.
    expect(afterClear(known({ oneShot }))).toEqual([{ type: 'set', watchers: [gone, armed] }])
  })

  test('reconcile changes nothing, and once its changes are applied there are none left', () => {
    for (const wanted of [undefined, 'persistent', 'recursive'] as const) {
      for (const requested of [undefined, 'persistent', 'recursive'] as const) {
        for (const hasLeftover of [false, true]) {
          const at = Object.assign(pathWith(lost()), { requested, hasLeftover })
          if (wanted !== undefined) at.addPersistent(persistent(wanted))
          const changes = reconcile(at)
          expect(reconcile(at)).toEqual(changes)
          for (const change of changes) at.apply(change)
          expect(reconcile(at), `${wanted} ${requested} ${hasLeftover}`).toEqual([])
          expect(at.requested).toBe(wanted)
        }
      }
    }
  })

  test('afterAdd drops the other mode, which servers from 3.9 on keep beside the new one', () => {
    expect(afterAdd(known({ requested: 'recursive' }), 'persistent')).toEqual([{ type: 'drop', mode: 'recursive' }])
    expect(afterAdd(known({ requested: 'recursive' }), 'recursive')).toEqual([])
    expect(afterAdd(known({}), 'recursive')).toEqual([])
  })
})

function few<T extends object>(...items: T[]): Few<T> {
  const few = new Few<T>()
  for (const item of items) few.add(item)
  return few
}
