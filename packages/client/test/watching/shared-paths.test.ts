// One-shot, persistent and recursive watches that share few paths, against servers with the watch semantics of 3.6 to 3.8
// and of 3.9. Long form: ZK_WATCH_SEEDS=10000 of each; one seed alone: ZK_WATCH_SEED.
import { describe, expect, test } from 'vitest'
import type { Feature } from './shared-paths/draws.ts'
import { playHistory } from './shared-paths/history.ts'

const SEEDS = Number(process.env['ZK_WATCH_SEEDS'] ?? 40)
const SEED = process.env['ZK_WATCH_SEED']

const features: readonly (readonly Feature[])[] = [
  ['loss', 'move', 'time'],
  ['abort', 'timeout', 'time', 'remove', 'narrow'],
  ['throttle', 'remove', 'time'],
  ['loss', 'move', 'time', 'abort', 'timeout', 'remove', 'narrow', 'throttle'],
]

describe.for([
  { releases: '3.6 to 3.8', kind: 'one' },
  { releases: '3.9', kind: 'several' },
] as const)('Watches that share paths on a server of $releases', ({ kind }) => {
  test.for(features.map((features) => ({ features, names: features.join(', ') })))(
    'ZooKeeper delivers every change, and leaves nothing behind, with $names',
    { timeout: 30_000 + SEEDS * 50 },
    async ({ features }) => {
      if (SEED !== undefined) return void (await playHistory(Number(SEED), kind, features))
      const sum = { once: 0, forGood: 0 }
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { once, forGood } = await playHistory(seed, kind, features)
        sum.once += once
        sum.forGood += forGood
      }
      // Without any event, the histories would prove nothing.
      expect(sum.once).toBeGreaterThan(SEEDS)
      expect(sum.forGood).toBeGreaterThan(SEEDS)
    },
  )
})

test.runIf(SEED === undefined)('A seed plays the same history again, and another one does not', async () => {
  const [one, again, other] = await Promise.all([7, 7, 8].map((seed) => playHistory(seed, 'one', features.at(-1)!)))
  expect(again).toEqual(one)
  expect(other!.story).not.toEqual(one!.story)
})
