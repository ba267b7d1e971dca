// Random programs, played on the real ensemble and on the one of @zk/testing.
//
//     ZK_PROGRAMS=500 ZK_SEED=1000 pnpm test test-integration/test/differential.test.ts
//
// plays 500 of them, drawn from the seeds 1000 to 1499, and prints how many requests that were. A program with different
// transcripts is shortened and printed. With ZK_TARGETS=real the real ensemble is compared with itself: differences are up to
// chance.
import { describe, expect, test } from 'vitest'
import { formatAtoms, formatProgram, fuzz, programs, settings, VirtualTarget } from '@zk/conform/internal'
import { Ensemble } from '../src/ensemble/index.ts'
import { atRest, RealTarget } from '../src/real-target.ts'
import { shared } from './support/shared-ensemble.ts'

const isLong = process.env['ZK_PROGRAMS'] !== undefined
const PROGRAMS = Number(process.env['ZK_PROGRAMS'] ?? 15)
const SEED = Number(process.env['ZK_SEED'] ?? 1)
/** For one program, on both. In ms. */
const TIME = 15_000
/** In ms. */
const TIME_TO_SHORTEN = 120_000

describe('TestEnsemble', () => {
  test.skipIf(shared === undefined)(
    `TestEnsemble answers like a real ensemble, in ${PROGRAMS} random programs`,
    async () => {
      const { description, release } = shared!
      const ensemble = Ensemble.attach(description)
      await atRest(ensemble)
      const target = new RealTarget(ensemble)
      const { requests, differences, withoutVerdict } = await fuzz({
        target,
        oracle: process.env['ZK_TARGETS'] === 'real' ? target : new VirtualTarget({ release }),
        programs: programs({ release, superUser: settings.superUser, isHostile: true, hasTTL: true }),
        count: PROGRAMS,
        seed: SEED,
        isAlone: true,
        timeToShorten: TIME_TO_SHORTEN,
        isAlive: async () => true,
      })
      const told = differences.map(({ kind, seed, atoms, program, expected, actual }) =>
        [`${kind}  (seed ${seed}, --only ${formatAtoms(atoms)})`, formatProgram(program), expected, actual].join('\n'),
      )
      expect(told.join('\n\n')).toBe('')
      expect(withoutVerdict).toEqual([])
      if (isLong) console.log(`${PROGRAMS} programs with ${requests} requests had equal transcripts`)
    },
    PROGRAMS * TIME + 2 * TIME_TO_SHORTEN,
  )
})
