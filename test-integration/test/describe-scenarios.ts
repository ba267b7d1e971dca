import { describe, expect, inject, test } from 'vitest'
import { Ensemble } from '../src/ensemble/index.ts'
import { InProcessTarget, RealTarget, run, type ScenarioBody, UNFINISHED } from '../src/scenario/index.ts'

/**
 * Plays each scenario on a real ensemble and on the one of @zk/testing, which must tell the same.
 *
 * With ZK_TRANSCRIPTS=1 it prints what the real one told. With ZK_TARGETS=real it is played twice on the real one: a
 * scenario that is told differently there has left something to chance.
 */
export function describeScenarios(subject: string, scenarios: Readonly<Record<string, ScenarioBody>>): void {
  const description = inject('ensemble')
  describe.skipIf(description === undefined)(subject, () => {
    test.each(Object.entries(scenarios))('%s', async (_, scenario) => {
      if (description === undefined) return
      const real = new RealTarget(Ensemble.attach(description))
      const other = process.env['ZK_TARGETS'] === 'real' ? undefined : new InProcessTarget()
      const [expected, actual] =
        other === undefined
          ? [await run(real, scenario), await run(real, scenario)]
          : await Promise.all([run(real, scenario), run(other, scenario)])
      if (process.env['ZK_TRANSCRIPTS'] === '1') console.log(expected.join('\n---\n'))
      expect(expected.join('\n'), 'it came to no end').not.toMatch(UNFINISHED)
      const name = other?.name ?? real.name
      expect(actual, `the ${name} ensemble tells something else than the real one`).toEqual(expected)
    })
  })
}
