import { describe, expect, test } from 'vitest'
import { setWatchesRequest } from '../src/session/own-requests.ts'
import { type FiredType, tableOf, type Watcher, type WatchKind, WatchRegistry } from '../src/session/watches.ts'
import { watcher } from './requests.ts'

const KINDS = ['data', 'exist', 'child'] as const satisfies readonly WatchKind[]

function registryOf(...watchers: readonly Watcher[]): WatchRegistry {
  const registry = new WatchRegistry()
  for (const each of watchers) registry.add(each)
  return registry
}

describe('WatchRegistry.fired', () => {
  // ZKWatchManager.materialize of the Java client; removals as in ZKWatchManager.removeWatcher.
  test.each([
    ['NodeCreated', ['data', 'exist']],
    ['NodeDataChanged', ['data', 'exist']],
    ['NodeDeleted', ['data', 'exist', 'child']],
    ['NodeChildrenChanged', ['child']],
    ['DataWatchRemoved', ['data', 'exist']],
    ['ChildWatchRemoved', ['child']],
  ] as const satisfies readonly [FiredType, readonly WatchKind[]][])(
    'WatchRegistry.fired takes with %s what Java does: %j',
    (type, kinds) => {
      const watchers = KINDS.map((kind) => watcher('/a', kind, 'set'))
      const registry = registryOf(...watchers)
      expect(registry.fired(type, '/a').map(({ kind }) => kind)).toEqual(kinds)
      expect(registry.fired(type, '/a')).toEqual([])
      for (const { kind, phase } of watchers)
        expect(phase).toBe((kinds as readonly WatchKind[]).includes(kind) ? 'gone' : 'set')
    },
  )

  test('WatchRegistry.fired leaves watchers that are only asked for: their event comes behind their reply', () => {
    const [asked, set] = [watcher('/a', 'data'), watcher('/a', 'data', 'set')]
    const registry = registryOf(asked, set)
    expect(registry.fired('NodeDataChanged', '/a')).toEqual([set])
    expect(asked.phase).toBe('asked')
    asked.phase = 'set'
    expect(registry.fired('NodeDeleted', '/a')).toEqual([asked])
  })

  test('WatchRegistry.fired is about one path, not those below or beside it', () => {
    const registry = registryOf(...['/', '/a/b', '/ab', '/A'].map((path) => watcher(path, 'data', 'set')))
    expect(registry.fired('NodeDeleted', '/a')).toEqual([])
  })

  test('WatchRegistry.fired takes all watchers of a path, in the order of their calls', () => {
    const watchers = [watcher('/a', 'exist', 'set'), watcher('/a', 'data', 'set'), watcher('/a', 'exist', 'set')]
    expect(registryOf(...watchers).fired('NodeDeleted', '/a')).toEqual(watchers)
  })

  test('WatchRegistry.fired takes and does not tell', () => {
    const set = watcher('/a', 'data', 'set')
    registryOf(set).fired('NodeDeleted', '/a')
    expect(set.told).toEqual([])
  })
})

describe('WatchRegistry.at', () => {
  test('WatchRegistry.at gives those of one of the server’s tables, asked for or set; exist watches are in the data table', () => {
    const [data, exist, child] = [watcher('/a', 'data', 'set'), watcher('/a', 'exist'), watcher('/a', 'child')]
    const registry = registryOf(data, exist, child, watcher('/b', 'data', 'set'))
    expect(registry.at('/a', 'data')).toEqual([data, exist])
    expect(registry.at('/a', 'child')).toEqual([child])
    expect(registry.at('/c', 'data')).toEqual([])
    expect(KINDS.map(tableOf)).toEqual(['data', 'data', 'child'])
  })
})

describe('WatchRegistry.remove', () => {
  test('WatchRegistry.remove forgets one watcher and no other of its path', () => {
    const [one, other] = [watcher('/a', 'data', 'set'), watcher('/a', 'data', 'set')]
    const registry = registryOf(one, other)
    registry.remove(one)
    expect([one.phase, other.phase]).toEqual(['gone', 'set'])
    expect(registry.at('/a', 'data')).toEqual([other])
  })

  test('WatchRegistry.remove forgets a path with its last watcher: one added later comes last', () => {
    const [first, again] = [watcher('/a', 'data', 'set'), watcher('/a', 'data', 'set')]
    const registry = registryOf(first, watcher('/b', 'data', 'set'))
    registry.remove(first)
    registry.add(again)
    expect(registry.toSetWatches(1n)).toMatchObject([{ dataWatches: ['/b', '/a'] }])
  })

  test('WatchRegistry.remove does nothing to one that it does not have', () => {
    const registry = registryOf(watcher('/a', 'data', 'set'))
    registry.remove(watcher('/a', 'data'))
    registry.remove(watcher('/b', 'data'))
    expect(registry.at('/a', 'data')).toHaveLength(1)
  })
})

describe('WatchRegistry.clear', () => {
  test('WatchRegistry.clear takes out all, set or only asked for', () => {
    const watchers = [watcher('/a', 'data', 'set'), watcher('/b', 'child')]
    const registry = registryOf(...watchers)
    expect(registry.clear()).toEqual(watchers)
    expect(watchers.map(({ phase }) => phase)).toEqual(['gone', 'gone'])
    expect(registry.clear()).toEqual([])
  })
})

describe('WatchRegistry.toSetWatches', () => {
  test('WatchRegistry.toSetWatches says once for each path and kind what is set', () => {
    const registry = registryOf(
      watcher('/a', 'data', 'set'),
      watcher('/a', 'data', 'set'),
      watcher('/a', 'child', 'set'),
      watcher('/b', 'exist', 'set'),
      watcher('/c', 'child', 'set'),
    )
    expect(registry.toSetWatches(0x77n)).toEqual([
      { relativeZxid: 0x77n, dataWatches: ['/a'], existWatches: ['/b'], childWatches: ['/a', '/c'] },
    ])
  })

  test('WatchRegistry.toSetWatches leaves out what is asked for (it is asked again), fired or removed', () => {
    const [fired, removed] = [watcher('/fired', 'data', 'set'), watcher('/removed', 'data', 'set')]
    const registry = registryOf(watcher('/asked', 'data'), fired, removed)
    registry.fired('NodeDeleted', '/fired')
    registry.remove(removed)
    expect(registry.toSetWatches(1n)).toEqual([])
  })

  test('WatchRegistry.toSetWatches takes nothing out', () => {
    const registry = registryOf(watcher('/a', 'data', 'set'))
    expect(registry.toSetWatches(1n)).toEqual(registry.toSetWatches(1n))
  })

  test.each([
    ['40,000 locks', 40_000, (index: number) => `/locks/queue/_c_8e6f0a1c-lock-${String(index).padStart(10, '0')}`],
    ['100,000 short paths', 100_000, (index: number) => `/${index.toString(36)}`],
    ['names of three bytes a character', 2_000, (index: number) => `/${'€'.repeat(200)}${index}`],
  ])('WatchRegistry.toSetWatches cuts %s into requests of at most 128 KiB', (_, count, pathOf) => {
    const paths = Array.from({ length: count }, (_, index) => pathOf(index))
    const registry = registryOf(...paths.map((path) => watcher(path, 'data', 'set')))
    const chunks = registry.toSetWatches(1n)
    // Full ones, but for the last.
    const sizes = chunks.slice(0, -1).map((chunk) => setWatchesRequest(chunk).size)
    expect(Math.min(...sizes)).toBeGreaterThan(127 * 1024)
    expect(chunks.flatMap(({ dataWatches }) => dataWatches)).toEqual(paths)
    for (const chunk of chunks) {
      expect(setWatchesRequest(chunk).size).toBeLessThanOrEqual(128 * 1024)
    }
  })

  test('WatchRegistry.toSetWatches counts the paths of all kinds together', () => {
    const path = `/${'x'.repeat(60_000)}`
    const registry = registryOf(...KINDS.map((kind) => watcher(path, kind, 'set')))
    expect(registry.toSetWatches(1n)).toEqual([
      { relativeZxid: 1n, dataWatches: [path], existWatches: [path], childWatches: [] },
      { relativeZxid: 1n, dataWatches: [], existWatches: [], childWatches: [path] },
    ])
  })

  test('WatchRegistry.toSetWatches gives a path that is longer than a chunk one of its own', () => {
    const long = `/${'x'.repeat(200_000)}`
    const registry = registryOf(...['/a', long, '/b'].map((path) => watcher(path, 'data', 'set')))
    expect(registry.toSetWatches(1n).map(({ dataWatches }) => dataWatches)).toEqual([['/a'], [long], ['/b']])
  })
})
