// The copy of a mirror when nodes were deleted and made again, and their parents are read later than they are.
import { setImmediate as nextEvent } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Random } from '@zk/testing/internal'
import type { ChangeFeed } from '../../src/mirror/change-feed.ts'
import { Copy } from '../../src/mirror/copy.ts'
import { statOf } from '../support/mirrors.ts'

const NO_BOUNDS = { maxNodes: 1_000, maxBytes: 1_000_000 }

function put(copy: Copy, path: string, czxid: number): void {
  copy.put(path, statOf(czxid), new Uint8Array())
}

/** A reader of all changes, and what it was told since the last look. */
function readerOf(feed: ChangeFeed): () => Promise<string[]> {
  const told: string[] = []
  const read = async () => {
    for (let taken = await feed.take(); taken.done !== true; taken = await feed.take()) {
      const change = taken.value
      told.push(change.type === 'Ready' ? 'Ready' : `${change.type} ${change.path}`)
    }
  }
  void read()
  return async () => {
    await nextEvent()
    return told.splice(0)
  }
}

describe('Copy', () => {
  test('Copy.put of a node that was made again keeps an old node below it that has a newer child, until that is read', async () => {
    const copy = new Copy('/a', NO_BOUNDS)
    put(copy, '/a', 1)
    put(copy, '/a/b', 2)
    put(copy, '/a/d', 3)
    // The event of this node came before the reads of those above it, which were made again, too.
    put(copy, '/a/b/c', 20)
    const told = readerOf(copy.feed(false))
    expect(await told()).toEqual(['Added /a', 'Added /a/d', 'Added /a/b', 'Added /a/b/c'])
    put(copy, '/a', 10)
    expect(await told()).toEqual(['Removed /a/d', 'Changed /a'])
    put(copy, '/a/b', 15)
    put(copy, '/a/e', 21)
    expect(await told()).toEqual(['Changed /a/b', 'Added /a/e'])
    copy.remove('/a')
    expect(await told()).toEqual(['Removed /a/b/c', 'Removed /a/b', 'Removed /a/e', 'Removed /a'])
  })

  test.each([1, 2, 3, 4])(
    'Copy never has a node without its parent, and tells every change to the reader (seed %i)',
    async (seed) => {
      const random = new Random(seed, 'copy')
      const copy = new Copy('/a', NO_BOUNDS)
      const told = readerOf(copy.feed(false))
      const slow = copy.feed(false)
      const names = ['b', 'c']
      const changes: string[] = []
      let zxid = 1
      put(copy, '/a', zxid)
      for (let step = 0; step < 500; step++) {
        const path = `/a${Array.from({ length: random.between(0, 4) }, () => `/${random.one(names)}`).join('')}`
        if (!copy.hasPlaceFor(path)) continue
        if (random.chance(0.25)) copy.remove(path)
        // Reads of a parent may show an older state than those of its children.
        else put(copy, path, Math.max(1, ++zxid - random.below(30)))
        if (random.chance(0.1)) changes.push(...(await told()))
      }
      changes.push(...(await told()))
      const { tree } = copy
      const paths = [...tree.ids()].map((id) => tree.path(id))
      expect(new Set(paths).size).toBe(tree.size)
      for (const path of paths)
        expect(path === '/a' || tree.find(path.slice(0, path.lastIndexOf('/'))) !== undefined).toBe(true)
      for (const each of [changes, await readerOf(slow)()]) expect(treeOf(each)).toEqual(new Set(paths))
    },
  )
})

/** The paths that are there when these changes are applied one after the other: parents are added first, and removed last. */
function treeOf(changes: readonly string[]): Set<string> {
  const known = new Set<string>()
  for (const change of changes) {
    const [type, path] = change.split(' ') as [string, string]
    const isThere = known.has(path)
    const parent = path.slice(0, path.lastIndexOf('/'))
    expect([change, isThere]).toEqual([change, type !== 'Added'])
    if (type === 'Added') expect([change, parent === '' || known.has(parent)]).toEqual([change, true])
    if (type === 'Added') known.add(path)
    if (type === 'Removed') {
      expect([change, [...known].filter((each) => each.startsWith(`${path}/`))]).toEqual([change, []])
      known.delete(path)
    }
  }
  return known
}
