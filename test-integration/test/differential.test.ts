// Random programs, played on the real ensemble and on the one of @zk/testing.
//
//     ZK_PROGRAMS=500 ZK_SEED=1000 pnpm test test-integration/test/differential.test.ts
//
// plays 500 of them, drawn from seed 1000, and prints how many requests that were. A program with different transcripts is
// shortened and printed. With ZK_TARGETS=real the real ensemble is compared with itself: differences are up to chance.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countOf, formatProgram, play, type Program, programs } from '../src/differential/index.ts'
import { Ensemble } from '../src/ensemble/index.ts'
import { run, type Target, UNFINISHED, VirtualTarget } from '@zk/conform/internal'
import { atRest, RealTarget } from '../src/real-target.ts'
import { shared } from './support/shared-ensemble.ts'

const isLong = process.env['ZK_PROGRAMS'] !== undefined
const PROGRAMS = Number(process.env['ZK_PROGRAMS'] ?? 15)
const SEED = Number(process.env['ZK_SEED'] ?? 1)
/** For one program, on both. In ms. */
const TIME = 15_000
/** In ms. */
const TIME_TO_SHRINK = 120_000

const description = shared?.description

describe('TestEnsemble', () => {
  test.skipIf(description === undefined)(
    `TestEnsemble answers like a real ensemble, in ${PROGRAMS} random programs`,
    async () => {
      if (description === undefined) return
      const ensemble = Ensemble.attach(description)
      await atRest(ensemble)
      const real = new RealTarget(ensemble)
      const other = process.env['ZK_TARGETS'] === 'real' ? real : new VirtualTarget({ release: shared?.release })
      let requests = 0
      const failure = await search(programs(), PROGRAMS, real, other, (program) => (requests += countOf(program)))
      expect(failure, failure && formatProgram(failure.program)).toBeUndefined()
      if (isLong) console.log(`${PROGRAMS} programs with ${requests} requests had equal transcripts`)
    },
    PROGRAMS * TIME + 2 * TIME_TO_SHRINK,
  )

  test('a planted difference is found, and its program is shortened to the necessary steps', async () => {
    const planted = new VirtualTarget({
      prepare: ({ faults }) => faults.fail({ op: 'setData', path: /\/a\/y$/, code: 'NotEmpty', times: Infinity }),
    })
    const found = await search(programs(40), 30, new VirtualTarget(), planted)
    expect(found?.expected).toContain('setData')
    expect(found?.actual).toContain('NotEmpty')
    expect(found?.program).toMatchObject([{ do: 'open' }, { do: 'call' }, { do: 'call', calls: [{ op: 'setData' }] }])
  })
})

interface Difference {
  readonly program: Program
  readonly step: number
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** The shortest program found in time whose transcripts differ; undefined if no program differs. */
async function search(
  drawn: fc.Arbitrary<Program>,
  numRuns: number,
  real: Target,
  other: Target,
  onPlayed: (program: Program) => void = () => {},
): Promise<Difference | undefined> {
  let last: Difference | undefined
  const isEqual = fc.asyncProperty(drawn, async (program) => {
    const difference = await compare(program, real, other)
    if (difference === undefined) return onPlayed(program)
    last = difference
    throw new Error(`step ${difference.step} differs`)
  })
  await fc.check(isEqual, { seed: SEED, numRuns, interruptAfterTimeLimit: numRuns * TIME + TIME_TO_SHRINK })
  return last
}

/** Plays it on both, and cuts it off behind the first step that differs. */
async function compare(program: Program, real: Target, other: Target): Promise<Difference | undefined> {
  const scenario = play(program)
  const [expected, actual] =
    real === other
      ? [await run(real, scenario), await run(other, scenario)]
      : await Promise.all([run(real, scenario), run(other, scenario)])
  for (let step = 0; step < Math.max(expected.length, actual.length); step++) {
    if (expected[step] === actual[step]) continue
    return { program: program.slice(0, step + 1), step, expected: expected[step], actual: actual[step] }
  }
  const last = actual.at(-1) ?? ''
  return UNFINISHED.test(last) ? { program, step: actual.length - 1, expected: 'an end', actual: last } : undefined
}
