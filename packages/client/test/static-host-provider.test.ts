import type { ServerAddress } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Jitter } from '../src/session/servers/jitter.ts'
import { StaticHostProvider } from '../src/session/servers/static-host-provider.ts'
import { SeededRandom } from './support/index.ts'

const server = (name: string): ServerAddress => ({ host: name, port: 2181 })
const servers = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => server(`${prefix}${n}`))
const random = new SeededRandom(20)
const seeds = Array.from({ length: 5_000 }, () => Math.floor(random.next() * 2 ** 32))
/** How many clients the figures of Java were counted over. */
const JAVA_SEEDS = 2_000

/** One client: its list, and where it is when the list changes. */
function migrated(seed: number, { old, kept, added, isCurrentKept }: Change) {
  const before = servers('old', old)
  const list = new StaticHostProvider(before, new Jitter(seed))
  // The kept ones are the first: with the current one among them or behind.
  const current = isCurrentKept ? before[0]! : before.at(-1)!
  list.connected(current)
  const moves = list.update([...before.slice(0, kept), ...servers('new', added)], { ...current })
  return { list, moves, current }
}

interface Change {
  readonly old: number
  readonly kept: number
  readonly added: number
  readonly isCurrentKept: boolean
}

// Java's StaticHostProvider.updateServerList: the share of 2,000 clients that leave their server, and the probability that
// a leaving client goes to an added one.
const figures: [old: number, kept: number, added: number, isCurrentKept: boolean, moving: number, pAdded: number][] = [
  [6, 1, 2, false, 1, 0.8],
  [4, 1, 1, false, 1, 0.6666666],
  [4, 1, 2, false, 1, 0.8888889],
  [5, 1, 3, false, 1, 0.9375],
  [2, 1, 0, false, 1, 0],
  [4, 0, 1, false, 1, 1],
  [4, 1, 4, false, 1, 1],
  [3, 1, 4, false, 1, 1],
  [6, 5, 3, false, 1, 1],
  [1, 0, 1, false, 1, 1],
  [2, 1, 1, false, 1, 1],
  [2, 2, 3, true, 0.591, 1],
  [1, 1, 3, true, 0.7485, 1],
  [1, 1, 4, true, 0.8015, 1],
  [4, 4, 4, true, 0.5085, 1],
  [2, 1, 3, true, 0.512, 1],
  [6, 4, 3, true, 0.141, 1],
  [5, 5, 3, true, 0.368, 1],
  [6, 5, 2, true, 0.141, 1],
  [5, 5, 2, true, 0.2995, 1],
  [3, 2, 2, true, 0.2595, 1],
  [4, 4, 2, true, 0.3355, 1],
  [2, 2, 0, true, 0, 0],
  [5, 3, 1, true, 0, 0],
  [2, 1, 1, true, 0, 0],
  [5, 3, 0, true, 0, 0],
]

/** Three standard deviations of a share of `p`, counted over ours, against another counted over Java's. */
const threeSigma = (p: number) => 3 * Math.sqrt(p * (1 - p) * (1 / seeds.length + 1 / JAVA_SEEDS))

describe('StaticHostProvider.update', () => {
  test.each(figures)(
    'StaticHostProvider.update of %i servers, %i kept and %i added, ours among them %s: %d of the clients move (S20)',
    (old, kept, added, isCurrentKept, moving, pAdded) => {
      let movers = 0
      let toAdded = 0
      for (const seed of seeds) {
        const { list, moves } = migrated(seed, { old, kept, added, isCurrentKept })
        if (!moves) continue
        movers++
        if (list.next().host.startsWith('new')) toAdded++
      }
      expect(Math.abs(movers / seeds.length - moving)).toBeLessThanOrEqual(threeSigma(moving))
      if (movers > 0) expect(Math.abs(toAdded / movers - pAdded)).toBeLessThanOrEqual(threeSigma(pAdded) + 1e-6)
    },
  )

  test('StaticHostProvider.update evens out the load: each of six servers gets a sixth of the clients of three (S20)', () => {
    const before = servers('old', 3)
    const after = [...before, ...servers('new', 3)]
    const load = new Map(after.map(({ host }) => [host, 0]))
    for (const seed of seeds) {
      const list = new StaticHostProvider(before, new Jitter(seed))
      const current = list.next()
      list.connected(current)
      const { host } = list.update(after, current) ? list.next() : current
      load.set(host, load.get(host)! + 1)
    }
    for (const count of load.values()) {
      expect(Math.abs(count / seeds.length - 1 / 6)).toBeLessThanOrEqual(
        3 * Math.sqrt(((1 / 6) * (5 / 6)) / seeds.length),
      )
    }
  })

  test('StaticHostProvider.next tries every server once where the move fails, then goes on in rounds (S20)', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { list } = migrated(seed, { old: 4, kept: 2, added: 1, isCurrentKept: false })
      const tried = Array.from({ length: 3 }, () => list.next().host)
      expect(tried.toSorted()).toEqual(['new0', 'old0', 'old1'])
      const round = Array.from({ length: 3 }, () => list.next().host)
      expect(round.toSorted()).toEqual(['new0', 'old0', 'old1'])
    }
  })

  test('StaticHostProvider.next goes on behind its server where it stays (S20)', () => {
    const { list, moves, current } = migrated(7, { old: 3, kept: 3, added: 0, isCurrentKept: true })
    expect(moves).toBe(false)
    const round = Array.from({ length: 3 }, () => list.next())
    expect(round[2]).toEqual(current)
  })

  test('StaticHostProvider.update stands for the server of a move under way, when one list follows another (S20)', () => {
    const { list } = migrated(3, { old: 3, kept: 0, added: 2, isCurrentKept: false })
    // Not connected meanwhile: it is on its way to an added one, which stays.
    expect(list.update(servers('new', 2), undefined)).toBe(false)
    // Still connected, or on the way, to one that is gone.
    expect(list.update(servers('new', 2), server('old2'))).toBe(true)
  })
})

test('StaticHostProvider goes where it was going when it is given the same list once more', () => {
  const [old, added] = [server('old'), server('new')]
  let moved = 0
  for (const seed of seeds.slice(0, 100)) {
    const list = new StaticHostProvider([old], new Jitter(seed))
    list.connected(old)
    if (!list.update([old, added], old)) continue
    moved++
    expect(list.update([old, added], old)).toBe(false)
    expect(list.next()).toEqual(added)
  }
  expect(moved).toBeGreaterThan(30)
})

test('StaticHostProvider.next goes round behind a server that the move has reached: that one comes last', () => {
  for (const seed of seeds.slice(0, 200)) {
    const { list, moves } = migrated(seed, { old: 4, kept: 2, added: 2, isCurrentKept: false })
    expect(moves).toBe(true)
    const reached = list.next()
    list.connected(reached)
    const round = Array.from({ length: 4 }, () => list.next())
    expect(new Set(round.map(({ host }) => host)).size).toBe(4)
    expect(round.at(-1)).toEqual(reached)
    expect(Array.from({ length: 4 }, () => list.next())).toEqual(round)
  }
})

test('StaticHostProvider.update counts the next change from where the move has ended', () => {
  for (const seed of seeds.slice(0, 200)) {
    const { list } = migrated(seed, { old: 4, kept: 2, added: 2, isCurrentKept: false })
    const reached = list.next()
    list.connected(reached)
    // It is kept, and there are no more than before: no client needs to move.
    expect(list.update([reached, ...servers('newer', 3)], reached)).toBe(false)
  }
})
