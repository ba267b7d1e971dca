import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../src/planted/plant.ts'
import { runSeeds } from '../src/runner/pool.ts'

const TIMEOUT = 60_000
const options = { recipe: 'Lock' } as const

/** Has every acquire of the client that asks for the first lock run for ever. */
const endless = { replace: 'this.#making = this.#make(onSent)', with: 'for (;;) {}' }

describe('runSeeds', () => {
  let sound: URL
  let stuck: URL

  beforeAll(async () => {
    sound = await bundle('runner/seed-worker.ts')
    stuck = await bundle('runner/seed-worker.ts', endless)
  }, TIMEOUT)

  afterAll(() => {
    for (const program of [sound, stuck]) rmSync(dirname(fileURLToPath(program)), { recursive: true })
  })

  test(
    'runSeeds plays every seed once, on several workers, and tells how far it is',
    async () => {
      const notified: number[] = []
      const onProgress = ({ histories }: { histories: number }) => notified.push(histories)
      const seeds = { from: 1, count: 50 }
      const { histories, grants, failures } = await runSeeds({ program: sound, seeds, options, workers: 2, onProgress })
      expect({ histories, failures }).toEqual({ histories: 50, failures: [] })
      expect(grants).toBeGreaterThan(50)
      expect(notified).toHaveLength(2)
      expect(notified.at(-1)).toBe(50)
    },
    TIMEOUT,
  )

  test(
    'runSeeds names a seed that comes to no end, and ends',
    async () => {
      const seeds = { from: 5, count: 2 }
      const { failures } = await runSeeds({ program: stuck, seeds, options, workers: 1, longest: 1_000 })
      expect(failures).toMatchObject([
        { seed: 5, isEndless: true, violations: [{ invariant: 'I12', what: 'seed 5 came to no end within 1 s' }] },
      ])
    },
    TIMEOUT,
  )

  test(
    'runSeeds goes on after a seed that comes to no end, if told to',
    async () => {
      const seeds = { from: 5, count: 2 }
      const pool = { program: stuck, seeds, options, workers: 1, longest: 1_000, goesOn: true }
      const { failures, histories } = await runSeeds(pool)
      expect(failures.map(({ seed }) => seed)).toEqual([5, 6])
      expect(histories).toBe(2)
    },
    TIMEOUT,
  )

  test('runSeeds rejects when a worker fails', async () => {
    const program = new URL("data:text/javascript,throw new Error('out of order')")
    const running = runSeeds({ program, seeds: { from: 1, count: 1 }, options, workers: 1 })
    await expect(running).rejects.toThrow('a worker failed at seed 1')
  })
})
