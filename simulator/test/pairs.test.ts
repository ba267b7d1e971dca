// Two events at two moments of a short story of each recipe: a cut while the last one is being recovered from, another client's write
// between two requests of one segment, a release while an answer is lost.
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  abortedWhileThrottled,
  drawnPairs,
  everyPair,
  type Pair,
  stories,
  tellWith,
  whileRecovering,
} from '../src/pairs/index.ts'
import type * as pairs from '../src/pairs/index.ts'
import { bundle } from '../src/planted/plant.ts'

/** The number of pairs for each story; `ZK_STORY_PAIRS=every` plays all of them, for hours. */
const PAIRS = process.env['ZK_STORY_PAIRS'] ?? '40'
const SEED = Number(process.env['ZK_STORY_SEED'] ?? 1)
const TIMEOUT = 120_000

// Thousands of errors are made here whose stack is not needed: it takes a fifth of the time.
const { stackTraceLimit } = Error
beforeAll(() => void (Error.stackTraceLimit = 0))
afterAll(() => void (Error.stackTraceLimit = stackTraceLimit))

describe.each(stories)('$name', (story) => {
  test(
    `${story.name} keeps its promises, whatever happens at two of its moments`,
    async () => {
      const drawn = async () => [
        ...(await abortedWhileThrottled(story)),
        ...(await whileRecovering(story, SEED)),
        ...(await drawnPairs(story, SEED, Number(PAIRS))),
      ]
      const played = PAIRS === 'every' ? everyPair(story) : await drawn()
      expect(await tellWith(story, undefined)).toEqual([])
      for await (const pair of played) expect(await tellWith(story, pair), JSON.stringify(pair)).toEqual([])
    },
    PAIRS === '40' ? TIMEOUT : 0,
  )
})

const planted = {
  'Mirror is fresh after a second cut without a comparison': ['if (attempt !== this.#settleAttempt) return', ''],
  'Mirror does not compare after a lost connection': ['missed: () => this.#queue.compareAll(),', 'missed: () => {},'],
  'Lock is resumed after its release': [
    'if (!this.#isSuspended || !this.isHeld()) return',
    'if (!this.#isSuspended) return',
  ],
  'Lock that is given up leaves its node': [
    '(await this.#making?.catch(() => undefined))',
    '(await Promise.race([this.#making?.catch(() => undefined), undefined]))',
  ],
  'Semaphore queues behind what is left of its former contender': [
    'await limit.during(settled(contender.leave()))',
    '',
  ],
  'SharedLock whose downgrade is given up leaves the node of its reader': [
    'await this.#writer.delete() } finally { await this.#node.delete()',
    'await this.#node.delete() } finally { await this.#writer.delete()',
  ],
  'Semaphore.resize that is late says that its number was not sent': [
    'sending() const outcome = await this.#write(stored, permits, options)',
    'const outcome = await this.#write(stored, permits, options)',
  ],
  'Semaphore.resize resolves, and another client came first': [
    "if (outcome === 'unknown') before = version",
    "if (outcome !== 'stored') before = version",
  ],
} as const

describe('tellWith', () => {
  test.each(Object.entries(planted))(
    'tellWith finds a planted bug: %s',
    async (name, [replace, replacement]) => {
      const program = await bundle('pairs/index.ts', { replace, with: replacement })
      const { stories, ...sweep } = (await import(program.href)) as typeof pairs
      rmSync(dirname(fileURLToPath(program)), { recursive: true })
      const story = stories.find((each) => each.name === name.split(' ')[0])!
      const drawn: readonly Pair[] = [
        ...(await sweep.abortedWhileThrottled(story)),
        ...(await sweep.whileRecovering(story, 1)),
        ...(await sweep.drawnPairs(story, 1, 200)),
      ]
      let found: readonly string[] = []
      for (const pair of drawn) if (found.length === 0) found = await sweep.tellWith(story, pair)
      expect(found).not.toEqual([])
    },
    TIMEOUT,
  )
})
