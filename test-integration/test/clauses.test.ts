// The clauses of the protocol, played on real servers: they do what the clauses say of their release. Each fourth clause; all
// with ZK_CLAUSES=all (`pnpm matrix`, `pnpm nightly clauses`).
import { beforeAll, expect, test } from 'vitest'
import { chapters, type Clause, expectedOf, idOf, isBefore, type Need, observe } from '@zk/conform/internal'
import { atRest, RealTarget } from '../src/real-target.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { shared } from './support/shared-ensemble.ts'

/** What the shared ensemble has. Some frames stop real servers, and other needs are settings of their own. */
const given: ReadonlySet<Need> = new Set(['ensemble', 'control', 'superuser'])

function isChosen({ number }: Clause): boolean {
  return process.env['ZK_CLAUSES'] === 'all' || number % 4 === 1
}

describeEnsemble('Real servers', (ensemble) => {
  const release = shared?.release ?? ''
  const target = new RealTarget(ensemble)

  beforeAll(() => atRest(ensemble), 60_000)

  for (const chapter of chapters) {
    const played = chapter.clauses.filter(isChosen).flatMap((clause) => {
      const { check, needs = [], since } = clause
      const isPlayed = 'play' in check && needs.every((need) => given.has(need))
      return isPlayed && (since === undefined || !isBefore(release, since))
        ? [[idOf(chapter, clause), check] as const]
        : []
    })
    test.for(played)('keep %s', async ([, check]) => {
      const { seen, unfinished } = await target.use((stage) => observe(stage, check))
      expect(unfinished).toBeUndefined()
      expect(seen).toEqual(expectedOf(check, release))
    })
  }
})
