// Random programs, played on the real ensemble and on the one of @zk/testing.
//
//     ZK_PROGRAMS=500 ZK_SEED=1000 pnpm test test-integration/test/differential.test.ts
//
// plays 500 of them, from seed 1000 on, and prints how many requests that were. A program with different transcripts is
// shortened and printed. With ZK_TARGETS=real the real ensemble is compared with itself: differences are up to chance.
import { describe, expect, test } from 'vitest'
import { countOf, formatProgram, generate, play, type Program, shrink } from '../src/differential/index.ts'
import { Ensemble } from '../src/ensemble/index.ts'
import { atRest, RealTarget, run, type Target, UNFINISHED, VirtualTarget } from '../src/scenario/index.ts'
import { shared } from './support/shared-ensemble.ts'

const isLong = process.env['ZK_PROGRAMS'] !== undefined
const PROGRAMS = Number(process.env['ZK_PROGRAMS'] ?? 15)
const FIRST_SEED = Number(process.env['ZK_SEED'] ?? 1)
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
      const other = process.env['ZK_TARGETS'] === 'real' ? real : new VirtualTarget()
      let requests = 0
      for (let seed = FIRST_SEED; seed < FIRST_SEED + PROGRAMS; seed++) {
        const found = await search(seed, real, other)
        requests += countOf(generate(seed))
        if (found === undefined) continue
        const { program, step, expected, actual } = found
        expect(actual, `seed ${seed}, step ${step} of\n${formatProgram(program)}`).toBe(expected)
      }
      if (isLong) console.log(`${PROGRAMS} programs with ${requests} requests had equal transcripts`)
    },
    PROGRAMS * TIME + TIME_TO_SHRINK,
  )

  test('a planted difference is found, and its program is shortened to the necessary steps', async () => {
    const planted = new VirtualTarget(({ faults }) => {
      faults.fail({ op: 'setData', path: /\/a\/y$/, code: 'NotEmpty', times: Infinity })
    })
    let found: Difference | undefined
    for (let seed = 1; found === undefined && seed <= 10; seed++)
      found = await search(seed, new VirtualTarget(), planted)
    expect(found?.expected).toContain('setData')
    expect(found?.actual).toContain('NotEmpty')
    expect(found?.program).toMatchObject([{ do: 'open' }, { do: 'call', calls: [{ op: 'setData' }] }])
  })
})

interface Difference {
  readonly program: Program
  readonly step: number
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** The shortest program of this seed with different transcripts that was found in the time; undefined if there is none. */
async function search(seed: number, real: Target, other: Target): Promise<Difference | undefined> {
  const difference = await compare(generate(seed), real, other)
  if (difference === undefined) return undefined
  const isDifferent = async (part: Program): Promise<boolean> => (await compare(part, real, other)) !== undefined
  const shortest = await shrink(difference.program, isDifferent, TIME_TO_SHRINK)
  return (await compare(shortest, real, other)) ?? difference
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
