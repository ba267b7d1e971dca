import { expect, test } from 'vitest'
import {
  chapters,
  type Check,
  type Clause,
  expectedOf,
  idOf,
  isBefore,
  type Need,
  observe,
  VirtualTarget,
  type VirtualTargetOptions,
} from '@zk/conform'

const RELEASES = { '3.5': '3.5.10', '3.6': '3.6.4', '3.7': '3.7.2', '3.8': '3.8.7', '3.9': '3.9.6' } as const

for (const [line, release] of Object.entries(RELEASES)) {
  test.for(chapters.flatMap((chapter) => chapter.clauses.map((clause) => [idOf(chapter, clause), clause] as const)))(
    `%s holds for servers of ${line}`,
    async ([, clause]) => {
      if (!hasCheck(clause) || (clause.since !== undefined && isBefore(release, clause.since))) return
      const target = new VirtualTarget({ release, more: settingsFor(clause.needs) })
      const { seen, unfinished } = await target.use((stage) => observe(stage, clause.check))
      expect(unfinished).toBeUndefined()
      expect(seen).toEqual(expectedOf(clause.check, release))
    },
  )
}

function settingsFor(needs: readonly Need[] = []): VirtualTargetOptions['more'] {
  return {
    ...(needs.includes('sasl') ? { sasl: { users: { bob: 'secret' } } } : {}),
    reconfigEnabled: needs.includes('reconfig'),
    readOnlyMode: needs.includes('read-only'),
  }
}

function hasCheck(clause: Clause): clause is Clause & { readonly check: Check } {
  return 'play' in clause.check
}
