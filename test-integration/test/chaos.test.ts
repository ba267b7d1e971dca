// A short run of the chaos command; `ZK_CHAOS_SECONDS=600` makes it long.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { chaos } from '../src/chaos/chaos.ts'
import { describe, holds } from '../src/chaos/report.ts'
import { LinkedEnsemble } from '../src/links/linked-ensemble.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const SECONDS = Number(process.env['ZK_CHAOS_SECONDS'] ?? 30)
const SEED = Number(process.env['ZK_CHAOS_SEED'] ?? Date.now() % 1_000_000)

describeEnsemble('All recipes in chaos', () => {
  test(
    'Every recipe keeps its promises, no contender is stuck, and nothing is left behind',
    { timeout: SECONDS * 1_000 + 240_000 },
    async () => {
      await using linked = await LinkedEnsemble.start()
      const report = await chaos(linked, { seconds: SECONDS, seed: SEED })
      const text = `chaos for ${SECONDS} s, seed ${SEED}\n${describe(report)}`
      console.info(text)
      expect(holds(report), text).toBe(true)
      expect(new Set(report.faults).size, 'kinds of faults').toBeGreaterThan(1)
      rmSync(report.log, { recursive: true })
    },
  )
})
