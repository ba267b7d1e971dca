// Servers that answer few four-letter words, as is their default.
import { expect, test } from 'vitest'
import { VirtualWorld } from '@zk/testing'
import { chapters, judge, RELEASES, scenarioGroups, VirtualTarget } from '@zk/conform/internal'

/** The clauses and scenarios that need the address of the client, at a server that answers `srvr` alone. */
async function judged(release: string) {
  const newWorld = (options: object) => new VirtualWorld({ ...options, fourLetterWords: ['srvr'] })
  const { clauses, scenarios } = await judge({
    target: new VirtualTarget({ release, newWorld }),
    oracle: () => new VirtualTarget({ release }),
    chapters: chapters.filter(({ name }) => name === 'who-am-i' || name === 'acl'),
    scenarios: scenarioGroups.map((group) => ({
      ...group,
      scenarios: new Map([...group.scenarios].filter(([title]) => /^ip permits|whoAmI/.test(title))),
    })),
    profiles: new Set(['core', 'full']),
    given: new Set(['superuser']),
    as: release,
    isAlive: async () => true,
  })
  const missed = clauses.filter(({ verdict }) => !['equal', 'untried', 'later'].includes(verdict.outcome))
  return { missed, scenarios: scenarios.map(({ outcome }) => outcome) }
}

test('a server without `cons` says the address of the client by whoAmI', async () => {
  const { missed, scenarios } = await judged(RELEASES.at(-1)!)
  expect(missed).toEqual([])
  expect(new Set(scenarios)).toEqual(new Set(['equal']))
})

test('a server with neither is not accused: what needs the address has no verdict', async () => {
  const { missed, scenarios } = await judged(RELEASES[0]!)
  expect(missed.map(({ id, verdict }) => [id, verdict.outcome])).toEqual([['acl/13', 'unfinished']])
  expect(missed[0]!.verdict).toMatchObject({
    evidence: {
      unfinished: 'the server does not say which address this process has: `cons` is not on its whitelist',
    },
  })
  expect(scenarios).toContain('unfinished')
})
