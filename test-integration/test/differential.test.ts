// Programs drawn from a seed, played on the real ensemble and on the one of @zk/testing.
//
//     ZK_PROGRAMS=500 ZK_SEED=1000 pnpm test test-integration/test/differential.test.ts
//
// plays 500 of them, from seed 1000 on. A program that is told differently is shortened and printed.
import { describe, expect, inject, test } from 'vitest'
import { formatProgram, generate, play, type Program, shrink } from '../src/differential/index.ts'
import { Ensemble } from '../src/ensemble/index.ts'
import { InProcessTarget, RealTarget, run, type Target } from '../src/scenario/index.ts'

const PROGRAMS = Number(process.env['ZK_PROGRAMS'] ?? 20)
const FIRST_SEED = Number(process.env['ZK_SEED'] ?? 1)
/** For one program, on both. In ms. */
const TIME = 15_000
/** In ms. */
const TIME_TO_SHRINK = 120_000

const description = inject('ensemble')

describe.skipIf(description === undefined)('TestEnsemble', () => {
  test(
    `TestEnsemble tells what a real ensemble tells, in ${PROGRAMS} random programs`,
    async () => {
      if (description === undefined) return
      const real = new RealTarget(Ensemble.attach(description))
      const other = process.env['ZK_TARGETS'] === 'real' ? real : new InProcessTarget()
      for (let seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++) {
        const program = generate(seed)
        const difference = await compare(program, real, other)
        if (difference === undefined) continue
        const isDifferent = async (part: Program): Promise<boolean> => (await compare(part, real, other)) !== undefined
        const shortest = await shrink(program, isDifferent, TIME_TO_SHRINK)
        const { step, expected, actual } = (await compare(shortest, real, other)) ?? difference
        expect(actual, `seed ${seed}, step ${step} of\n${formatProgram(shortest)}`).toBe(expected)
      }
    },
    PROGRAMS * TIME + TIME_TO_SHRINK,
  )
})

interface Difference {
  readonly step: number
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** The first step that is told differently. */
async function compare(program: Program, real: Target, other: Target): Promise<Difference | undefined> {
  const scenario = play(program)
  const [expected, actual] = [await run(real, scenario), await run(other, scenario)]
  for (let step = 0; step < Math.max(expected.length, actual.length); step++) {
    if (expected[step] !== actual[step]) return { step, expected: expected[step], actual: actual[step] }
  }
  return undefined
}
