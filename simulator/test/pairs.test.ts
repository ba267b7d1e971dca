// Two events at two moments of a short story of each recipe: a cut while the last one is being recovered from, another client's write
// between two requests of one segment, a release while an answer is lost.
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { drawnPairs, everyPair, stories, tellWith } from '../src/pairs/index.ts'
import type * as pairs from '../src/pairs/index.ts'
import { bundle } from '../src/planted/plant.ts'

/** The number of pairs for each story; `ZK_STORY_PAIRS=every` plays all of them, for hours. */
const PAIRS = process.env['ZK_STORY_PAIRS'] ?? '40'
const SEED = Number(process.env['ZK_STORY_SEED'] ?? 1)
const TIMEOUT = 120_000

describe.each(stories)('$name', (story) => {
  test(
    `${story.name} keeps its promises, whatever happens at two of its moments`,
    async () => {
      const played = PAIRS === 'every' ? everyPair(story) : await drawnPairs(story, SEED, Number(PAIRS))
      expect(await tellWith(story, undefined)).toEqual([])
      for await (const pair of played) expect(await tellWith(story, pair), JSON.stringify(pair)).toEqual([])
    },
    PAIRS === '40' ? TIMEOUT : 0,
  )
})

describe('drawnPairs', () => {
  test.each([
    ['Mirror', 'is fresh after a second cut without a comparison', 'if (settling !== this.#settling) return', ''],
    [
      'Mirror',
      'does not compare after a lost connection',
      'missed: () => this.#queue.compareAll(),',
      'missed: () => {},',
    ],
  ])(
    'drawnPairs find that a %s %s',
    async (name, _, replace, replacement) => {
      const program = await bundle('pairs/index.ts', { replace, with: replacement })
      const { stories, drawnPairs, tellWith } = (await import(program.href)) as typeof pairs
      rmSync(dirname(fileURLToPath(program)), { recursive: true })
      const story = stories.find((each) => each.name === name)!
      let found: readonly string[] = []
      for (const pair of await drawnPairs(story, 1, 500)) {
        found = await tellWith(story, pair)
        if (found.length > 0) break
      }
      expect(found.join()).toContain('a mirror is fresh')
    },
    TIMEOUT,
  )
})
