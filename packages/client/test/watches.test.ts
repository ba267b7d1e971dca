import { describe, expect, test } from 'vitest'
import {
  type FiredType,
  tableOf,
  type Watcher,
  type WatchKind,
  OneShotWatches,
} from '../src/session/watches/one-shot-watches.ts'
import { watcher } from './requests.ts'

const KINDS = ['data', 'exist', 'child'] as const satisfies readonly WatchKind[]

function registryOf(...watchers: readonly Watcher[]): OneShotWatches {
  const registry = new OneShotWatches()
  for (const each of watchers) registry.add(each)
  return registry
}

describe('OneShotWatches.fired', () => {
  // ZKWatchManager.materialize of the Java client; removals as in ZKWatchManager.removeWatcher.
  test.each([
    ['NodeCreated', ['data', 'exist']],
    ['NodeDataChanged', ['data', 'exist']],
    ['NodeDeleted', ['data', 'exist', 'child']],
    ['NodeChildrenChanged', ['child']],
    ['DataWatchRemoved', ['data', 'exist']],
    ['ChildWatchRemoved', ['child']],
  ] as const satisfies readonly [FiredType, readonly WatchKind[]][])(
    'OneShotWatches.fired takes with %s what Java does: %j',
    (type, kinds) => {
      const watchers = KINDS.map((kind) => watcher('/a', kind, 'set'))
      const registry = registryOf(...watchers)
      expect(registry.fired(type, '/a').map(({ kind }) => kind)).toEqual(kinds)
      expect(registry.fired(type, '/a')).toEqual([])
      for (const { kind, phase } of watchers)
        expect(phase).toBe((kinds as readonly WatchKind[]).includes(kind) ? 'gone' : 'set')
    },
  )

  test('OneShotWatches.fired leaves watchers that are only asked for: their event comes behind their reply', () => {
    const [asked, set] = [watcher('/a', 'data'), watcher('/a', 'data', 'set')]
    const registry = registryOf(asked, set)
    expect(registry.fired('NodeDataChanged', '/a')).toEqual([set])
    expect(asked.phase).toBe('asked')
    asked.phase = 'set'
    expect(registry.fired('NodeDeleted', '/a')).toEqual([asked])
  })

  test('OneShotWatches.fired is about one path, not those below or beside it', () => {
    const registry = registryOf(...['/', '/a/b', '/ab', '/A'].map((path) => watcher(path, 'data', 'set')))
    expect(registry.fired('NodeDeleted', '/a')).toEqual([])
  })

  test('OneShotWatches.fired takes all watchers of a path, in the order of their calls', () => {
    const watchers = [watcher('/a', 'exist', 'set'), watcher('/a', 'data', 'set'), watcher('/a', 'exist', 'set')]
    expect(registryOf(...watchers).fired('NodeDeleted', '/a')).toEqual(watchers)
  })

  test('OneShotWatches.fired takes and does not tell', () => {
    const set = watcher('/a', 'data', 'set')
    registryOf(set).fired('NodeDeleted', '/a')
    expect(set.told).toEqual([])
  })
})

describe('OneShotWatches.at', () => {
  test('OneShotWatches.at gives those of one of the server’s tables, asked for or set; exist watches are in the data table', () => {
    const [data, exist, child] = [watcher('/a', 'data', 'set'), watcher('/a', 'exist'), watcher('/a', 'child')]
    const registry = registryOf(data, exist, child, watcher('/b', 'data', 'set'))
    expect(registry.at('/a', 'data')).toEqual([data, exist])
    expect(registry.at('/a', 'child')).toEqual([child])
    expect(registry.at('/c', 'data')).toEqual([])
    expect(KINDS.map(tableOf)).toEqual(['data', 'data', 'child'])
  })
})

describe('OneShotWatches.remove', () => {
  test('OneShotWatches.remove forgets one watcher and no other of its path', () => {
    const [one, other] = [watcher('/a', 'data', 'set'), watcher('/a', 'data', 'set')]
    const registry = registryOf(one, other)
    registry.remove(one)
    expect([one.phase, other.phase]).toEqual(['gone', 'set'])
    expect(registry.at('/a', 'data')).toEqual([other])
  })

  test('OneShotWatches.remove forgets a path with its last watcher: one added later comes last', () => {
    const [first, again] = [watcher('/a', 'data', 'set'), watcher('/a', 'data', 'set')]
    const registry = registryOf(first, watcher('/b', 'data', 'set'))
    registry.remove(first)
    registry.add(again)
    expect(registry.standing()).toMatchObject({ dataWatches: ['/b', '/a'] })
  })

  test('OneShotWatches.remove does nothing to one that it does not have', () => {
    const registry = registryOf(watcher('/a', 'data', 'set'))
    registry.remove(watcher('/a', 'data'))
    registry.remove(watcher('/b', 'data'))
    expect(registry.at('/a', 'data')).toHaveLength(1)
  })
})

describe('OneShotWatches.clear', () => {
  test('OneShotWatches.clear takes out all, set or only asked for', () => {
    const watchers = [watcher('/a', 'data', 'set'), watcher('/b', 'child')]
    const registry = registryOf(...watchers)
    expect(registry.clear()).toEqual(watchers)
    expect(watchers.map(({ phase }) => phase)).toEqual(['gone', 'gone'])
    expect(registry.clear()).toEqual([])
  })
})

describe('OneShotWatches.standing', () => {
  test('OneShotWatches.standing says once for each path and kind what is set', () => {
    const registry = registryOf(
      watcher('/a', 'data', 'set'),
      watcher('/a', 'data', 'set'),
      watcher('/a', 'child', 'set'),
      watcher('/b', 'exist', 'set'),
      watcher('/c', 'child', 'set'),
    )
    expect(registry.standing()).toEqual({ dataWatches: ['/a'], existWatches: ['/b'], childWatches: ['/a', '/c'] })
  })

  test('OneShotWatches.standing leaves out what is asked for (it is asked again), fired or removed', () => {
    const [fired, removed] = [watcher('/fired', 'data', 'set'), watcher('/removed', 'data', 'set')]
    const registry = registryOf(watcher('/asked', 'data'), fired, removed)
    registry.fired('NodeDeleted', '/fired')
    registry.remove(removed)
    expect(registry.standing()).toEqual({ dataWatches: [], existWatches: [], childWatches: [] })
  })

  test('OneShotWatches.standing takes nothing out', () => {
    const registry = registryOf(watcher('/a', 'data', 'set'))
    expect(registry.standing()).toEqual(registry.standing())
  })
})
